import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { GroupOrder, MonitorGroup } from "./schema.ts";
import { muteGroup, pauseGroup, reorderGroups, resumeGroup, unmuteGroup } from "./service.ts";

/** A verb that takes no body and answers the group. */
const groupAction = (name: string, summary: string) =>
  ({
    name,
    access: "write",
    summary,
    answer: dataOf(MonitorGroup),
    errors: ["NOT_FOUND"],
  }) as const;

/** What only the admin page does to groups. */
export const groupDashboardRoutes = new Elysia({ prefix: "/monitor-groups" })
  .put(
    "/order",
    ...endpoint(
      {
        name: "reorderMonitorGroups",
        access: "write",
        summary: "Set the dashboard order",
        body: GroupOrder,
        answer: dataOf(GroupOrder),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await reorderGroups(scope, body) }),
    ),
  )
  .post(
    "/:id/pause",
    ...endpoint(groupAction("pauseMonitorGroup", "Pause a group"), async ({ scope, id }) => ({
      data: await pauseGroup(scope, id),
    })),
  )
  .post(
    "/:id/resume",
    ...endpoint(groupAction("resumeMonitorGroup", "Resume a group"), async ({ scope, id }) => ({
      data: await resumeGroup(scope, id),
    })),
  )
  .post(
    "/:id/mute",
    ...endpoint(groupAction("muteMonitorGroup", "Mute a group"), async ({ scope, id }) => ({
      data: await muteGroup(scope, id),
    })),
  )
  .post(
    "/:id/unmute",
    ...endpoint(groupAction("unmuteMonitorGroup", "Unmute a group"), async ({ scope, id }) => ({
      data: await unmuteGroup(scope, id),
    })),
  );
