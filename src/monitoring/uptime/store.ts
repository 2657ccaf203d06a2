/** Stores heartbeats with their hourly and daily sums, and reads them for uptime and latency. */
import { hourMs, dayMs } from "../../core/time/clock.ts";
import { heartbeatStatuses } from "../../core/statuses.ts";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { Prepared, Store } from "../../database/store.ts";
import {
  type heartbeats,
  numberDays,
  numberHours,
  uptimeDays,
  uptimeHours,
} from "../../database/tables/monitoring.ts";
import {
  bucketOf,
  computeExactPercentiles,
  type LatencyCounts,
  type Percentiles,
  computePercentiles,
} from "../../core/collections/percentiles.ts";
import {
  addSums,
  codeOf,
  type LatencySpan,
  listLastPeriods,
  computeRatio,
  type Seconds,
  getStatus,
  type Sums,
} from "./rules.ts";
import type { Heartbeat, HeartbeatQuery, HeartbeatStatus } from "./schema.ts";

type StoredHeartbeat = typeof heartbeats.$inferSelect;
/** A heartbeat to store, with the name of its status instead of a code. */
export type HeartbeatRow = Omit<StoredHeartbeat, "status" | "number"> & {
  status: HeartbeatStatus;
  number?: number | null;
};

/** SQL for results in a single JSON parameter, so that a write of any size needs the same few statements. */
const givenHeartbeatsSql = `with given (monitor_key, at, status, latency_ms, seconds, message, epoch, bucket, number) as materialized (
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
  from json_each(?))`;
// If the clock was set back, a millisecond can already have a heartbeat. Only that result is skipped.
const isAcceptedSql = `(epoch is null
    or exists (select 1 from monitor_states s where s.key = given.monitor_key and s.epoch = given.epoch))
  and not exists (select 1 from heartbeats h where h.monitor_key = given.monitor_key and h.at = given.at)`;
const heartbeatSql = `insert into heartbeats (monitor_key, at, status, latency_ms, seconds, message, number)
  ${givenHeartbeatsSql} select monitor_key, at, status, latency_ms, seconds, message, number from given where ${isAcceptedSql}`;
const numberTexts = (
  [
    [numberHours, hourMs],
    [numberDays, dayMs],
  ] as const
).map(
  ([table, periodMs]) => `insert into ${getTableName(table)}
    ${givenHeartbeatsSql} select at / ${periodMs}, monitor_key, 1, number, number, number from given
      where number is not null and ${isAcceptedSql}
    on conflict do update set count = count + 1, sum = sum + excluded.sum,
      min = min(min, excluded.min), max = max(max, excluded.max)`,
);
const rollupSql = [
  buildRollupText(uptimeHours, hourMs),
  buildRollupText(uptimeDays, dayMs),
  // Must be last, because the sums skip results whose heartbeat already exists.
  heartbeatSql,
];

/**
 * Inserts heartbeats and adds them to their hours and days. The statements must run in one write, in this
 * order. A result is skipped if its `epoch` differs from the current epoch of its monitor.
 */
export function insertHeartbeats(rows: readonly (HeartbeatRow & { epoch?: number })[]): Prepared[] {
  const moments = new Map(rows.toReversed().map((row) => [`${row.monitorKey} ${row.at}`, row]));
  const list = rows
    .filter((row) => moments.get(`${row.monitorKey} ${row.at}`) === row)
    .map(({ monitorKey, at, status, latencyMs, seconds, message, number = null, epoch = null }) => [
      monitorKey,
      at,
      codeOf(status),
      latencyMs,
      seconds,
      message,
      epoch,
      latencyMs === null ? null : bucketOf(latencyMs),
      number,
    ]);
  if (list.length === 0) return [];
  const parameters = [JSON.stringify(list)];
  const hasNumber = list.some((row) => row.at(-1) !== null);
  return [...(hasNumber ? numberTexts : []), ...rollupSql].map((text) => ({ text, parameters }));
}

