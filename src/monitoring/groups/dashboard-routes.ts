import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { GroupOrder, MonitorGroup } from "./schema.ts";
import { reorderGroups, switchGroup } from "./service.ts";

/** Options of an action without a body that returns the group. */
const groupAction = (name: string, summary: string) =>
  ({ name, access: "write", summary, data: MonitorGroup }) as const;

/** Routes for groups that only the admin page uses. */
export const groupDashboardRoutes = routesUnder("/monitor-groups")
  .put(
    ...endpoint("/order", {
      name: "reorderMonitorGroups",
      access: "write",
      summary: "Set the dashboard order",
      body: GroupOrder,
      data: GroupOrder,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => reorderGroups(scope, body),
    }),
  )
  .post(
    ...endpoint("/:id/pause", {
      ...groupAction("pauseMonitorGroup", "Pause a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.paused"),
    }),
  )
  .post(
    ...endpoint("/:id/resume", {
      ...groupAction("resumeMonitorGroup", "Resume a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.resumed"),
    }),
  )
  .post(
    ...endpoint("/:id/mute", {
      ...groupAction("muteMonitorGroup", "Mute a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.muted"),
    }),
  )
  .post(
    ...endpoint("/:id/unmute", {
      ...groupAction("unmuteMonitorGroup", "Unmute a group"),
      handle: ({ scope, params }) => switchGroup(scope, params.id, "group.unmuted"),
    }),
  );
