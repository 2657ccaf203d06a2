/** REST routes of monitor groups. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { MonitorGroup, MonitorGroupPatch, NewMonitorGroup } from "./schema.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "./service.ts";

export const monitorGroupRoutes = createRouter("/api/v1/monitor-groups")
  .get(
    ...defineEndpoint("/", {
      name: "listMonitorGroups",
      access: "read",
      limited: "filtered",
      cached: true,
      long: true,
      summary: "List all monitor groups",
      description: "Every group in dashboard order, each with the ids of its monitors.",
      data: z.array(MonitorGroup),
      handle: ({ scope }) => listGroups(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createMonitorGroup",
      access: "write",
      limited: "denied",
      summary: "Create a monitor group",
      body: NewMonitorGroup,
      data: MonitorGroup,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createGroup(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getMonitorGroup",
      access: "read",
      limited: "group",
      cached: true,
      summary: "Get a monitor group",
      data: MonitorGroup,
      handle: ({ scope, params }) => getGroup(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateMonitorGroup",
      access: "write",
      limited: "denied",
      summary: "Update a monitor group",
      description:
        "Absent fields keep their value. `monitorIds` is the complete membership; an empty list empties the group.",
      body: MonitorGroupPatch,
      data: MonitorGroup,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateGroup(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteMonitorGroup",
      access: "write",
      limited: "denied",
      summary: "Delete a monitor group",
      description: "Removes only the group. Its monitors return to the ungrouped list.",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteGroup(scope, params.id),
    }),
  );