// The excess is computed from stored rows, so that a repeated write does not subtract it twice.
const excessSql = `with early (monitor_key, at) as (select value ->> 0, value ->> 1 from json_each(?)),
  pairs (monitor_key, at, status, seconds, used) as (
    select h.monitor_key, h.at, h.status, h.seconds,
      max(1, cast(round((early.at - h.at) / 1000.0) as integer))
    from early cross join heartbeats e on e.monitor_key = early.monitor_key and e.at = early.at
      cross join heartbeats h on h.monitor_key = early.monitor_key and h.at = (
        select max(p.at) from heartbeats p where p.monitor_key = early.monitor_key and p.at < early.at))`;
const endTexts = [
  buildTakeBackText(uptimeHours, hourMs),
  buildTakeBackText(uptimeDays, dayMs),
  `update heartbeats set seconds = used
  from (${excessSql} select * from pairs where seconds > used) ended
  where heartbeats.monitor_key = ended.monitor_key and heartbeats.at = ended.at`,
];

function buildTakeBackText(table: typeof uptimeHours, periodMs: number): string {
  const sums = heartbeatStatuses.map(
    (status) => `sum((seconds - used) * (status = ${codeOf(status)})) as ${status}`,
  );
  const changes = heartbeatStatuses.map(
    (status) => `${status}_seconds = ${status}_seconds - ${status}`,
  );
  const name = getTableName(table);
  return `update ${name} set ${changes.join(", ")}
  from (${excessSql} select at / ${periodMs} as period, monitor_key, ${sums.join(", ")}
    from pairs where seconds > used group by 1, 2) ended
  where ${name}.${table.period.name} = ended.period and ${name}.monitor_key = ended.monitor_key`;
}

/**
 * Shortens previous heartbeats to end when these start, also in the hourly and daily sums. Must follow
 * `insertHeartbeats` in the same write.
 */
export function endEarlier(rows: readonly Pick<HeartbeatRow, "monitorKey" | "at">[]): Prepared[] {
  if (rows.length === 0) return [];
  const parameters = [JSON.stringify(rows.map(({ monitorKey, at }) => [monitorKey, at]))];
  return endTexts.map((text) => ({ text, parameters }));
}

/** Replaces the monitor's screenshot. Does nothing if `epoch` differs from the current epoch of the monitor. */
export function putScreenshot(
  { key, epoch }: { key: number; epoch: number },
  at: number,
  image: Uint8Array,
): Prepared {
  return {
    text: `insert or replace into screenshots (organization_id, monitor_id, at, image)
      select organization_id, monitor_id, ?, ? from monitor_states where key = ? and epoch = ?`,
    parameters: [at, image.toBase64(), key, epoch],
  };
}

/** Returns the screenshot as a JPEG; null without one, or if `at` is given and differs from its time. */
export async function findScreenshot(
  store: Store,
  organizationId: string,
  monitorId: string,
  at: number | null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const [row] = await store.query<{ image: string }>(
    "select image from screenshots where organization_id = ? and monitor_id = ? and at = coalesce(?, at)",
    [organizationId, monitorId, at],
  );
  return row === undefined ? null : Uint8Array.fromBase64(row.image);
}

