/** Turns the overview into the rows of the list, and computes the order after moves. */
import {
  sumCounts,
  isPartial,
  membersOf,
  type Overview,
  type OverviewGroup,
  type OverviewMonitor,
  countStates,
  countStatesOfFolder,
} from "../../../data/overview.ts";
import type { State } from "../../../components/display/state-icon.tsx";
import { type Filters, isFiltered, isMatching } from "./filters.ts";

/** Header row of a group. `group` is null for monitors without a group. */
export type Head = {
  kind: "head";
  key: string;
  group: OverviewGroup | null;
  count: number;
  states: Partial<Record<State, number>>;
  open: boolean;
  last: boolean;
};
type Row = { kind: "row"; key: string; monitor: OverviewMonitor; last: boolean };
/** Placeholder for a row that is not loaded yet. `index` is its position in the group. */
type UnreadRow = {
  kind: "unread-row";
  key: string;
  groupId: string | null;
  index: number;
  last: boolean;
};
/** Placeholder in an expanded group without monitors. */
type EmptyGroupItem = { kind: "empty-group"; key: string; last: true };
export type Item = Head | Row | UnreadRow | EmptyGroupItem;

/**
 * Items of the list in order: header rows, and the rows of expanded groups. Filters expand all
 * groups that contain matches. If only a part of the monitors is loaded, the server has already
 * applied the filters.
 */
export function buildItems(
  overview: Overview,
  filters: Filters,
  folded: ReadonlySet<string>,
): Item[] {
  const { groups, monitors } = overview;
  const filtered = isFiltered(filters);
  const partly = isPartial(overview);
  const inFolder = new Map<string | null, OverviewMonitor[]>();
  const byId = new Map(groups.map((group) => [group.id, group]));
  for (const monitor of monitors) {
    const group = monitor.groupId === null ? undefined : byId.get(monitor.groupId);
    if (filtered && !partly && !isMatching(monitor, group, filters)) continue;
    const folder = group?.id ?? null;
    const list = inFolder.get(folder);
    if (list === undefined) inFolder.set(folder, [monitor]);
    else list.push(monitor);
  }
  const items: Item[] = [];
  for (const group of [...groups, null]) {
    const groupId = group?.id ?? null;
    const members = inFolder.get(groupId) ?? [];
    const states = partly ? countStatesOfFolder(overview, groupId) : countStates(members);
    const count = sumCounts(states);
    if (count === 0 && (filtered || group === null)) continue;
    const open = filtered || !folded.has(group?.id ?? "ungrouped");
    const key = `head ${group?.id ?? "ungrouped"}`;
    items.push({ kind: "head", key, group, count, states, open, last: !open });
    if (!open) continue;
    if (count === 0) items.push({ kind: "empty-group", key: `empty-group ${key}`, last: true });
    members.forEach((monitor, index) =>
      items.push({ kind: "row", key: monitor.id, monitor, last: index === count - 1 }),
    );
    for (let index = members.length; index < count; index++)
      items.push({
        kind: "unread-row",
        key: `unread ${key} ${index}`,
        groupId,
        index,
        last: index === count - 1,
      });
  }
  return items;
}

/** IDs of a group's monitors, in order. */
export const memberIdsOf = (overview: Overview, groupId: string | null): string[] =>
  membersOf(overview, groupId).map(({ id }) => id);

/** Moves monitors to a group, before `beforeId` or to its end. */
export function moveMonitorsTo(
  overview: Overview,
  ids: readonly string[],
  groupId: string | null,
  beforeId: string | null,
): Overview {
  const moving = new Set(ids);
  const movedMonitors = ids.flatMap((id) =>
    overview.monitors.filter((monitor) => monitor.id === id),
  );
  const order = [...overview.groups.map(({ id }) => id), null];
  const monitors: OverviewMonitor[] = [];
  for (const folder of order) {
    const otherMonitors = overview.monitors.filter(
      (one) => one.groupId === folder && !moving.has(one.id),
    );
    if (folder !== groupId) {
      monitors.push(...otherMonitors);
      continue;
    }
    const at = beforeId === null ? -1 : otherMonitors.findIndex(({ id }) => id === beforeId);
    const arrived = movedMonitors.map((one) =>
      one.groupId === groupId ? one : { ...one, groupId },
    );
    monitors.push(...otherMonitors.toSpliced(at === -1 ? otherMonitors.length : at, 0, ...arrived));
  }
  return { ...overview, monitors };
}

/** Consecutive monitors of a group, and the monitor after them. `beforeId` is null at the end. */
export type MonitorPositions = ListPosition & { ids: string[] };

/** Current positions of these monitors. */
export function listPositionsOfMonitors(
  { monitors }: Overview,
  ids: Iterable<string>,
): MonitorPositions[] {
  const moving = new Set(ids);
  const positions: MonitorPositions[] = [];
  let currentPositions: MonitorPositions | null = null;
  let before: OverviewMonitor | undefined;
  for (const monitor of monitors) {
    const { id, groupId } = monitor;
    if (before?.groupId !== groupId) currentPositions = null;
    before = monitor;
    if (moving.has(id)) {
      if (currentPositions === null)
        positions.push((currentPositions = { groupId, beforeId: null, ids: [] }));
      currentPositions.ids.push(id);
    } else if (currentPositions !== null) {
      currentPositions.beforeId = id;
      currentPositions = null;
    }
  }
  return positions;
}

/** Restores monitors to these positions. */
export const restorePositions = (
  overview: Overview,
  positions: readonly MonitorPositions[],
): Overview =>
  positions.reduce(
    (next, { ids, groupId, beforeId }) => moveMonitorsTo(next, ids, groupId, beforeId),
    overview,
  );

/** Moves a group before another one, or to the end. */
export function moveGroupTo(overview: Overview, id: string, beforeId: string | null): Overview {
  const group = overview.groups.find((one) => one.id === id);
  if (group === undefined || id === beforeId) return overview;
  const otherGroups = overview.groups.filter((one) => one.id !== id);
  const at =
    beforeId === null ? otherGroups.length : otherGroups.findIndex((one) => one.id === beforeId);
  return {
    ...overview,
    groups: otherGroups.toSpliced(at === -1 ? otherGroups.length : at, 0, group),
  };
}

export type ListPosition = { groupId: string | null; beforeId: string | null };

/** Position one step up or down, also into the adjacent group. Null at either end of the list. */
export function findNextPosition(
  overview: Overview,
  id: string,
  step: 1 | -1,
): ListPosition | null {
  const monitor = overview.monitors.find((one) => one.id === id);
  if (monitor === undefined) return null;
  const members = memberIdsOf(overview, monitor.groupId);
  const at = members.indexOf(id);
  if (step === -1 && at > 0) return { groupId: monitor.groupId, beforeId: members[at - 1] ?? null };
  if (step === 1 && at < members.length - 1)
    return { groupId: monitor.groupId, beforeId: members[at + 2] ?? null };
  const folders = [...overview.groups.map((group) => group.id), null];
  const folder = folders[folders.indexOf(monitor.groupId) + step];
  if (folder === undefined) return null;
  return {
    groupId: folder,
    beforeId: step === 1 ? (memberIdsOf(overview, folder)[0] ?? null) : null,
  };
}
