import { Elysia } from "elysia";
import { dataOf } from "../base/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { NewMonitor } from "../monitors/schema.ts";
import { Trial } from "./schema.ts";
import { tryMonitor } from "./service.ts";

/** “Test now”, before a monitor is saved. */
export const checkDashboardRoutes = new Elysia({ prefix: "/monitors" }).post(
  "/try",
  ...endpoint(
    {
      name: "tryMonitor",
      access: "write",
      // The longest timeout of a monitor, and some.
      takesSeconds: 75,
      summary: "Check what is no monitor yet",
      body: NewMonitor,
      answer: dataOf(Trial),
    },
    async ({ scope, body, appliance }) => ({
      data: await tryMonitor(scope, appliance.tryCheck, body),
    }),
  ),
);