function buildRollupText(table: typeof uptimeHours, periodMs: number): string {
  const { period: _period, monitorKey: _monitorKey, ...sums } = getTableColumns(table);
  const secondsOf = (status: HeartbeatStatus) => `seconds * (status = ${codeOf(status)})`;
  const values: Record<keyof typeof sums, string> = {
    upSeconds: secondsOf("up"),
    degradedSeconds: secondsOf("degraded"),
    downSeconds: secondsOf("down"),
    unknownSeconds: secondsOf("unknown"),
    maintenanceSeconds: secondsOf("maintenance"),
    latencyCount: "latency_ms is not null",
    latencySum: "coalesce(latency_ms, 0)",
    latencyMin: "latency_ms",
    latencyMax: "latency_ms",
    latencyCounts: `'{"' || bucket || '":1}'`,
  };
  const changes = Object.entries(sums).map(([key, { name }]) => {
    const added = `excluded.${name}`;
    if (key === "latencyCounts") {
      const path = `'$.' || substr(${added}, 2, length(${added}) - 4)`;
      return `${name} = case when ${added} is null then ${name}
        else json_set(coalesce(${name}, '{}'), ${path}, coalesce(${name} ->> (${path}), 0) + 1) end`;
    }
    if (key === "latencyMin" || key === "latencyMax") {
      const pick = key === "latencyMin" ? "min" : "max";
      return `${name} = coalesce(${pick}(${name}, ${added}), ${name}, ${added})`;
    }
    return `${name} = ${name} + ${added}`;
  });
  const names = Object.values(sums).map(({ name }) => name);
  return `insert into ${getTableName(table)} (${table.period.name}, monitor_key, ${names.join(", ")})
    ${givenHeartbeatsSql} select at / ${periodMs}, monitor_key, ${Object.keys(sums)
      .map((key) => values[key as keyof typeof sums])
      .join(", ")} from given where ${isAcceptedSql}
    on conflict do update set ${changes.join(", ")}`;
}

/** Finds the key of a monitor's results and its creation time; null if the organization has no such monitor. */
export async function findMeasured(store: Store, organizationId: string, monitorId: string) {
  const [row] = await store.query<{ key: number; createdAt: string }>(
    `select s.key, m.created_at as createdAt from monitor_states s
       join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
     where s.organization_id = ? and s.monitor_id = ?`,
    [organizationId, monitorId],
  );
  return row ?? null;
}

/** Lists heartbeats, newest first. */
export async function listHeartbeats(
  store: Store,
  monitorKey: number,
  { from = 0, to = Number.MAX_SAFE_INTEGER, limit }: HeartbeatQuery,
): Promise<Heartbeat[]> {
  const rows = await store.query<StoredHeartbeat>(
    `select at, status, latency_ms as latencyMs, seconds, message, number from heartbeats
     where monitor_key = ? and at >= ? and at < ? order by at desc limit ?`,
    [monitorKey, from, to, limit],
  );
  return rows.map(({ at, status, latencyMs, seconds, message, number }) => ({
    at: new Date(at).toISOString(),
    status: getStatus(status),
    latencyMs,
    message,
    period: seconds,
    number,
  }));
}

const replaySql = `select at, status, latency_ms as latencyMs,
    status = ${codeOf("degraded")} and coalesce(message, '') like 'Answered in %' as isSlow
  from heartbeats where monitor_key = ? and at >= ? order by at limit ?`;

/** Lists the first results since `from`, oldest first. `isSlow`: degraded only because of its latency. */
export async function listResultsToReplay(
  store: Store,
  monitorKey: number,
  from: number,
  limit: number,
) {
  type Row = Pick<StoredHeartbeat, "at" | "status" | "latencyMs"> & { isSlow: 0 | 1 };
  const rows = await store.query<Row>(replaySql, [monitorKey, from, limit]);
  return rows.map(({ at, status, latencyMs, isSlow }) => ({
    at,
    status: getStatus(status),
    latencyMs,
    isSlow: isSlow === 1,
  }));
}

const secondsByStatus = heartbeatStatuses
  .map((status) => `sum(${status}_seconds) as ${status}Seconds`)
  .join(", ");

// Joining both lists first makes SQLite look up each period and monitor, instead of scanning the table.
const buildPeriodJoin = (table: typeof uptimeHours) =>
  `from json_each(?) periods cross join json_each(?) keys cross join ${getTableName(table)} sums
   on sums.${table.period.name} = periods.value and sums.monitor_key = keys.value`;
