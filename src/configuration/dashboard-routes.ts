import { z } from "zod";
import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { ManagedQuery, ManagedRecord } from "./schema.ts";

export const configDashboardRoutes = routesUnder("/configuration").get(
  ...endpoint("/records", {
    name: "listManagedRecords",
    access: "read",
    long: true,
    summary: "List the records that configurations manage, and their drift",
    query: ManagedQuery,
    data: z.array(ManagedRecord),
    handle: async ({ scope, query }) => {
      const { managedRecords } = await import("./managed-service.ts");
      return managedRecords(scope, query);
    },
  }),
);
