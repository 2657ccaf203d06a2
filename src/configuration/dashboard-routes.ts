import { z } from "zod";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { ManagedQuery, ManagedRecord } from "./schema.ts";

export const configDashboardRoutes = createRouter("/configuration").get(
  ...defineEndpoint("/records", {
    name: "listManagedRecords",
    access: "read",
    limited: "filtered",
    long: true,
    summary: "List the records that configurations manage, and their drift",
    query: ManagedQuery,
    data: z.array(ManagedRecord),
    handle: async ({ scope, query }) => {
      const { listManagedRecords } = await import("./managed-service.ts");
      return listManagedRecords(scope, query);
    },
  }),
);
