import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { orderMonitors } from "./service.ts";
import { MonitorOrder } from "./schema.ts";

/** Routes for the order of monitors, which only the admin page uses. */
export const monitorDashboardRoutes = createRouter("/monitors").put(
  ...defineEndpoint("/order", {
    name: "orderMonitors",
    access: "write",
    limited: "filtered",
    summary: "Set the order of a group's monitors, or of the ungrouped list",
    body: MonitorOrder,
    data: MonitorOrder,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    handle: ({ scope, body }) => orderMonitors(scope, body),
  }),
);
