import { Elysia } from "elysia";
import { dataOf, Deleted, deleted, pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import {
  MaintenanceQuery,
  MaintenanceWindow,
  MaintenanceWindowPatch,
  NewMaintenanceWindow,
} from "./schema.ts";
import { createWindow, deleteWindow, getWindow, listWindows, updateWindow } from "./service.ts";

export const maintenanceRoutes = new Elysia({ prefix: "/api/v1/maintenance-windows" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listMaintenanceWindows",
        access: "read",
        summary: "List maintenance windows",
        description: "Newest first.",
        query: MaintenanceQuery,
        answer: pageOf(MaintenanceWindow),
      },
      ({ scope, query }) => listWindows(scope, query),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "createMaintenanceWindow",
        access: "write",
        summary: "Plan maintenance",
        description:
          "While the window holds, its monitors are in the state `maintenance` and nobody is alerted about them. Whoever is down at its end is told of then.",
        body: NewMaintenanceWindow,
        answer: dataOf(MaintenanceWindow),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await createWindow(scope, body) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "getMaintenanceWindow",
        access: "read",
        summary: "Get a maintenance window",
        answer: dataOf(MaintenanceWindow),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getWindow(scope, id) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "updateMaintenanceWindow",
        access: "write",
        summary: "Change a maintenance window",
        description:
          "Absent fields keep their value. `monitorIds` and `groupIds` are complete lists. What it changes about an occurrence under way holds at once.",
        body: MaintenanceWindowPatch,
        answer: dataOf(MaintenanceWindow),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, body }) => ({ data: await updateWindow(scope, id, body) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "deleteMaintenanceWindow",
        access: "write",
        summary: "Delete a maintenance window",
        description: "Where it holds, it ends at once.",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id }) => {
        await deleteWindow(scope, id);
        return deleted;
      },
    ),
  );
