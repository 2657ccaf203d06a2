import { Elysia } from "elysia";
import { dataOf, Deleted, deleted, pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import {
  MaintenanceQuery,
  MaintenanceWindow,
  MaintenanceWindowPatch,
  NewMaintenanceWindow,
} from "./schema.ts";
import { createWindow, deleteWindow, getWindow, listWindows, updateWindow } from "./service.ts";

export const maintenanceRoutes = new Elysia({ prefix: "/api/v1/maintenance-windows" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listMaintenanceWindows",
        access: "read",
        summary: "List maintenance windows",
        description: "Newest first.",
        query: MaintenanceQuery,
        response: pageOf(MaintenanceWindow),
      },
      ({ scope, query }) => listWindows(scope, query),
    ),
  )
  .post(
    ...endpoint(
      "/",
      {
        name: "createMaintenanceWindow",
        access: "write",
        summary: "Plan maintenance",
        description:
          "While the window holds, its monitors are in the state `maintenance` and nobody is alerted about them. Whoever is down at its end is told of then.",
        body: NewMaintenanceWindow,
        response: dataOf(MaintenanceWindow),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await createWindow(scope, body) }),
    ),
  )
  .get(
    ...endpoint(
      "/:id",
      {
        name: "getMaintenanceWindow",
        access: "read",
        summary: "Get a maintenance window",
        response: dataOf(MaintenanceWindow),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, params }) => ({ data: await getWindow(scope, params.id) }),
    ),
  )
  .patch(
    ...endpoint(
      "/:id",
      {
        name: "updateMaintenanceWindow",
        access: "write",
        summary: "Change a maintenance window",
        description:
          "Absent fields keep their value. `monitorIds` and `groupIds` are complete lists. What it changes about an occurrence under way holds at once.",
        body: MaintenanceWindowPatch,
        response: dataOf(MaintenanceWindow),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, params, body }) => ({ data: await updateWindow(scope, params.id, body) }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "deleteMaintenanceWindow",
        access: "write",
        summary: "Delete a maintenance window",
        description: "Where it holds, it ends at once.",
        response: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, params }) => {
        await deleteWindow(scope, params.id);
        return deleted;
      },
    ),
  );
