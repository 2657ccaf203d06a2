/** Reads and writes the monthly drills of policies and people. */
import { AppError } from "../../core/errors.ts";
import { dayMs } from "../../core/time/clock.ts";
import type { Tenant } from "../../database/rows.ts";
import { guardCondition, type Prepared, type Store } from "../../database/store.ts";
import { findDrillTime } from "./rules.ts";
import type { MonthlyDrill } from "./schema.ts";

/** Guards that no drill of a policy or person is running. */
export const guardNoDrill = (
  organizationId: string,
  { id, name }: { id: string; name: string },
): Prepared =>
  guardCondition(
    `not exists (select 1 from alert_records
  where organization_id = ? and subject_id = ? and family = 'drill' and resolved_at is null)`,
    [organizationId, id],
    () => new AppError("CONFLICT", `A drill of ${name} is already running.`),
  );

/** Longest time from one monthly drill to the next. A drill farther ahead was planned while the clock was ahead. */
const longestMonthMs = 37 * dayMs;

/** A monthly drill to start or to reschedule. */
export type DueDrill = {
  organizationId: string;
  type: "policy" | "person";
  id: string;
  name: string;
  /** JSON of the monthly drill. */
  drill: string;
  /** Unix milliseconds. */
  dueAt: number;
};

const dueSql = `select 'policy' as type, p.organization_id as organizationId, p.id, p.name, p.drill,
      p.drill_due_at as dueAt
    from escalation_policies p indexed by escalation_policies_drill_due
    where p.drill_due_at is not null and (p.drill_due_at <= ?1 or p.drill_due_at > ?1 + ?3)
  union all select 'person', m.organization_id, m.person_id, p.name, m.drill, m.drill_due_at
    from memberships m indexed by memberships_drill_due join people p on p.id = m.person_id
    where m.drill_due_at is not null and (m.drill_due_at <= ?1 or m.drill_due_at > ?1 + ?3)`;

/** Lists the policies and people whose monthly drill is due, or too far ahead, outside deleted organizations. */
export const listDueDrills = (store: Store, now: number, limit: number): Promise<DueDrill[]> =>
  store.query<DueDrill>(
    `select d.* from (${dueSql}) d
      join organizations o on o.id = d.organizationId and o.deleted_at is null limit ?2`,
    [now, limit, longestMonthMs],
  );

const drilledTables = {
  policy: { table: "escalation_policies", id: "id" },
  person: { table: "memberships", id: "person_id" },
};

/** Guards that a monthly drill is unchanged since it was read. */
export function guardDue({ organizationId, type, id, drill, dueAt }: DueDrill): Prepared {
  const drilled = drilledTables[type];
  return guardCondition(
    `exists (select 1 from ${drilled.table} where organization_id = ?
      and ${drilled.id} = ? and drill = ? and drill_due_at = ?)`,
    [organizationId, id, drill, dueAt],
  );
}

/** Stores when the next monthly drill of a policy or person starts, in Unix milliseconds. */
export function setDrillDueAt(
  organizationId: string,
  { type, id }: Pick<DueDrill, "type" | "id">,
  at: number,
): Prepared {
  const drilled = drilledTables[type];
  return {
    text: `update ${drilled.table} set drill_due_at = ? where organization_id = ? and ${drilled.id} = ?`,
    parameters: [at, organizationId, id],
  };
}

/** Returns when a person is drilled every month, null for never; undefined for no member. */
export async function findPersonDrill(
  { store, organizationId }: Tenant,
  personId: string,
): Promise<MonthlyDrill | null | undefined> {
  const [row] = await store.query<{ drill: string | null }>(
    "select drill from memberships where organization_id = ? and person_id = ?",
    [organizationId, personId],
  );
  return row && parseDrill(row.drill);
}

export const parseDrill = (drill: string | null): MonthlyDrill | null =>
  drill === null ? null : (JSON.parse(drill) as MonthlyDrill);

/** Returns the columns of the monthly drill of a policy or person. */
export const toDrillColumns = (subjectId: string, drill: MonthlyDrill | null, now: number) => ({
  drill: drill && JSON.stringify(drill),
  drillDueAt: drill && findDrillTime(subjectId, drill, now),
});

/** Sets when a person is drilled every month. */
export function changePersonDrill(
  organizationId: string,
  personId: string,
  monthly: MonthlyDrill | null,
  now: number,
): Prepared {
  const { drill, drillDueAt } = toDrillColumns(personId, monthly, now);
  return {
    text: `update memberships set drill = ?, drill_due_at = ?
      where organization_id = ? and person_id = ?`,
    parameters: [drill, drillDueAt, organizationId, personId],
  };
}
