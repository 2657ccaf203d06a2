import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { GroupOrder, MonitorGroup } from "./schema.ts";
import { reorderGroups, switchGroup } from "./service.ts";

/** Options of an action without a body that returns the group. */
const describeGroupAction = (name: string, summary: string) =>
  ({ name, access: "write", limited: "group", summary, data: MonitorGroup }) as const;

/** Routes for groups that only the admin page uses. */
export const groupDashboardRoutes = createRouter("/monitor-groups")
  .put(
    ...defineEndpoint("/order", {
      name: "reorderMonitorGroups",
      access: "write",
      limited: "denied",
      summary: "Set the dashboard order",
      body: GroupOrder,
      data: GroupOrder,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => reorderGroups(scope, body),
    }),
  )
  .post(
    ...defineEndpoint("/:id/pause", {
      ...describeGroupAction("pauseMonitorGroup", "Pause a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.paused"),
    }),
  )
  .post(
    ...defineEndpoint("/:id/resume", {
      ...describeGroupAction("resumeMonitorGroup", "Resume a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.resumed"),
    }),
  )
  .post(
    ...defineEndpoint("/:id/mute", {
      ...describeGroupAction("muteMonitorGroup", "Mute a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.muted"),
    }),
  )
  .post(
    ...defineEndpoint("/:id/unmute", {
      ...describeGroupAction("unmuteMonitorGroup", "Unmute a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.unmuted"),
    }),
  );
