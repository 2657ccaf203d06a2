import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { MonitorGroup, MonitorGroupPatch, NewMonitorGroup } from "./schema.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "./service.ts";

export const monitorGroupRoutes = new Elysia({ prefix: "/api/v1/monitor-groups" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listMonitorGroups",
        access: "read",
        cached: true,
        summary: "List all monitor groups",
        description: "Every group in dashboard order, each with the ids of its monitors.",
        answer: dataOf(z.array(MonitorGroup)),
      },
      async ({ scope }) => ({ data: await listGroups(scope) }),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "createMonitorGroup",
        access: "write",
        summary: "Create a monitor group",
        body: NewMonitorGroup,
        answer: dataOf(MonitorGroup),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await createGroup(scope, body) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "getMonitorGroup",
        access: "read",
        cached: true,
        summary: "Get a monitor group",
        answer: dataOf(MonitorGroup),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getGroup(scope, id) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "updateMonitorGroup",
        access: "write",
        summary: "Update a monitor group",
        description:
          "Absent fields keep their value. `monitorIds` is the complete membership; an empty list empties the group.",
        body: MonitorGroupPatch,
        answer: dataOf(MonitorGroup),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, body }) => ({ data: await updateGroup(scope, id, body) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "deleteMonitorGroup",
        access: "write",
        summary: "Delete a monitor group",
        description:
          "Removes the group only: its monitors are kept and return to the ungrouped list.",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id }) => {
        await deleteGroup(scope, id);
        return deleted;
      },
    ),
  );
