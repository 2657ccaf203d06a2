import type { Statement, Store } from "../../database/store.ts";
import { dayMs, hourMs } from "./rules.ts";

/** Days that results are kept; daily sums stay for ever. */
type Retention = { heartbeatDays: number; hourDays: number };

/** Rows deleted in one write: a few milliseconds, after which others have their turn. */
const portion = 1_000;
/** Monitors looked at in one go. */
const keysInTurn = 50;

/**
 * Removes results that are older than they are to be kept, and all of monitors that are gone; `isOver`
 * ends it between two portions, and the next sweep goes on.
 */
export async function sweepResults(
  store: Store,
  nowMs: number,
  { heartbeatDays, hourDays }: Retention,
  isOver: () => boolean = () => false,
): Promise<void> {
  const removed = await store.query<{ key: number }>("select key from removed_monitors", []);
  for (const { key } of removed) await sweepMonitor(store, key, isOver);
  const oldest = nowMs - heartbeatDays * dayMs;
  const live = "select key from monitor_states where key > ? order by key limit ?";
  for (let last = -1; ;) {
    const keys = await store.query<{ key: number }>(live, [last, keysInTurn]);
    for (const { key } of keys) await sweepHeartbeats(store, key, oldest, isOver);
    last = keys.at(-1)?.key ?? last;
    if (keys.length < keysInTurn || isOver()) break;
    await Bun.sleep(0);
  }
  await sweepHours(store, Math.floor((nowMs - hourDays * dayMs) / hourMs), isOver);
}

async function yieldThenWrite(store: Store, statement: Statement) {
  await store.atomic([statement]);
  await Bun.sleep(0);
}

async function sweepHeartbeats(store: Store, key: number, before: number, isOver: () => boolean) {
  const text = `select max(at) as last from (
    select at from heartbeats where monitor_key = ? and at < ? order by at limit ${portion})`;
  while (!isOver()) {
    const [row] = await store.query<{ last: number | null }>(text, [key, before]);
    if (row === undefined || row.last === null) return;
    await yieldThenWrite(store, {
      text: "delete from heartbeats where monitor_key = ? and at <= ?",
      parameters: [key, row.last],
    });
  }
}

/** Everything of a monitor that is gone; its key is forgotten last. */
async function sweepMonitor(store: Store, key: number, isOver: () => boolean) {
  await sweepHeartbeats(store, key, Number.MAX_SAFE_INTEGER, isOver);
  await sweepSums(store, "uptime_hours", "hour", key, isOver);
  await sweepSums(store, "uptime_days", "day", key, isOver);
  if (!isOver())
    await yieldThenWrite(store, {
      text: "delete from removed_monitors where key = ?",
      parameters: [key],
    });
}

async function sweepSums(
  store: Store,
  table: string,
  period: string,
  key: number,
  isOver: () => boolean,
) {
  const ends = `select (select min(${period}) from ${table}) as first,
    (select max(${period}) from ${table}) as last`;
  const [{ first, last } = { first: null, last: 0 }] = await store.query<{
    first: number | null;
    last: number;
  }>(ends, []);
  if (first === null) return;
  const its = `${table} where monitor_key = ? and ${period} in (select value from json_each(?))`;
  for (let from = first; from <= last && !isOver(); from += portion) {
    const periods = Array.from({ length: portion }, (_, index) => from + index);
    const parameters = [key, JSON.stringify(periods)];
    const found = await store.query(`select 1 from ${its} limit 1`, parameters);
    if (found.length > 0) await yieldThenWrite(store, { text: `delete from ${its}`, parameters });
  }
}

async function sweepHours(store: Store, before: number, isOver: () => boolean) {
  const text = `select hour, max(monitor_key) as last from (
    select hour, monitor_key from uptime_hours where hour = (select min(hour) from uptime_hours)
    order by monitor_key limit ${portion}) where hour < ? group by hour`;
  while (!isOver()) {
    const [row] = await store.query<{ hour: number; last: number }>(text, [before]);
    if (row === undefined) return;
    await yieldThenWrite(store, {
      text: "delete from uptime_hours where hour = ? and monitor_key <= ?",
      parameters: [row.hour, row.last],
    });
  }
}