const hoursSql = `select monitor_key as monitorKey, ${secondsByStatus} ${buildPeriodJoin(uptimeHours)} group by monitor_key`;

/** Adds up the given hours for each monitor. Monitors without results are absent. */
export async function sumHours(
  store: Store,
  monitorKeys: readonly number[],
  periods: readonly number[],
): Promise<Map<number, Seconds>> {
  const rows = await store.query<Seconds & { monitorKey: number }>(hoursSql, [
    JSON.stringify(periods),
    JSON.stringify(monitorKeys),
  ]);
  return new Map(rows.map(({ monitorKey, ...sums }) => [monitorKey, sums]));
}

/** Reads the uptime of monitors in the last 24 hours, including the current hour. Returns a lookup by monitor key. */
export async function computeUptime24h(
  store: Store,
  monitorKeys: readonly number[],
  nowMs: number,
): Promise<(monitorKey: number) => number | null> {
  const sums = await sumHours(store, monitorKeys, listLastPeriods(nowMs, hourMs, 24));
  return (monitorKey) => {
    const found = sums.get(monitorKey);
    return found === undefined ? null : computeRatio(found);
  };
}

const sumColumns = Object.entries(getTableColumns(uptimeHours))
  .slice(2)
  .map(([key, { name }]) => `${name} as ${key}`)
  .join(", ");
const buildPeriodSql = (table: typeof uptimeHours) =>
  `select ${table.period.name} as period, ${sumColumns} ${buildPeriodJoin(table)} order by period`;
const periodTexts = { hours: buildPeriodSql(uptimeHours), days: buildPeriodSql(uptimeDays) };

/** Lists the periods in which the monitor has results, oldest first. */
export async function listSums(
  store: Store,
  monitorKey: number,
  unit: "hours" | "days",
  periods: readonly number[],
): Promise<(Sums & { period: number })[]> {
  type Row = Omit<Sums, "latencyCounts"> & { period: number; latencyCounts: string | null };
  const rows = await store.query<Row>(periodTexts[unit], [
    JSON.stringify(periods),
    JSON.stringify([monitorKey]),
  ]);
  return rows.map((row) => ({ ...row, latencyCounts: parseCounts(row.latencyCounts) }));
}

const parseCounts = (text: string | null) =>
  text === null ? null : (JSON.parse(text) as LatencyCounts);

/** Figures of one part of a span. All parts have the same `width`. */
export type Point = Omit<Sums, "latencyCounts"> & Percentiles & { at: number };

/** Lists points that have results, oldest first. */
export async function listPoints(
  store: Store,
  monitorKey: number,
  { from, to, width, source }: LatencySpan,
): Promise<Point[]> {
  if (source === "heartbeats") {
    type Row = Omit<Point, keyof Percentiles> & { latencies: string };
    const rows = await store.query<Row>(rawPointsSql, [
      from,
      width,
      width,
      from,
      monitorKey,
      from,
      to,
    ]);
    return rows.map(({ latencies, ...sums }) => ({
      ...sums,
      ...computeExactPercentiles(JSON.parse(latencies) as number[]),
    }));
  }
  const periodMs = source === "hours" ? hourMs : dayMs;
  const sums = await listSums(store, monitorKey, source, listPeriods(from, to, periodMs));
  const points = Map.groupBy(sums, ({ period }) => Math.floor((period * periodMs - from) / width));
  return [...points].map(([point, periodSums]) => {
    const total = addSums(periodSums);
    return { at: from + point * width, ...total, ...computePercentiles(total) };
  });
}

/** Figures of a number in one part of a span. */
type NumberSums = { at: number; count: number; sum: number; min: number; max: number };

const buildSumPoints = (table: string, period: string, periodMs: number) =>
  `select (${period} * ${periodMs} - ?) / ? as point, sum(count) as count, sum(sum) as sum,
    min(min) as min, max(max) as max from ${table}
  where monitor_key = ? and ${period} in (select value from json_each(?)) group by 1 order by 1`;
