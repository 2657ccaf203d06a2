/** Deletes results past their retention, and the results of deleted monitors. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";

/** Retention of results in days. Daily sums are never deleted. */
type Retention = { heartbeatDays: number; hourDays: number };

/** Monitors per query. */
const monitorsPerQuery = 50;
/** Hours or days per query. */
const periodsPerQuery = 1_000;

/** Deletes heartbeats, screenshots and hourly sums past their retention. */
export async function sweepResults(context: SweepContext, { heartbeatDays, hourDays }: Retention) {
  const { store, now, isOver } = context;
  const oldest = now - heartbeatDays * dayMs;
  // Deleted monitors are included, because they can be restored.
  const live = `select key, exists (select 1 from heartbeats where monitor_key = key and at < ?) as isOld
    from (select key from monitor_states union all
      select monitor_key from deleted_records where monitor_key is not null) where key > ? order by key limit ${monitorsPerQuery}`;
  for (let last = -1; !isOver();) {
    const keys = await store.query<{ key: number; isOld: 0 | 1 }>(live, [oldest, last]);
    for (const { key, isOld } of keys) if (isOld) await sweepHeartbeats(context, key, oldest);
    last = keys.at(-1)?.key ?? last;
    if (keys.length < monitorsPerQuery) break;
    await Bun.sleep(0);
  }
  await sweepRows(context, "screenshots", "at < ?", [oldest]);
  const firstHour = Math.floor((now - hourDays * dayMs) / hourMs);
  await sweepHours(context, "uptime_hours", firstHour);
  await sweepHours(context, "number_hours", firstHour);
}

/** Deletes all results of deleted monitors. */
export async function sweepRemovedMonitors(context: SweepContext): Promise<void> {
  const removed = await context.store.query<{ key: number }>(
    "select key from removed_monitors",
    [],
  );
  for (const { key } of removed) await sweepMonitor(context, key);
}

async function sweepHeartbeats({ store, inPortions }: SweepContext, key: number, before: number) {
  const oldest = `select max(at) as last, count(*) as rows from (
    select at from heartbeats where monitor_key = ? and at < ? order by at limit ?)`;
  await inPortions(async (size) => {
    const [found] = await store.query<{ last: number | null; rows: number }>(oldest, [
      key,
      before,
      size,
    ]);
    if (!found?.last) return false;
    await store.atomic([
      {
        text: "delete from heartbeats where monitor_key = ? and at <= ?",
        parameters: [key, found.last],
      },
    ]);
    return found.rows === size;
  });
}

/** Deletes all results of a deleted monitor. Deletes its key last, so that an interrupted run can continue later. */
async function sweepMonitor(context: SweepContext, key: number) {
  const { store, isOver } = context;
  await sweepHeartbeats(context, key, Number.MAX_SAFE_INTEGER);
  await sweepSums(context, "uptime_hours", "hour", key);
  await sweepSums(context, "uptime_days", "day", key);
  await sweepSums(context, "number_hours", "hour", key);
  await sweepSums(context, "number_days", "day", key);
  if (isOver()) return;
  await store.atomic([
    { text: "delete from push_reports where monitor_key = ?", parameters: [key] },
    { text: "delete from removed_monitors where key = ?", parameters: [key] },
  ]);
}

async function sweepSums(
  { store, inPortions }: SweepContext,
  table: string,
  period: string,
  key: number,
) {
  const boundsSql = `select (select min(${period}) from ${table}) as first,
    (select max(${period}) from ${table}) as last`;
  type Ends = { first: number | null; last: number };
  const [{ first, last } = { first: null, last: 0 }] = await store.query<Ends>(boundsSql, []);
  if (first === null) return;
  const rowsSql = `${table} where monitor_key = ? and ${period} in (select value from json_each(?))`;
  let from = first;
  await inPortions(async () => {
    const periods = Array.from({ length: periodsPerQuery }, (_, index) => from + index);
    const parameters = [key, JSON.stringify(periods)];
    const found = await store.query(`select 1 from ${rowsSql} limit 1`, parameters);
    if (found.length > 0) await store.atomic([{ text: `delete from ${rowsSql}`, parameters }]);
    from += periodsPerQuery;
    return from <= last;
  });
}

async function sweepHours({ store, inPortions }: SweepContext, table: string, before: number) {
  const oldest = `select hour, max(monitor_key) as last from (
    select hour, monitor_key from ${table} where hour = (select min(hour) from ${table})
    order by monitor_key limit ?) where hour < ? group by hour`;
  await inPortions(async (size) => {
    const [row] = await store.query<{ hour: number; last: number }>(oldest, [size, before]);
    if (row === undefined) return false;
    await store.atomic([
      {
        text: `delete from ${table} where hour = ? and monitor_key <= ?`,
        parameters: [row.hour, row.last],
      },
    ]);
    return true;
  });
}
