import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { MonitorGroup, MonitorGroupPatch, NewMonitorGroup } from "./schema.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "./service.ts";

export const monitorGroupRoutes = new Elysia({ prefix: "/api/v1/monitor-groups" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listMonitorGroups",
        access: "read",
        cached: true,
        summary: "List all monitor groups",
        description: "Every group in dashboard order, each with the ids of its monitors.",
        response: dataOf(z.array(MonitorGroup)),
      },
      async ({ scope }) => ({ data: await listGroups(scope) }),
    ),
  )
  .post(
    ...endpoint(
      "/",
      {
        name: "createMonitorGroup",
        access: "write",
        summary: "Create a monitor group",
        body: NewMonitorGroup,
        response: dataOf(MonitorGroup),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await createGroup(scope, body) }),
    ),
  )
  .get(
    ...endpoint(
      "/:id",
      {
        name: "getMonitorGroup",
        access: "read",
        cached: true,
        summary: "Get a monitor group",
        response: dataOf(MonitorGroup),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, params }) => ({ data: await getGroup(scope, params.id) }),
    ),
  )
  .patch(
    ...endpoint(
      "/:id",
      {
        name: "updateMonitorGroup",
        access: "write",
        summary: "Update a monitor group",
        description:
          "Absent fields keep their value. `monitorIds` is the complete membership; an empty list empties the group.",
        body: MonitorGroupPatch,
        response: dataOf(MonitorGroup),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, params, body }) => ({ data: await updateGroup(scope, params.id, body) }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "deleteMonitorGroup",
        access: "write",
        summary: "Delete a monitor group",
        description:
          "Removes the group only: its monitors are kept and return to the ungrouped list.",
        response: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, params }) => {
        await deleteGroup(scope, params.id);
        return deleted;
      },
    ),
  );