const numberPoints = {
  hours: buildSumPoints("number_hours", "hour", hourMs),
  days: buildSumPoints("number_days", "day", dayMs),
  heartbeats: `select (at - ?) / ? as point, count(*) as count, sum(number) as sum, min(number) as min,
    max(number) as max from heartbeats
  where monitor_key = ? and at >= ? and at < ? and number is not null group by 1 order by 1`,
};

/** Lists the parts of a span in which the monitor found numbers, oldest first. */
export async function listNumberSums(
  store: Store,
  monitorKey: number,
  { from, to, width, source }: LatencySpan,
): Promise<NumberSums[]> {
  const rangeParameters =
    source === "heartbeats"
      ? [from, to]
      : [JSON.stringify(listPeriods(from, to, source === "hours" ? hourMs : dayMs))];
  const rows = await store.query<Omit<NumberSums, "at"> & { point: number }>(numberPoints[source], [
    from,
    width,
    monitorKey,
    ...rangeParameters,
  ]);
  return rows.map(({ point, ...sums }) => ({ at: from + point * width, ...sums }));
}

/**
 * Finds the finest data that covers a span: results past their retention remain only in hourly sums,
 * and later only in daily ones.
 */
export async function findFinestSource(
  store: Store,
  monitorKey: number,
  { from, to }: { from: number; to: number },
): Promise<LatencySpan["source"]> {
  const [first] = await store.query<{ at: number }>(
    "select at from heartbeats where monitor_key = ? order by at limit 1",
    [monitorKey],
  );
  for (const [source, periodMs] of [
    ["hours", hourMs],
    ["days", dayMs],
  ] as const) {
    // The period of the first result is omitted, because its sums come from stored results.
    const last = Math.min(
      Math.ceil(to / periodMs),
      Math.floor((first?.at ?? to + periodMs) / periodMs),
    );
    const start = Math.floor(from / periodMs);
    if (last <= start) continue;
    const sums = await listSums(
      store,
      monitorKey,
      source,
      listPeriods(start * periodMs, last * periodMs, periodMs),
    );
    if (sums.length > 0) return source;
  }
  return "heartbeats";
}

const rawPointsSql = `select (at - ?) / ? * ? + ? as at, ${heartbeatStatuses
  .map((status) => `sum(seconds * (status = ${codeOf(status)})) as ${status}Seconds`)
  .join(", ")}, count(latency_ms) as latencyCount, coalesce(sum(latency_ms), 0) as latencySum,
  min(latency_ms) as latencyMin, max(latency_ms) as latencyMax,
  json_group_array(latency_ms) filter (where latency_ms is not null) as latencies
  from heartbeats where monitor_key = ? and at >= ? and at < ? group by 1 order by 1`;

const reasonSql = `select (at - ?) / ? * ? + ? as at, status, message, max(at) as last
  from heartbeats where monitor_key = ? and at >= ? and at < ? and status in (?, ?)
  group by 1, status order by 1, status`;

/** Maps the start of each point to the message of its last failure, or else of its last degraded result. */
export async function findReasons(
  store: Store,
  key: number,
  { from, to, width }: Pick<LatencySpan, "from" | "to" | "width">,
) {
  const [degraded, down] = [codeOf("degraded"), codeOf("down")];
  const rows = await store.query<{ at: number; message: string | null }>(reasonSql, [
    from,
    width,
    width,
    from,
    key,
    from,
    to,
    degraded,
    down,
  ]);
  return new Map(rows.map(({ at, message }) => [at, message]));
}

/** Lists the periods of a span that starts and ends on period boundaries. */
function listPeriods(from: number, to: number, periodMs: number): number[] {
  const first = from / periodMs;
  return Array.from({ length: to / periodMs - first }, (_, index) => first + index);
}
