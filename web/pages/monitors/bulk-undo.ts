import type { z } from "zod";
import type { ChangeOfMany } from "../../../src/monitoring/monitors/schema.ts";
import type { OverviewMonitor } from "../../data/overview.ts";

export type BulkChange = z.input<typeof ChangeOfMany>;
export type ManyMonitors = { monitorIds: string[]; change: BulkChange };

type ChangedMonitor = Pick<OverviewMonitor, "id"> &
  Partial<Pick<OverviewMonitor, "paused" | "muted" | "tags">>;

/**
 * Computes the changes that undo a bulk change, only for monitors that it affected. Group changes
 * are undone separately. `users` has the monitors of each channel in the change.
 */
export function buildReverse(
  monitors: readonly ChangedMonitor[],
  change: BulkChange,
  users: ReadonlyMap<string, ReadonlySet<string>>,
): ManyMonitors[] {
  const { paused, muted, addTags = [], removeTags = [] } = change;
  const { addAlertChannelIds = [], removeAlertChannelIds = [] } = change;
  const back: ManyMonitors[] = [];
  const addReverse = (isChanged: (monitor: ChangedMonitor) => boolean, change: BulkChange) => {
    const monitorIds = monitors.filter(isChanged).map(({ id }) => id);
    if (monitorIds.length > 0) back.push({ monitorIds, change });
  };
  if (paused !== undefined) addReverse((one) => one.paused !== paused, { paused: !paused });
  if (muted !== undefined) addReverse((one) => one.muted !== muted, { muted: !muted });
  for (const tag of addTags) addReverse((one) => !one.tags?.includes(tag), { removeTags: [tag] });
  for (const tag of removeTags)
    addReverse((one) => one.tags?.includes(tag) === true, { addTags: [tag] });
  for (const id of addAlertChannelIds)
    addReverse((one) => users.get(id)?.has(one.id) === false, { removeAlertChannelIds: [id] });
  for (const id of removeAlertChannelIds)
    addReverse((one) => users.get(id)?.has(one.id) === true, { addAlertChannelIds: [id] });
  return back;
}

/** Whether a change can alert further channels to a problem that already exists. */
export const canAlert = (
  monitors: readonly Pick<OverviewMonitor, "status">[],
  change: BulkChange,
) =>
  monitors.some(({ status }) => status === "down" || status === "degraded") &&
  (change.muted === false ||
    change.groupId !== undefined ||
    change.addAlertChannelIds !== undefined);
