/** Queries and statements of imports and of the records that they created. */
import { dayMs, hourMs, minuteMs } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import type { Fields } from "../core/collections/objects.ts";
import { openAll, sealAll, type Vault } from "../core/security/secrets.ts";
import type { SweepContext } from "../database/backup/sweeping.ts";
import type { Tenant } from "../database/rows.ts";
import {
  createInsert,
  guardCondition,
  type Prepared,
  type Statement,
  type Store,
} from "../database/store.ts";
import { configurationPrefix, externalRecords, imports } from "../database/tables/imports.ts";

export { configurationPrefix } from "../database/tables/imports.ts";

export type ExternalRecord = typeof externalRecords.$inferSelect;
export type ImportRow = typeof imports.$inferSelect;

export const insertImport = createInsert(imports);
const putRecord = createInsert(externalRecords, "insert or replace");

/** Returns the vault path of a record's last imported state, which can contain secrets. */
const recordPathOf = (organizationId: string, recordId: string) =>
  `${organizationId}/external-record/${recordId}`;

/** Returns a statement that links a record here to one of the source, with its sealed last imported state. */
export function putExternalRecord(
  { vault, organizationId }: { vault: Vault; organizationId: string },
  record: Omit<ExternalRecord, "organizationId" | "secrets">,
  outcome: object,
): Prepared {
  const location = recordPathOf(organizationId, record.recordId);
  const secrets = sealAll(vault, location, { record: JSON.stringify(outcome) });
  return putRecord({ organizationId, ...record, secrets });
}

/** Returns the source's state of the record at its last import. */
export function openLastState(
  vault: Vault,
  { organizationId, recordId, secrets }: ExternalRecord,
): Fields {
  const { record = "{}" } = openAll(vault, recordPathOf(organizationId, recordId), secrets);
  return JSON.parse(record) as Fields;
}

const recordsSql = `select organization_id as organizationId, source, noun, external_id as externalId,
    record_id as recordId, import_id as importId, adopted, secrets from external_records`;

/** Returns the records that were imported from this source. */
export function findRecordsOfSource({ store, organizationId }: Tenant, source: string) {
  return store.query<ExternalRecord>(`${recordsSql} where organization_id = ? and source = ?`, [
    organizationId,
    source,
  ]);
}

/** Returns the records that configurations manage. Records of the kind `unread` lack their sealed state. */
export async function findRecordsOfConfigurations(
  { store, organizationId }: Tenant,
  unread: string | null = null,
) {
  const columns = recordsSql.replace(
    "secrets from",
    "iif(noun is ?, '{}', secrets) as secrets from",
  );
  const rows = await store.query<Omit<ExternalRecord, "adopted"> & { adopted: 0 | 1 }>(
    `${columns} where organization_id = ? and source like '${configurationPrefix}%'`,
    [unread, organizationId],
  );
  return rows.map((row): ExternalRecord => ({ ...row, adopted: row.adopted === 1 }));
}

export function findRecordsOfImport({ store, organizationId }: Tenant, importId: string) {
  return store.query<{ noun: string; recordId: string }>(
    `select noun, record_id as recordId from external_records
     where organization_id = ? and import_id = ? and not adopted`,
    [organizationId, importId],
  );
}

const importColumns = `organization_id as organizationId, id, source, status, report,
  first_key as firstKey, last_key as lastKey, touched_at as touchedAt, actor_name as actorName,
  created_at as createdAt`;

/** Lists the last 20 imports, newest first. */
export function listImportRows({ store, organizationId }: Tenant) {
  return store.query<ImportRow>(
    `select ${importColumns} from imports where organization_id = ? order by id desc limit 20`,
    [organizationId],
  );
}

export async function findImport({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.query<ImportRow>(
    `select ${importColumns} from imports where organization_id = ? and id = ?`,
    [organizationId, id],
  );
  return row ?? null;
}

const runningGuard =
  "exists (select 1 from imports where organization_id = ? and id = ? and status = 'running')";

/** Returns statements that mark the import as active. They fail if it was discarded in the meantime. */
export function touchImport(
  { organizationId }: Pick<Tenant, "organizationId">,
  id: string,
  now: number,
): Statement[] {
  return [
    guardCondition(
      runningGuard,
      [organizationId, id],
      () =>
        new AppError(
          "CONFLICT",
          "The import stalled and was discarded. Nothing was changed. Start it again.",
        ),
    ),
    {
      text: "update imports set touched_at = ? where organization_id = ? and id = ?",
      parameters: [now, organizationId, id],
    },
  ];
}

const sequence = "monitor_states";
const seqSql = `coalesce((select seq from sqlite_sequence where name = '${sequence}'), 0)`;

/** Returns the last key that was assigned to a monitor's heartbeats. */
export async function findLastKey(store: Store): Promise<number> {
  const [row] = await store.query<{ seq: number }>(`select ${seqSql} as seq`, []);
  return row?.seq ?? 0;
}

/** Returns the keys of the monitors' heartbeats, by monitor ID. */
export async function findResultKeys({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string; key: number }>(
    `select monitor_id as id, key from monitor_states
     where organization_id = ? and monitor_id in (select value from json_each(?))`,
    [organizationId, JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, key }) => [id, key]));
}

/**
 * Returns statements that reserve the next `count` keys. They fail with StaleRead if another key
 * was assigned meanwhile.
 */
export function reserveKeys(last: number, count: number): Prepared[] {
  return [
    guardCondition(`${seqSql} = ?`, [last]),
    {
      text: `insert into sqlite_sequence (name, seq) select '${sequence}', 0
        where not exists (select 1 from sqlite_sequence where name = '${sequence}')`,
      parameters: [],
    },
    {
      text: `update sqlite_sequence set seq = seq + ? where name = '${sequence}'`,
      parameters: [count],
    },
  ];
}

