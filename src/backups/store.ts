import type { Store } from "../database/store.ts";

/** Whether there is an organization that this person does not own. */
export async function isAnyNotOwnedBy(store: Store, personId: string): Promise<boolean> {
  const rows = await store.query(
    `select 1 from organizations o where not exists (select 1 from memberships m
       where m.organization_id = o.id and m.person_id = ? and m.role = 'owner') limit 1`,
    [personId],
  );
  return rows.length > 0;
}
