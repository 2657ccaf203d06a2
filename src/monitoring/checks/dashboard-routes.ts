import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { MonitorPatch, NewMonitor } from "../monitors/schema.ts";
import { previewMonitorPatch } from "../monitors/service.ts";
import { TestCheck } from "./schema.ts";
import { type CheckOnDemand, timeoutSeconds, tryMonitor } from "./service.ts";

/** Routes that try a monitor before it is saved: “Test now”. */
export const checkDashboardRoutes = ({ tryCheck }: Pick<CheckOnDemand, "tryCheck">) =>
  createRouter("/monitors")
    .post(
      ...defineEndpoint("/try", {
        name: "tryMonitor",
        access: "write",
        limited: "unrelated",
        timeoutSeconds,
        summary: "Check an unsaved monitor",
        body: NewMonitor,
        data: TestCheck,
        handle: ({ scope, body }) => tryMonitor(scope, tryCheck, body),
      }),
    )
    .post(
      ...defineEndpoint("/:id/try", {
        name: "tryChangedMonitor",
        access: "write",
        limited: "monitor",
        timeoutSeconds,
        summary: "Check a monitor with unsaved changes and its stored secrets",
        body: MonitorPatch,
        data: TestCheck,
        handle: async ({ scope, params, body }) =>
          tryMonitor(scope, tryCheck, await previewMonitorPatch(scope, params.id, body)),
      }),
    );
