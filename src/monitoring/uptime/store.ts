import { heartbeatStatuses } from "../../core/statuses.ts";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { Prepared, Store } from "../../database/store.ts";
import { type heartbeats, uptimeDays, uptimeHours } from "../../database/tables/monitoring.ts";
import {
  exactPercentiles,
  type LatencyCounts,
  type Percentiles,
  percentilesOf,
} from "../../core/percentiles.ts";
import {
  addSums,
  codeOf,
  hourMs,
  type LatencySpan,
  dayMs,
  lastPeriods,
  ratioOf,
  type Seconds,
  statusOfCode,
  type Sums,
  sumsOf,
} from "./rules.ts";
import type { Heartbeat, HeartbeatQuery, HeartbeatStatus } from "./schema.ts";

type StoredHeartbeat = typeof heartbeats.$inferSelect;
/** A heartbeat that is to be stored, with its status by name. */
export type HeartbeatRow = Omit<StoredHeartbeat, "status"> & { status: HeartbeatStatus };

// A clock that was set back can meet a millisecond that has its heartbeat already; the batch goes on.
const heartbeatText = (condition: string) => `insert into heartbeats
  (monitor_key, at, status, latency_ms, seconds, message)
  select ?, ?, ?, ?, ?, ? where ${condition} on conflict do nothing`;
const always = heartbeatText("true");
const whileEpoch = heartbeatText(
  "exists (select 1 from monitor_states where key = ? and epoch = ?)",
);
const hours = rollupInto(uptimeHours);
const days = rollupInto(uptimeDays);

/**
 * The heartbeat and its part in the sums of its hour and its day: they belong into one write, in this
 * order. With an epoch, nothing is written once the monitor has another.
 */
export function insertHeartbeat(row: HeartbeatRow & { epoch?: number }): Prepared[] {
  const { monitorKey, at, status, latencyMs, seconds, message, epoch } = row;
  const sums = sumsOf(row);
  const values = [monitorKey, at, codeOf(status), latencyMs, seconds, message];
  const heartbeat =
    epoch === undefined
      ? { text: always, parameters: values }
      : { text: whileEpoch, parameters: [...values, monitorKey, epoch] };
  return [
    heartbeat,
    hours(Math.floor(row.at / hourMs), row.monitorKey, sums),
    days(Math.floor(row.at / dayMs), row.monitorKey, sums),
  ];
}

// Adds nothing where the heartbeat itself was not taken, which is the statement before it.
function rollupInto(table: typeof uptimeHours) {
  const columns = Object.entries(getTableColumns(table));
  const changes = columns.slice(2).map(([key, { name }]) => {
    if (key === "latencyCounts")
      return `${name} = case when excluded.${name} is null then ${name}
        else json_set(coalesce(${name}, '{}'), ?, coalesce(${name} ->> ?, 0) + 1) end`;
    if (key === "latencyMin" || key === "latencyMax") {
      const pick = key === "latencyMin" ? "min" : "max";
      return `${name} = coalesce(${pick}(${name}, excluded.${name}), ${name}, excluded.${name})`;
    }
    return `${name} = ${name} + excluded.${name}`;
  });
  const text = `insert into ${getTableName(table)} (${columns.map(([, { name }]) => name).join(", ")})
    select ${columns.map(() => "?").join(", ")} where changes() > 0
    on conflict do update set ${changes.join(", ")}`;
  return (period: number, monitorKey: number, { latencyCounts, ...sums }: Sums): Prepared => {
    const row: Record<string, string | number | null> = {
      period,
      monitorKey,
      ...sums,
      latencyCounts: latencyCounts && JSON.stringify(latencyCounts),
    };
    const bucket = `$."${Object.keys(latencyCounts ?? {})[0]}"`;
    return { text, parameters: [...columns.map(([key]) => row[key] ?? null), bucket, bucket] };
  };
}

/** The number that names the monitor in its results, and when it was made; null when the organization has no such monitor. */
export async function findMeasured(store: Store, organizationId: string, monitorId: string) {
  const [row] = await store.query<{ key: number; createdAt: string }>(
    `select s.key, m.created_at as createdAt from monitor_states s
       join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
     where s.organization_id = ? and s.monitor_id = ?`,
    [organizationId, monitorId],
  );
  return row ?? null;
}

/** Newest first. */
export async function listHeartbeats(
  store: Store,
  monitorKey: number,
  { from = 0, to = Number.MAX_SAFE_INTEGER, limit }: HeartbeatQuery,
): Promise<Heartbeat[]> {
  const rows = await store.query<StoredHeartbeat>(
    `select at, status, latency_ms as latencyMs, seconds, message from heartbeats
     where monitor_key = ? and at >= ? and at < ? order by at desc limit ?`,
    [monitorKey, from, to, limit],
  );
  return rows.map(({ at, status, latencyMs, seconds, message }) => ({
    at: new Date(at).toISOString(),
    status: statusOfCode(status),
    latencyMs,
    message,
    period: seconds,
  }));
}

