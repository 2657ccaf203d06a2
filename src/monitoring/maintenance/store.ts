/** Reads and writes maintenance windows, their monitors and groups, and the marks of running occurrences. */
import { computeOffset } from "../../core/paging.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import { findPastFields } from "../../events/past-store.ts";
import { canSeeGroup, limitToGroups, selectVisibleMonitors } from "../../database/group-limit.ts";
import { replaceLinks, type Tenant } from "../../database/rows.ts";
import {
  createInsert,
  guardCondition,
  type Parameter,
  type Statement,
  type Store,
  createUpdate,
} from "../../database/store.ts";
import {
  maintenanceGroups,
  maintenanceMonitors,
  maintenanceWindows,
} from "../../database/tables/monitoring.ts";
import { computeSituation, type Times } from "./rules.ts";
import type { MaintenanceQuery, MaintenanceWindow } from "./schema.ts";

/** A stored window, without the fields that depend on the time. */
export type StoredWindow = Omit<MaintenanceWindow, "state" | "current" | "next"> & {
  organizationId: string;
  version: number;
};

type Flag = "countsUptime" | "public" | "progressNotices";

type Row = Omit<StoredWindow, Flag | "monitorIds" | "groupIds"> &
  Record<Flag, 0 | 1> & {
    monitorIds: string;
    groupIds: string;
  };

const buildIdsSql = (table: string, column: string) => `(
  select json_group_array(${column} order by position) from ${table} linked
  where linked.organization_id = w.organization_id and linked.window_id = w.id)`;

const windowsSql = `select w.organization_id as organizationId, w.id, w.title, w.description,
    w.starts_at as startsAt, w.ends_at as endsAt, w.time_zone as timeZone, w.rrule,
    w.counts_uptime as countsUptime, w.public, w.reminder_hours as reminderHours,
    w.progress_notices as progressNotices, w.version,
    w.created_at as createdAt, w.updated_at as updatedAt,
    ${buildIdsSql("maintenance_monitors", "monitor_id")} as monitorIds,
    ${buildIdsSql("maintenance_groups", "group_id")} as groupIds
  from maintenance_windows w`;

async function selectWindows(store: Store, condition: string, parameters: readonly Parameter[]) {
  const rows = await store.query<Row>(`${windowsSql} where ${condition}`, parameters);
  return rows.map((row) => ({
    ...row,
    countsUptime: row.countsUptime === 1,
    public: row.public === 1,
    progressNotices: row.progressNotices === 1,
    monitorIds: JSON.parse(row.monitorIds) as string[],
    groupIds: JSON.parse(row.groupIds) as string[],
  }));
}

export async function findWindow(tenant: Tenant, id: string) {
  const { store, organizationId } = tenant;
  const found = await selectWindows(store, "w.organization_id = ? and w.id = ?", [
    organizationId,
    id,
  ]);
  const [window] = await hideMembers(tenant, found);
  return window ?? null;
}

/** Reads the times of a deleted window that can still be restored. */
export async function findDeletedWindow(
  store: Store,
  organizationId: string,
  id: string,
): Promise<(Times & { public: boolean }) | null> {
  const [row] = await store.query<Times & { public: 0 | 1 }>(
    `select content ->> 'starts_at' as startsAt, content ->> 'ends_at' as endsAt,
       content ->> 'time_zone' as timeZone, content ->> 'rrule' as rrule, content ->> 'public' as public
     from deleted_rows
     where organization_id = ? and record_id = ? and table_name = 'maintenance_windows'`,
    [organizationId, id],
  );
  return row === undefined ? null : { ...row, public: row.public === 1 };
}

/**
 * Removes the monitors and groups that a limited caller can't see. Without any left, the window does not exist for
 * them.
 */
async function hideMembers(tenant: Tenant, all: StoredWindow[]): Promise<StoredWindow[]> {
  if (tenant.groupIds == null) return all;
  const ids = new Set(all.flatMap(({ monitorIds }) => monitorIds));
  const visibleIds = new Set(await selectVisibleMonitors(tenant, [...ids]));
  return all.flatMap((window) => {
    const monitorIds = window.monitorIds.filter((id) => visibleIds.has(id));
    const groupIds = window.groupIds.filter((id) => canSeeGroup(tenant, id));
    const count = monitorIds.length + groupIds.length;
    if (count === 0) return [];
    const partial = count < window.monitorIds.length + window.groupIds.length ? true : undefined;
    return [{ ...window, monitorIds, groupIds, partial }];
  });
}

/** Lists all windows of the organization, oldest first. */
export async function listAllWindows(tenant: Tenant) {
  const { store, organizationId } = tenant;
  const all = await selectWindows(store, "w.organization_id = ? order by w.id", [organizationId]);
  return hideMembers(tenant, all);
}