/** Returns a statement that queues the heartbeats of these keys for removal. */
export function discardKeys(first: number, last: number): Prepared {
  return {
    text: `insert into removed_monitors (key) with recursive keys (key) as (
        select ? where ? <= ? union all select key + 1 from keys where key < ?)
      select key from keys where true on conflict do nothing`,
    parameters: [first, first, last, last],
  };
}

/** Returns statements that discard an unfinished import and queue its invisible heartbeats for removal. */
export function abandonImport({
  organizationId,
  id,
  firstKey,
  lastKey,
}: Pick<ImportRow, "organizationId" | "id" | "firstKey" | "lastKey">): Prepared[] {
  return [
    guardCondition(runningGuard, [organizationId, id]),
    discardKeys(firstKey, lastKey),
    {
      text: "delete from imports where organization_id = ? and id = ?",
      parameters: [organizationId, id],
    },
  ];
}

/** A running import counts as abandoned after 10 minutes without a write. */
const abandonedAfterMs = 10 * minuteMs;

/** Discards imports whose process was killed. */
export async function sweepImports({ store, now, isOver }: SweepContext): Promise<void> {
  const abandonedImports = await store.query<ImportRow>(
    `select ${importColumns} from imports where status = 'running' and touched_at < ?`,
    [now - abandonedAfterMs],
  );
  for (const row of abandonedImports) {
    if (isOver()) return;
    await store.atomic(abandonImport(row));
  }
}

/** Returns statements that move heartbeats to the key of a monitor that existed before the import. */
export function moveResults(from: number, to: number): Prepared[] {
  const buildSumMove = (table: string, period: string) => ({
    text: `insert into ${table} (${period}, monitor_key, ${sumColumns.join(", ")})
      select ${period}, ?, ${sumColumns.join(", ")} from ${table} where monitor_key = ?
      on conflict do update set ${addTotalsSql}`,
    parameters: [to, from],
  });
  return [
    {
      text: `insert into heartbeats (monitor_key, at, status, latency_ms, seconds, message)
        select ?, at, status, latency_ms, seconds, message from heartbeats
        where monitor_key = ? on conflict do nothing`,
      parameters: [to, from],
    },
    buildSumMove("uptime_hours", "hour"),
    buildSumMove("uptime_days", "day"),
    discardKeys(from, from),
  ];
}

export const sumColumns = [
  "up_seconds",
  "degraded_seconds",
  "down_seconds",
  "unknown_seconds",
  "maintenance_seconds",
  "latency_count",
  "latency_sum",
  "latency_min",
  "latency_max",
  "latency_counts",
];

/** SQL assignments for `on conflict do update set` that add two partial totals. */
export const addTotalsSql = sumColumns
  .map((name) => {
    if (name === "latency_counts") return `${name} = coalesce(${name}, excluded.${name})`;
    if (name === "latency_min" || name === "latency_max") {
      const pick = name === "latency_min" ? "min" : "max";
      return `${name} = coalesce(${pick}(${name}, excluded.${name}), ${name}, excluded.${name})`;
    }
    return `${name} = ${name} + excluded.${name}`;
  })
  .join(", ");

/**
 * Returns the time of the last heartbeat or total of each monitor, in Unix milliseconds; null
 * without either. Totals count because they are retained longer than heartbeats.
 */
export async function findLastResults(
  store: Store,
  keys: readonly number[],
): Promise<Map<number, number | null>> {
  const rows = await store.query<{ key: number; at: number | null }>(
    `select value as key, (select max(at) from heartbeats where monitor_key = value) as at from json_each(?)`,
    [JSON.stringify(keys)],
  );
  const lasts = new Map(rows.map(({ key, at }) => [key, at]));
  for await (const [day, found] of findLastDays(store, lasts)) {
    const hours = await findLastHours(store, day, found);
    for (const key of found) {
      const hour = hours.get(key);
      lasts.set(key, (hour === undefined ? (day + 1) * dayMs : (hour + 1) * hourMs) - 1);
    }
  }
  return lasts;
}

/**
 * Yields days, newest first, with the monitors whose last total is for that day and newer than their last heartbeat.
 */
async function* findLastDays(
  store: Store,
  lasts: ReadonlyMap<number, number | null>,
): AsyncGenerator<[day: number, keys: number[]]> {
  let remaining = [...lasts];
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const [row] = await store.query<{ day: number | null }>(
      "select max(day) as day from uptime_days where day < ?",
      [before],
    );
    const day = row?.day ?? null;
    if (day === null) return;
    remaining = remaining.filter(([, at]) => at === null || Math.floor(at / dayMs) < day);
    if (remaining.length === 0) return;
    const rows = await store.query<{ key: number }>(
      `select value as key from json_each(?)
       where exists (select 1 from uptime_days where day = ? and monitor_key = value)`,
      [JSON.stringify(remaining.map(([key]) => key)), day],
    );
    const found = new Set(rows.map(({ key }) => key));
    if (found.size > 0) yield [day, [...found]];
    remaining = remaining.filter(([key]) => !found.has(key));
    before = day;
  }
}

/** Returns each monitor's last hour of the day that has a total. */
async function findLastHours(store: Store, day: number, keys: readonly number[]) {
  const hours = Array.from({ length: 24 }, (_, hour) => day * 24 + hour);
  const rows = await store.query<{ key: number; hour: number }>(
    `select k.value as key, max(h.value) as hour from json_each(?) k, json_each(?) h
     where exists (select 1 from uptime_hours where hour = h.value and monitor_key = k.value)
     group by k.value`,
    [JSON.stringify(keys), JSON.stringify(hours)],
  );
  return new Map(rows.map(({ key, hour }) => [key, hour]));
}
