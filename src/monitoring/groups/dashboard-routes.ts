import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { GroupOrder, MonitorGroup } from "./schema.ts";
import { muteGroup, pauseGroup, reorderGroups, resumeGroup, unmuteGroup } from "./service.ts";

/** A verb that takes no body and answers the group. */
const groupAction = (name: string, summary: string) =>
  ({
    name,
    access: "write",
    summary,
    response: dataOf(MonitorGroup),
    errors: ["NOT_FOUND"],
  }) as const;

/** What only the admin page does to groups. */
export const groupDashboardRoutes = new Elysia({ prefix: "/monitor-groups" })
  .use(requestContext)
  .put(
    ...endpoint(
      "/order",
      {
        name: "reorderMonitorGroups",
        access: "write",
        summary: "Set the dashboard order",
        body: GroupOrder,
        response: dataOf(GroupOrder),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await reorderGroups(scope, body) }),
    ),
  )
  .post(
    ...endpoint(
      "/:id/pause",
      groupAction("pauseMonitorGroup", "Pause a group"),
      async ({ scope, params }) => ({
        data: await pauseGroup(scope, params.id),
      }),
    ),
  )
  .post(
    ...endpoint(
      "/:id/resume",
      groupAction("resumeMonitorGroup", "Resume a group"),
      async ({ scope, params }) => ({
        data: await resumeGroup(scope, params.id),
      }),
    ),
  )
  .post(
    ...endpoint(
      "/:id/mute",
      groupAction("muteMonitorGroup", "Mute a group"),
      async ({ scope, params }) => ({
        data: await muteGroup(scope, params.id),
      }),
    ),
  )
  .post(
    ...endpoint(
      "/:id/unmute",
      groupAction("unmuteMonitorGroup", "Unmute a group"),
      async ({ scope, params }) => ({
        data: await unmuteGroup(scope, params.id),
      }),
    ),
  );