const appliesToMonitorSql = `(
  exists (select 1 from maintenance_monitors linked where linked.organization_id = w.organization_id
    and linked.window_id = w.id and linked.monitor_id = ?)
  or exists (select 1 from monitors m join maintenance_groups linked
    on linked.organization_id = m.organization_id and linked.group_id = m.group_id
    where m.organization_id = w.organization_id and m.id = ? and linked.window_id = w.id))`;

/** SQL condition that a window is visible: a monitor or group of it is. */
function limitWindows(tenant: Tenant) {
  const [monitor, group] = [limitToGroups(tenant), limitToGroups(tenant, "linked.group_id")];
  if (monitor.text === "") return monitor;
  return {
    text: ` and (exists (select 1 from maintenance_monitors linked
        join monitors m on m.organization_id = linked.organization_id and m.id = linked.monitor_id
        where linked.organization_id = w.organization_id and linked.window_id = w.id${monitor.text})
      or exists (select 1 from maintenance_groups linked
        where linked.organization_id = w.organization_id and linked.window_id = w.id${group.text}))`,
    parameters: [...monitor.parameters, ...group.parameters],
  };
}

/** Returns one page of an organization's windows, newest first, and the total. */
export async function listWindowPage(
  tenant: Tenant,
  query: MaintenanceQuery,
  now: number,
): Promise<{ windows: StoredWindow[]; total: number }> {
  const { store, organizationId } = tenant;
  const { state, monitorId } = query;
  if (monitorId !== undefined && (await selectVisibleMonitors(tenant, [monitorId])).length === 0)
    return { windows: [], total: 0 };
  const limit = limitWindows(tenant);
  const where = `w.organization_id = ?${monitorId === undefined ? "" : ` and ${appliesToMonitorSql}`}${limit.text}`;
  const parameters = [
    organizationId,
    ...(monitorId === undefined ? [] : [monitorId, monitorId]),
    ...limit.parameters,
  ];
  const times = await store.query<Times & { id: string }>(
    `select id, starts_at as startsAt, ends_at as endsAt, time_zone as timeZone, rrule
     from maintenance_windows w where ${where} order by id desc`,
    parameters,
  );
  const states =
    state === undefined ? [] : await mapYielding(times, (one) => computeSituation(one, now).state);
  const found = state === undefined ? times : times.filter((_, index) => states[index] === state);
  const ids = found
    .slice(computeOffset(query), computeOffset(query) + query.per_page)
    .map(({ id }) => id);
  const windowsOfPage = await selectWindows(
    store,
    "w.organization_id = ? and w.id in (select value from json_each(?)) order by w.id desc",
    [organizationId, JSON.stringify(ids)],
  );
  return { windows: await hideMembers(tenant, windowsOfPage), total: found.length };
}

/** Lists public windows. Omits windows without a rule that ended by `endedBefore`, RFC 3339. */
export function listPublicWindows(store: Store, organizationId: string, endedBefore: string) {
  return selectWindows(
    store,
    `w.organization_id = ? and w.public and (w.rrule is not null or w.ends_at > ?)
     order by w.starts_at, w.id`,
    [organizationId, endedBefore],
  );
}

const changingFields = [
  "public",
  "startsAt",
  "endsAt",
  "timeZone",
  "rrule",
  "monitorIds",
  "groupIds",
] as const satisfies (keyof StoredWindow)[];

/** Returns public windows as they were at a time, with the texts of today. Leaves out those that were not public then. */
export async function rewindWindows(
  tenant: Tenant,
  windows: readonly StoredWindow[],
  at: number,
): Promise<StoredWindow[]> {
  const existing = windows.filter(({ createdAt }) => Date.parse(createdAt) <= at);
  const ids = existing.map(({ id }) => id);
  const fieldsOf = await findPastFields(tenant, ids, changingFields, at);
  return existing
    .map((window) => ({ ...window, ...fieldsOf.get(window.id) }))
    .filter((window) => window.public);
}

export const insertWindow = createInsert(maintenanceWindows);
const updateWindow = createUpdate(maintenanceWindows, [
  "title",
  "description",
  "startsAt",
  "endsAt",
  "timeZone",
  "rrule",
  "countsUptime",
  "public",
  "reminderHours",
  "progressNotices",
  "version",
  "updatedAt",
]);

export function changeWindow(window: StoredWindow): Statement {
  return updateWindow(window.organizationId, window);
}

