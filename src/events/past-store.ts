import type { Fields } from "../core/collections/objects.ts";
import type { FieldChange } from "../core/field-changes.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import type { Tenant } from "../database/rows.ts";

const changesSql = `select e.subject_id as subjectId, e.changes from json_each(?) wanted
    cross join audit_entries e on e.organization_id = ? and e.subject_id = wanted.value
  where e.at > ? and e.changes is not null order by e.seq limit ?`;

/** Maximum changes to read. Beyond it, some fields have their current values. */
const maxChanges = 5_000;

/**
 * Returns the values that the fields `names` had at a time, by record. Includes only fields that changed since, and whose
 * old values are in the audit log.
 */
export async function findPastFields(
  { store, organizationId }: Tenant,
  ids: readonly string[],
  names: readonly string[],
  at: number,
): Promise<Map<string, Fields>> {
  const parameters = [JSON.stringify(ids), organizationId, formatTimestamp(at), maxChanges];
  const rows = await store.query<{ subjectId: string; changes: string }>(changesSql, parameters);
  const fields = new Map<string, Fields>();
  for (const { subjectId, changes } of rows) {
    const known = fields.get(subjectId) ?? {};
    fields.set(subjectId, known);
    for (const { field, before, truncated } of JSON.parse(changes) as FieldChange[]) {
      const isWanted = names.includes(field) && !truncated.includes("before");
      if (isWanted && !Object.hasOwn(known, field)) known[field] = before;
    }
  }
  return fields;
}
