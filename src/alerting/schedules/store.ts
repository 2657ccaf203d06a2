/** Reads and writes on-call schedules, their people and their overrides. */
import { scheduleBounds } from "../../core/limits.ts";
import { formatTimestamp, dayMs, hourMs } from "../../core/time/clock.ts";
import type { SweepContext } from "../../database/backup/sweeping.ts";
import { sweepRows } from "../../database/backup/sweeping.ts";
import { buildIdTable } from "../../database/references.ts";
import { matchValues, replaceLinks, type Tenant } from "../../database/rows.ts";
import {
  createInsert,
  createUpdate,
  type Prepared,
  type Statement,
  type Store,
} from "../../database/store.ts";
import {
  scheduleNotices,
  scheduleOverrides,
  schedulePeople,
  schedules,
} from "../../database/tables/schedules.ts";
import { and, asc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import { buildNoticeKey, type ScheduleTimes } from "./rules.ts";
import type { ScheduleLayer } from "./schema.ts";

type Row = typeof schedules.$inferSelect;
export type OverrideRow = typeof scheduleOverrides.$inferSelect;

/** A stored schedule, without its overrides. */
export type StoredSchedule = Omit<Row, "layers" | "noticeDueAt"> & { layers: ScheduleLayer[] };

/** A schedule with the overrides of a span, for the rules. */
export type TimedSchedule = StoredSchedule & ScheduleTimes;

const parseRow = ({ noticeDueAt: _dueAt, ...row }: Row): StoredSchedule => ({
  ...row,
  layers: JSON.parse(row.layers) as ScheduleLayer[],
});

/** After every change, the next shifts are examined at once. */
const columnsOf = ({ layers, ...schedule }: StoredSchedule): Row => ({
  ...schedule,
  layers: JSON.stringify(layers),
  noticeDueAt: schedule.noticeHours === null ? null : Date.parse(schedule.updatedAt),
});

/** Lists all schedules of the organization by name, or those with these IDs. */
export async function listSchedules(
  { store, organizationId }: Tenant,
  ids?: readonly string[],
): Promise<StoredSchedule[]> {
  const isWanted =
    ids === undefined
      ? undefined
      : inArray(schedules.id, sql`(select value from ${buildIdTable(ids)})`);
  const rows = await store.db
    .select()
    .from(schedules)
    .where(and(matchValues(schedules, { organizationId }), isWanted))
    .orderBy(asc(schedules.name), asc(schedules.id));
  return rows.map(parseRow);
}

export async function findSchedule(tenant: Tenant, id: string): Promise<StoredSchedule | null> {
  const [found] = await listSchedules(tenant, [id]);
  return found ?? null;
}

/** Finds the schedule of a calendar address, in any organization. */
export async function findScheduleByToken(store: Store, tokenHash: string) {
  const [row] = await store.db
    .select()
    .from(schedules)
    .where(eq(schedules.calendarTokenHash, tokenHash));
  return row === undefined ? null : parseRow(row);
}

/**
 * Reads schedules with their overrides between two times, in Unix milliseconds. Without `ids`, reads all of the
 * organization. `findOnCall` can then be called for any time between them.
 */
export async function loadSchedules(
  tenant: Tenant,
  ids: readonly string[] | undefined,
  from: number,
  until: number,
): Promise<TimedSchedule[]> {
  const found = await listSchedules(tenant, ids);
  return addOverrides(tenant, found, from, until);
}

/** A schedule, and the shifts whose person was already notified, as `buildNoticeKey` names them. */
export type UpcomingShifts = { schedule: TimedSchedule; announced: ReadonlySet<string> };

const announcedSql = `select n.schedule_id as scheduleId, n.person_id as personId,
    n.starts_at as startsAt
  from json_each(?) wanted cross join schedule_notices n
    on n.organization_id = ? and n.schedule_id = wanted.value and n.starts_at > ?`;

/** Reads schedules with the overrides and notices of the shifts that can be announced. */
export async function loadUpcomingShifts(
  tenant: Tenant,
  ids: readonly string[],
  now: number,
): Promise<Map<string, UpcomingShifts>> {
  if (ids.length === 0) return new Map();
  const longest = scheduleBounds.noticeHours.value * hourMs + scheduleBounds.span.value * 1000;
  type Notice = { scheduleId: string; personId: string; startsAt: number };
  const [found, notices] = await Promise.all([
    loadSchedules(tenant, ids, now, now + longest),
    tenant.store.query<Notice>(announcedSql, [JSON.stringify(ids), tenant.organizationId, now]),
  ]);
  const bySchedule = Map.groupBy(notices, ({ scheduleId }) => scheduleId);
  return new Map(
    found.map((schedule) => [
      schedule.id,
      { schedule, announced: new Set((bySchedule.get(schedule.id) ?? []).map(buildNoticeKey)) },
    ]),
  );
}

export const insertNotice = createInsert(scheduleNotices);

export async function addOverrides<T extends { id: string; timeZone: string }>(
  tenant: Tenant,
  found: readonly T[],
  from: number,
  until: number,
) {
  const overrides = await listOverrides(
    tenant,
    found.map(({ id }) => id),
    from,
    until,
  );
  const byId = Map.groupBy(overrides, ({ scheduleId }) => scheduleId);
  return found.map((one) => ({ ...one, overrides: byId.get(one.id) ?? [] }));
}

/** Lists the overrides of schedules that overlap a span, oldest first. */
export function listOverrides(
  { store, organizationId }: Tenant,
  scheduleIds: readonly string[],
  from: number,
  until: number,
): Promise<OverrideRow[]> {
  return store.db
    .select()
    .from(scheduleOverrides)
    .where(
      and(
        matchValues(scheduleOverrides, { organizationId }),
        inArray(
          scheduleOverrides.scheduleId,
          sql`(select value from ${buildIdTable(scheduleIds)})`,
        ),
        gt(scheduleOverrides.endsAt, formatTimestamp(from)),
        lt(scheduleOverrides.startsAt, formatTimestamp(until)),
      ),
    )
    .orderBy(asc(scheduleOverrides.id));
}

export async function findOverride(
  { store, organizationId }: Tenant,
  scheduleId: string,
  id: string,
): Promise<OverrideRow | null> {
  const [row] = await store.db
    .select()
    .from(scheduleOverrides)
    .where(matchValues(scheduleOverrides, { organizationId, scheduleId, id }));
  return row ?? null;
}

const insertRow = createInsert(schedules);
const updateRow = createUpdate(schedules, [
  "name",
  "description",
  "timeZone",
  "layers",
  "secrets",
  "calendarTokenHash",
  "noticeHours",
  "noticeDueAt",
  "version",
  "updatedAt",
]);

export const insertSchedule = (tenant: Tenant, schedule: StoredSchedule): Statement[] => [
  insertRow(columnsOf(schedule)),
  ...replacePeople(tenant, schedule),
];

export const changeSchedule = (tenant: Tenant, schedule: StoredSchedule): Statement[] => [
  updateRow(schedule.organizationId, columnsOf(schedule)),
  ...replacePeople(tenant, schedule),
];

const replacePeople = ({ store, organizationId }: Tenant, { id, layers }: StoredSchedule) =>
  replaceLinks(store, schedulePeople, { organizationId, scheduleId: id }, "personId", [
    ...new Set(layers.flatMap(({ personIds }) => personIds)),
  ]);

export const insertOverride = createInsert(scheduleOverrides);

/** Examines the next shifts of a schedule at this time, in Unix milliseconds, if it has notices. */
export const setNoticeDueAt = (organizationId: string, id: string, dueAt: number): Prepared => ({
  text: `update schedules set notice_due_at = ?
    where organization_id = ? and id = ? and notice_hours is not null`,
  parameters: [dueAt, organizationId, id],
});

/** Examines the next shifts of all schedules with notices now, because a person can be reached at other times. */
export const wakeNotices = (organizationId: string, now: number): Prepared => ({
  text: `update schedules set notice_due_at = min(notice_due_at, ?)
    where organization_id = ? and notice_due_at is not null`,
  parameters: [now, organizationId],
});

/** Stores when to examine a schedule again, unless it changed in the meantime. */
export const delayNotices = (
  organizationId: string,
  id: string,
  { from, to }: { from: number; to: number },
): Prepared => ({
  text: `update schedules set notice_due_at = ?
    where organization_id = ? and id = ? and notice_due_at = ?`,
  parameters: [to, organizationId, id, from],
});

/** Days for which past overrides are stored. */
const overrideDays = 365;

/** Days after the start of a shift for which its notice is remembered. */
const noticeDays = 7;

/** Removes overrides that ended long ago, and notices of past shifts. */
export async function sweepOverrides(context: SweepContext): Promise<void> {
  const before = formatTimestamp(context.now - overrideDays * dayMs);
  await sweepRows(context, "schedule_overrides", "ends_at < ?", [before]);
  await sweepRows(context, "schedule_notices", "starts_at < ?", [context.now - noticeDays * dayMs]);
}
