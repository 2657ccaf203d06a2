/** REST routes of maintenance windows. */
import { Deleted, pageSchema } from "../../core/paging.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  MaintenanceQuery,
  MaintenanceWindow,
  MaintenanceWindowPatch,
  NewMaintenanceWindow,
} from "./schema.ts";
import { createWindow, deleteWindow, getWindow, listWindows, updateWindow } from "./service.ts";

export const maintenanceRoutes = createRouter("/api/v1/maintenance-windows")
  .get(
    ...defineEndpoint("/", {
      name: "listMaintenanceWindows",
      access: "read",
      limited: "filtered",
      summary: "List maintenance windows",
      description: "Newest first.",
      query: MaintenanceQuery,
      response: pageSchema(MaintenanceWindow),
      handle: ({ scope, query }) => listWindows(scope, query),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createMaintenanceWindow",
      access: "write",
      limited: "filtered",
      summary: "Schedule maintenance",
      description:
        "During the window its monitors are in the state `maintenance` and send no alerts. Monitors that are still down at its end are alerted then.",
      query: HoldQuery,
      body: NewMaintenanceWindow,
      data: MaintenanceWindow,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createWindow(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getMaintenanceWindow",
      access: "read",
      limited: "maintenance-window",
      summary: "Get a maintenance window",
      data: MaintenanceWindow,
      handle: ({ scope, params }) => getWindow(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateMaintenanceWindow",
      access: "write",
      limited: "maintenance-window",
      summary: "Change a maintenance window",
      description:
        "Absent fields keep their value. `monitorIds` and `groupIds` are complete lists. Changes of the current occurrence apply at once.",
      query: HoldQuery,
      body: MaintenanceWindowPatch,
      data: MaintenanceWindow,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateWindow(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteMaintenanceWindow",
      access: "write",
      limited: "maintenance-window",
      summary: "Delete a maintenance window",
      description:
        "A window in progress ends at once. Subscribers of status pages who were notified of a public window hear that it is cancelled.",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteWindow(scope, params.id),
    }),
  );