/** Replaces the monitors and groups of a window. An absent list stays unchanged. */
export function replaceMembers(
  { store, organizationId }: Tenant,
  windowId: string,
  { monitorIds, groupIds }: { monitorIds?: readonly string[]; groupIds?: readonly string[] },
): Statement[] {
  const owner = { organizationId, windowId };
  return [
    ...(monitorIds ? replaceLinks(store, maintenanceMonitors, owner, "monitorId", monitorIds) : []),
    ...(groupIds ? replaceLinks(store, maintenanceGroups, owner, "groupId", groupIds) : []),
  ];
}

/** Lists windows that are not over or whose end has no event yet, of one organization or of all. */
export function listPlannedWindows(
  store: Store,
  now: string,
  organizationId: string | null = null,
) {
  const marked = `exists (select 1 from followers f where f.name = '${markPrefix}' || w.organization_id || ' ' || w.id)`;
  return selectWindows(
    store,
    `(w.rrule is not null or w.ends_at > ? or ${marked})${
      organizationId === null ? "" : " and w.organization_id = ?"
    }`,
    [now, ...(organizationId === null ? [] : [organizationId])],
  );
}

/** Returns the starts for which reminders were sent, by window. */
export async function findRemindedStarts(store: Store, organizationId: string) {
  const rows = await store.query<{ id: string; start: number }>(
    `select id, reminded_for as start from maintenance_windows
     where organization_id = ? and reminded_for is not null`,
    [organizationId],
  );
  return new Map(rows.map(({ id, start }) => [id, start]));
}

/** Statements that mark an occurrence as reminded, unless it is, or the window was changed. */
export function markReminded(
  { organizationId, id, version }: StoredWindow,
  start: number,
): Statement[] {
  return [
    guardCondition(
      `exists (select 1 from maintenance_windows
  where organization_id = ? and id = ? and version = ? and reminded_for is not ?)`,
      [organizationId, id, version, start],
    ),
    {
      text: "update maintenance_windows set reminded_for = ? where organization_id = ? and id = ?",
      parameters: [start, organizationId, id],
    },
  ];
}

/**
 * Maps monitors to their group, if it is among `groupIds`. Without `monitorIds`, includes all monitors of the
 * organization.
 */
export async function findGroupsOfMonitors(
  store: Store,
  organizationId: string,
  groupIds: readonly string[],
  monitorIds: readonly string[] | null = null,
): Promise<Map<string, string>> {
  const rows = await store.query<{ id: string; groupId: string }>(
    `select id, group_id as groupId from monitors where organization_id = ?
       and group_id in (select value from json_each(?))${
         monitorIds === null ? "" : " and id in (select value from json_each(?))"
       }`,
    [
      organizationId,
      JSON.stringify(groupIds),
      ...(monitorIds === null ? [] : [JSON.stringify(monitorIds)]),
    ],
  );
  return new Map(rows.map(({ id, groupId }) => [id, groupId]));
}

/** Lists monitors that were in maintenance at their last check. */
export function listMaintainedMonitors(store: Store) {
  return store.query<{ organizationId: string; id: string }>(
    `select organization_id as organizationId, monitor_id as id from monitor_states
     where status = 'maintenance'`,
    [],
  );
}

const markPrefix = "maintenance ";

/** A mark of a running occurrence: its start has an event, its end has none yet. Stored as a row of `followers`. */
export type OccurrenceMark = { organizationId: string; windowId: string; start: number };

export async function findMarks(store: Store): Promise<OccurrenceMark[]> {
  const rows = await store.query<{ name: string; start: number }>(
    `select name, seq as start from followers where name like '${markPrefix}%'`,
    [],
  );
  return rows.map(({ name, start }) => {
    const [, organizationId = "", windowId = ""] = name.split(" ");
    return { organizationId, windowId, start };
  });
}

const buildMarkName = ({ organizationId, windowId }: OccurrenceMark) =>
  `${markPrefix}${organizationId} ${windowId}`;

/** Fails the write unless the window has exactly this mark, or, if `isSet` is false, unless it has no mark. */
export function guardMarked(mark: OccurrenceMark, isSet: boolean): Statement {
  const name = buildMarkName(mark);
  return isSet
    ? guardCondition("exists (select 1 from followers where name = ? and seq = ?)", [
        name,
        mark.start,
      ])
    : guardCondition("not exists (select 1 from followers where name = ?)", [name]);
}

export function setMark(mark: OccurrenceMark): Statement {
  return {
    text: "insert into followers (name, seq, version) values (?, ?, 1)",
    parameters: [buildMarkName(mark), mark.start],
  };
}

export function clearMark(mark: OccurrenceMark): Statement {
  return { text: "delete from followers where name = ?", parameters: [buildMarkName(mark)] };
}
