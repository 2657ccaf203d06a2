import { heartbeatStatuses } from "../../core/statuses.ts";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { Prepared, Store } from "../../database/store.ts";
import { type heartbeats, uptimeDays, uptimeHours } from "../../database/tables/monitoring.ts";
import {
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
import type { Heartbeat, HeartbeatQuery, HeartbeatStatus, LatencyPoint } from "./schema.ts";

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
    if (key === "latencyMin" || key === "latencyMax") {
      const pick = key === "latencyMin" ? "min" : "max";
      return `${name} = coalesce(${pick}(${name}, excluded.${name}), ${name}, excluded.${name})`;
    }
    return `${name} = ${name} + excluded.${name}`;
  });
  const text = `insert into ${getTableName(table)} (${columns.map(([, { name }]) => name).join(", ")})
    select ${columns.map(() => "?").join(", ")} where changes() > 0
    on conflict do update set ${changes.join(", ")}`;
  return (period: number, monitorKey: number, sums: Sums): Prepared => {
    const row: Record<string, number | null> = { period, monitorKey, ...sums };
    return { text, parameters: columns.map(([key]) => row[key] ?? null) };
  };
}

/** The number that names the monitor in its results; null when the organization has no such monitor. */
export async function findKey(store: Store, organizationId: string, monitorId: string) {
  const [row] = await store.query<{ key: number }>(
    "select key from monitor_states where organization_id = ? and monitor_id = ?",
    [organizationId, monitorId],
  );
  return row?.key ?? null;
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
const daysText = `select day, ${secondsByStatus} ${inPeriods(uptimeDays)} group by day order by day`;

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

/** The days among `periods` on which the monitor was measured, oldest first. */
export function listDays(
  store: Store,
  monitorKey: number,
  periods: readonly number[],
): Promise<(Seconds & { day: number })[]> {
  return store.query(daysText, [JSON.stringify(periods), JSON.stringify([monitorKey])]);
}

/** Points in which anything was measured, oldest first. */
export async function listLatencies(
  store: Store,
  monitorKey: number,
  { from, to, width, source }: LatencySpan,
): Promise<LatencyPoint[]> {
  type Row = { point: number; sum: number; min: number; max: number; checks: number };
  const rows =
    source === "heartbeats"
      ? await store.query<Row>(rawLatencies, [from, width, monitorKey, from, to])
      : await store.query<Row>(source === "hours" ? hourLatencies : dayLatencies, [
          from,
          width,
          JSON.stringify(periodsBetween(from, to, source === "hours" ? hourMs : dayMs)),
          monitorKey,
        ]);
  return rows.map(({ point, sum, min, max, checks }) => ({
    at: new Date(from + point * width).toISOString(),
    averageMs: sum / checks,
    minMs: min,
    maxMs: max,
    checks,
  }));
}

const rawLatencies = `select (at - ?) / ? as point, sum(latency_ms) as sum, min(latency_ms) as min,
  max(latency_ms) as max, count(*) as checks from heartbeats
  where monitor_key = ? and at >= ? and at < ? and latency_ms is not null group by point order by point`;
const rolledLatencies = (table: typeof uptimeHours, periodMs: number) => `
  select (sums.${table.period.name} * ${periodMs} - ?) / ? as point, sum(latency_sum) as sum,
    min(latency_min) as min, max(latency_max) as max, sum(latency_count) as checks
  from json_each(?) periods cross join ${getTableName(table)} sums
    on sums.${table.period.name} = periods.value and sums.monitor_key = ?
  where latency_count > 0 group by point order by point`;
const hourLatencies = rolledLatencies(uptimeHours, hourMs);
const dayLatencies = rolledLatencies(uptimeDays, dayMs);

/** The periods of a span that begins and ends with one. */
function periodsBetween(from: number, to: number, periodMs: number): number[] {
  const first = from / periodMs;
  return Array.from({ length: to / periodMs - first }, (_, index) => first + index);
}
