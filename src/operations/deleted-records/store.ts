/** Reads deleted records, marks them as no longer restorable, and removes them after their retention. */
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";
import type { DeletableNoun } from "../../core/deletable-nouns.ts";
import { deletedBounds } from "../../core/limits.ts";
import { computeOffset } from "../../core/paging.ts";
import { dayMs } from "../../core/time/clock.ts";
import type { Tenant } from "../../database/rows.ts";
import { buildContains } from "../../database/search.ts";
import type { Prepared } from "../../database/store.ts";
import { buildOriginSql } from "../../database/subject-names.ts";
import type { DeletedRecordQuery } from "./schema.ts";

/** A deleted record. Times are Unix milliseconds. */
export type DeletedRow = {
  id: string;
  noun: DeletableNoun;
  name: string;
  actorName: string;
  origin: "manual" | "monitor" | null;
  deletedAt: number;
  until: number;
};

const columns = `r.id, r.noun, r.name, r.actor_name as actorName, r.deleted_at as deletedAt,
  r.deleted_at + s.keep_deleted_days * ${dayMs} as until,
  ${buildOriginSql("r.organization_id", "r.id")} as origin`;
const restorable = `deleted_records r join organization_settings s
    on s.organization_id = r.organization_id
  where r.organization_id = ? and r.deleted_at > 0`;

/** Lists a page of deleted records, the last deleted first. */
export async function findDeletedPage(
  { store, organizationId }: Tenant,
  query: DeletedRecordQuery,
): Promise<{ rows: DeletedRow[]; total: number }> {
  const { noun, q } = query;
  const nounConditions = noun === undefined ? [] : [{ text: "r.noun = ?", parameters: [noun] }];
  const nameConditions = q === undefined ? [] : [buildContains("r.name", q)];
  const conditions = [...nounConditions, ...nameConditions];
  const filter = [restorable, ...conditions.map(({ text }) => text)].join(" and ");
  const filters = [organizationId, ...conditions.flatMap(({ parameters }) => parameters)];
  const [rows, [count]] = await Promise.all([
    store.query<DeletedRow>(
      `select ${columns} from ${filter} order by r.deleted_at desc, r.id desc limit ? offset ?`,
      [...filters, query.per_page, computeOffset(query)],
    ),
    store.query<{ total: number }>(`select count(*) as total from ${filter}`, filters),
  ]);
  return { rows, total: count?.total ?? 0 };
}

/** Finds a deleted record that can be restored; null if there is none. */
export async function findDeleted(
  { store, organizationId }: Tenant,
  id: string,
): Promise<DeletedRow | null> {
  const [row] = await store.query<DeletedRow>(`select ${columns} from ${restorable} and r.id = ?`, [
    organizationId,
    id,
  ]);
  return row ?? null;
}

/** Reads one column of a deleted record's rows in a table. */
export async function listDeletedValues(
  { store, organizationId }: Tenant,
  id: string,
  table: string,
  column: string,
): Promise<string[]> {
  const rows = await store.query<{ value: string }>(
    `select content ->> ? as value from deleted_rows
     where organization_id = ? and record_id = ? and table_name = ? and value is not null`,
    [column, organizationId, id, table],
  );
  return rows.map(({ value }) => value);
}

/** Marks a record as no longer restorable. Retention removes it. */
export const expireDeleted = (organizationId: string, id: string): Prepared => ({
  text: "update deleted_records set deleted_at = 0 where organization_id = ? and id = ?",
  parameters: [organizationId, id],
});

/** Maximum records per write. */
const recordsAtOnce = 200;

/** Removes records after their retention, and the oldest beyond the bounds of an organization. */
export async function sweepDeletedRecords(context: SweepContext): Promise<void> {
  const { store, now } = context;
  const organizations = await store.query<{ id: string; days: number; excess: 0 | 1 }>(
    `select r.organization_id as id, s.keep_deleted_days as days,
       count(*) > ? or sum(r.bytes) > ? as excess
     from deleted_records r join organization_settings s on s.organization_id = r.organization_id
     group by r.organization_id`,
    [deletedBounds.records.value, deletedBounds.bytes.value],
  );
  for (const { id, days, excess } of organizations) {
    if (excess) await expireExcess(context, id);
    await removeUntil(context, id, now - days * dayMs);
  }
}

/** Marks the oldest records beyond the bounds as no longer restorable. */
async function expireExcess({ store }: SweepContext, organizationId: string) {
  await store.atomic([
    {
      text: `update deleted_records set deleted_at = 0 where organization_id = ?1 and id in (
        select id from (select id, row_number() over newest as place, sum(bytes) over newest as total
          from deleted_records where organization_id = ?1
          window newest as (order by deleted_at desc, id desc rows unbounded preceding))
        where place > ?2 or total > ?3)`,
      parameters: [organizationId, deletedBounds.records.value, deletedBounds.bytes.value],
    },
  ]);
}

/**
 * Removes records that were deleted until a time. They are marked first, so that none is restored with a part of its
 * rows.
 */
async function removeUntil(context: SweepContext, organizationId: string, until: number) {
  const { store, inPortions, isOver } = context;
  await inPortions(async (size) => {
    const rows = await store.query<{ id: string }>(
      `select id from deleted_records where organization_id = ? and deleted_at <= ?
       order by deleted_at limit ?`,
      [organizationId, until, Math.min(size, recordsAtOnce)],
    );
    if (rows.length === 0) return false;
    const parameters = [organizationId, JSON.stringify(rows.map(({ id }) => id))];
    const condition = "organization_id = ? and id in (select value from json_each(?))";
    await store.atomic([
      {
        text: `update deleted_records set deleted_at = 0 where ${condition} and deleted_at > 0`,
        parameters,
      },
    ]);
    const rowCondition = "organization_id = ? and record_id in (select value from json_each(?))";
    await sweepRows(context, "deleted_rows", rowCondition, parameters);
    if (isOver()) return false;
    await store.atomic([
      {
        text: `insert into removed_monitors (key) select monitor_key from deleted_records
          where ${condition} and deleted_at = 0 and monitor_key is not null`,
        parameters,
      },
      { text: `delete from deleted_records where ${condition} and deleted_at = 0`, parameters },
    ]);
    return true;
  });
}
