import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { MonitorPatch, NewMonitor } from "../monitors/schema.ts";
import { monitorAfter } from "../monitors/service.ts";
import { TestCheck } from "./schema.ts";
import { tryMonitor } from "./service.ts";

/** The longest timeout of a monitor, and some. */
const takesSeconds = 75;

/** “Test now”, before a monitor is saved. */
export const checkDashboardRoutes = new Elysia({ prefix: "/monitors" })
  .post(
    "/try",
    ...endpoint(
      {
        name: "tryMonitor",
        access: "write",
        takesSeconds,
        summary: "Check what is no monitor yet",
        body: NewMonitor,
        answer: dataOf(TestCheck),
      },
      async ({ scope, body, appliance }) => ({
        data: await tryMonitor(scope, appliance.tryCheck, body),
      }),
    ),
  )
  .post(
    "/:id/try",
    ...endpoint(
      {
        name: "tryChangedMonitor",
        access: "write",
        takesSeconds,
        summary: "Check a monitor as a change would leave it, with the secrets that are stored",
        body: MonitorPatch,
        answer: dataOf(TestCheck),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id, body, appliance }) => ({
        data: await tryMonitor(scope, appliance.tryCheck, await monitorAfter(scope, id, body)),
      }),
    ),
  );
