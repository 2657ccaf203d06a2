import { z } from "zod";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { changeMonitorsInBulk, orderMonitors } from "./service.ts";
import { ManyMonitors, MonitorOrder } from "./schema.ts";

/** Routes for many monitors at once, which only the admin page uses. */
export const monitorDashboardRoutes = createRouter("/monitors")
  .put(
    ...defineEndpoint("/order", {
      name: "orderMonitors",
      access: "write",
      summary: "Set the order of a group's monitors, or of the ungrouped list",
      body: MonitorOrder,
      data: MonitorOrder,
      errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, body }) => orderMonitors(scope, body),
    }),
  )
  .post(
    ...defineEndpoint("/bulk", {
      name: "changeMonitors",
      access: "write",
      summary: "Change or delete many monitors, all or none",
      query: HoldQuery,
      body: ManyMonitors,
      data: z.object({ changed: z.int() }),
      errors: ["NOT_FOUND"],
      handle: ({ scope, body }) => changeMonitorsInBulk(scope, body),
    }),
  );
