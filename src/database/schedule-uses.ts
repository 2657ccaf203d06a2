/** Finds the on-call schedules that need a person, and guards the removal of a person. */
import type { Tenant } from "./rows.ts";
import { guardCondition, type Prepared } from "./store.ts";
import type { Use } from "./uses.ts";

/** SQL for the schedules of a person's layers and of overrides that are not over. */
const usingSchedulesSql = `(select schedule_id from schedule_people
    where organization_id = ?1 and person_id = ?2
  union select schedule_id from schedule_overrides
    where organization_id = ?1 and person_id = ?2 and ends_at > ?3)`;

/** Lists the schedules that need a person at or after `now`, by name. */
export async function findScheduleUses(
  { store, organizationId }: Tenant,
  personId: string,
  now: string,
): Promise<Use[]> {
  const rows = await store.query<{ id: string; name: string }>(
    `select id, name from schedules where organization_id = ?1 and id in ${usingSchedulesSql}
      order by name, id`,
    [organizationId, personId, now],
  );
  return rows.map(({ id, name }) => ({ noun: "schedule", path: `schedules/${id}`, name }));
}

/** Guard that no schedule needs a person. If it fails, `retryOnStaleRead` finds the uses again. */
export function guardNoScheduleUse(
  organizationId: string,
  personId: string,
  now: string,
): Prepared {
  return guardCondition(
    `not exists (select 1 from schedules
      where organization_id = ?1 and id in ${usingSchedulesSql})`,
    [organizationId, personId, now],
  );
}
