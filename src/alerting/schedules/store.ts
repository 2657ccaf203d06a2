/** Reads and writes on-call schedules, their people and their overrides. */
import { formatTimestamp, dayMs } from "../../core/time/clock.ts";
import type { Sweeping } from "../../database/backup/sweeping.ts";
import { sweepRows } from "../../database/backup/sweeping.ts";
import { buildIdTable } from "../../database/references.ts";
import { matchValues, replaceLinks, type Tenant } from "../../database/rows.ts";
import { createInsert, createUpdate, type Statement, type Store } from "../../database/store.ts";
import { scheduleOverrides, schedulePeople, schedules } from "../../database/tables/schedules.ts";
import { and, asc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { ScheduleTimes } from "./rules.ts";
import type { ScheduleLayer } from "./schema.ts";

type Row = typeof schedules.$inferSelect;
export type OverrideRow = typeof scheduleOverrides.$inferSelect;

/** A stored schedule, without its overrides. */
export type StoredSchedule = Omit<Row, "layers"> & { layers: ScheduleLayer[] };

/** A schedule with the overrides of a span, for the rules. */
export type TimedSchedule = StoredSchedule & ScheduleTimes;

const parseRow = (row: Row): StoredSchedule => ({
  ...row,
  layers: JSON.parse(row.layers) as ScheduleLayer[],
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
  until = from + 1,
): Promise<TimedSchedule[]> {
  const found = await listSchedules(tenant, ids);
  return addOverrides(tenant, found, from, until);
}

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
  "version",
  "updatedAt",
]);

export const insertSchedule = (tenant: Tenant, schedule: StoredSchedule): Statement[] => [
  insertRow({ ...schedule, layers: JSON.stringify(schedule.layers) }),
  ...replacePeople(tenant, schedule),
];

export const changeSchedule = (tenant: Tenant, schedule: StoredSchedule): Statement[] => [
  updateRow(schedule.organizationId, { ...schedule, layers: JSON.stringify(schedule.layers) }),
  ...replacePeople(tenant, schedule),
];

const replacePeople = ({ store, organizationId }: Tenant, { id, layers }: StoredSchedule) =>
  replaceLinks(store, schedulePeople, { organizationId, scheduleId: id }, "personId", [
    ...new Set(layers.flatMap(({ personIds }) => personIds)),
  ]);

export const insertOverride = createInsert(scheduleOverrides);

/** Days for which past overrides are stored. */
export const overrideDays = 365;

/** Removes overrides that ended long ago. */
export function sweepOverrides(sweeping: Sweeping): Promise<void> {
  const before = formatTimestamp(sweeping.now - overrideDays * dayMs);
  return sweepRows(sweeping, "schedule_overrides", "ends_at < ?", [before]);
}
