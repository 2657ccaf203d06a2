import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { CalendarQuery, MaintenanceCalendar, MaintenancePreview, PreviewQuery } from "./schema.ts";
import { buildCalendar, previewTimes } from "./service.ts";

/** Routes that list occurrences for the editor and the calendar of the admin page. */
export const maintenanceDashboardRoutes = createRouter("/maintenance-windows")
  .get(
    ...defineEndpoint("/preview", {
      name: "previewMaintenance",
      access: "read",
      limited: "unrelated",
      summary: "List the next occurrences of times that are not saved",
      query: PreviewQuery,
      data: MaintenancePreview,
      handle: ({ scope, query }) => previewTimes(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/calendar", {
      name: "getMaintenanceCalendar",
      access: "read",
      limited: "filtered",
      summary: "List all occurrences in a span of time",
      query: CalendarQuery,
      data: MaintenanceCalendar,
      handle: ({ scope, query }) => buildCalendar(scope, query),
    }),
  );