const secondsByStatus = heartbeatStatuses
  .map((status) => `sum(${status}_seconds) as ${status}Seconds`)
  .join(", ");

// Both lists come first: one look-up for each period and monitor, never a scan of the table.
const inPeriods = (table: typeof uptimeHours) =>
  `from json_each(?) periods cross join json_each(?) keys cross join ${getTableName(table)} sums
   on sums.${table.period.name} = periods.value and sums.monitor_key = keys.value`;
const hoursText = `select monitor_key as monitorKey, ${secondsByStatus} ${inPeriods(uptimeHours)} group by monitor_key`;

/** What these hours add up to for each of these monitors that was measured in them. */
export async function sumsOfHours(
  store: Store,
  monitorKeys: readonly number[],
  periods: readonly number[],
): Promise<Map<number, Seconds>> {
  const rows = await store.query<Seconds & { monitorKey: number }>(hoursText, [
    JSON.stringify(periods),
    JSON.stringify(monitorKeys),
  ]);
  return new Map(rows.map(({ monitorKey, ...sums }) => [monitorKey, sums]));
}

/** Uptime of the last 24 hours of each of these monitors, the current hour included. */
export async function uptime24hOf(
  store: Store,
  monitorKeys: readonly number[],
  nowMs: number,
): Promise<(monitorKey: number) => number | null> {
  const sums = await sumsOfHours(store, monitorKeys, lastPeriods(nowMs, hourMs, 24));
  return (monitorKey) => {
    const found = sums.get(monitorKey);
    return found === undefined ? null : ratioOf(found);
  };
}

const sumColumns = Object.entries(getTableColumns(uptimeHours))
  .slice(2)
  .map(([key, { name }]) => `${name} as ${key}`)
  .join(", ");
const periodText = (table: typeof uptimeHours) =>
  `select ${table.period.name} as period, ${sumColumns} ${inPeriods(table)} order by period`;
const periodTexts = { hours: periodText(uptimeHours), days: periodText(uptimeDays) };

/** The periods among these in which the monitor was measured, oldest first. */
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
  return rows.map((row) => ({ ...row, latencyCounts: countsIn(row.latencyCounts) }));
}

const countsIn = (text: string | null) =>
  text === null ? null : (JSON.parse(text) as LatencyCounts);

/** A part of a span, `width` long: what was found in it. */
export type Point = Omit<Sums, "latencyCounts"> & Percentiles & { at: number };

/** The points in which anything was found, oldest first. */
export async function listPoints(
  store: Store,
  monitorKey: number,
  { from, to, width, source }: LatencySpan,
): Promise<Point[]> {
  if (source === "heartbeats") {
    type Row = Omit<Point, keyof Percentiles> & { latencies: string };
    const rows = await store.query<Row>(rawPoints, [
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
      ...exactPercentiles(JSON.parse(latencies) as number[]),
    }));
  }
  const periodMs = source === "hours" ? hourMs : dayMs;
  const sums = await listSums(store, monitorKey, source, periodsBetween(from, to, periodMs));
  const points = Map.groupBy(sums, ({ period }) => Math.floor((period * periodMs - from) / width));
  return [...points].map(([point, its]) => {
    const total = addSums(its);
    return { at: from + point * width, ...total, ...percentilesOf(total) };
  });
}

const rawPoints = `select (at - ?) / ? * ? + ? as at, ${heartbeatStatuses
  .map((status) => `sum(seconds * (status = ${codeOf(status)})) as ${status}Seconds`)
  .join(", ")}, count(latency_ms) as latencyCount, coalesce(sum(latency_ms), 0) as latencySum,
  min(latency_ms) as latencyMin, max(latency_ms) as latencyMax,
  json_group_array(latency_ms) filter (where latency_ms is not null) as latencies
  from heartbeats where monitor_key = ? and at >= ? and at < ? group by 1 order by 1`;

const reasonText = `select (at - ?) / ? * ? + ? as at, status, message, max(at) as last
  from heartbeats where monitor_key = ? and at >= ? and at < ? and status in (?, ?)
  group by 1, status order by 1, status`;

/** The last message of what failed, or else was degraded, by the begin of its point. */
export async function reasonsOf(
  store: Store,
  key: number,
  { from, to, width }: Pick<LatencySpan, "from" | "to" | "width">,
) {
  const [degraded, down] = [codeOf("degraded"), codeOf("down")];
  const rows = await store.query<{ at: number; message: string | null }>(reasonText, [
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

/** The periods of a span that begins and ends with one. */
function periodsBetween(from: number, to: number, periodMs: number): number[] {
  const first = from / periodMs;
  return Array.from({ length: to / periodMs - first }, (_, index) => first + index);
}
