import type { Statement, Store } from "../database/store.ts";
import { dayMs, hourMs } from "./rules.ts";

/** Days that results are kept; daily sums stay for ever. */
export type Retention = { heartbeatDays: number; hourDays: number };

/** Rows deleted in one write: a few milliseconds, after which others have their turn. */
const portion = 1_000;

/** Monitors looked at in one go. */
const keysInTurn = 50;

/**
 * Removes results that are older than they are to be kept, and all of monitors that are gone; `isOver`
 * ends it between two portions.
 */
export async function sweepResults(
  store: Store,
  nowMs: number,
  { heartbeatDays, hourDays }: Retention,
  isOver: () => boolean = () => false,
): Promise<void> {
  const oldest = nowMs - heartbeatDays * dayMs;
  let seen = 0;
  for (let key = await nextKey(store, -1); key !== null; key = await nextKey(store, key)) {
    if (++seen % keysInTurn === 0) await Bun.sleep(0);
    const isAlive = await has(store, "select 1 as found from monitor_states where key = ?", key);
    if (!isAlive) await sweepSums(store, key);
    await sweepHeartbeats(store, key, isAlive ? oldest : Number.MAX_SAFE_INTEGER, isOver);
    if (isOver()) return;
  }
  await sweepHours(store, Math.floor((nowMs - hourDays * dayMs) / hourMs), isOver);
}

/** The keys that have heartbeats, one look-up each, whatever the number of rows. */
async function nextKey(store: Store, after: number): Promise<number | null> {
  const text = "select min(monitor_key) as key from heartbeats where monitor_key > ?";
  const [row] = await store.query<{ key: number | null }>(text, [after]);
  return row?.key ?? null;
}

async function has(store: Store, text: string, key: number): Promise<boolean> {
  return (await store.query(text, [key])).length > 0;
}

async function inTurn(store: Store, statement: Statement) {
  await store.atomic([statement]);
  await Bun.sleep(0);
}

async function sweepHeartbeats(store: Store, key: number, before: number, isOver: () => boolean) {
  const text = `select max(at) as last from (
    select at from heartbeats where monitor_key = ? and at < ? order by at limit ${portion})`;
  while (!isOver()) {
    const [row] = await store.query<{ last: number | null }>(text, [key, before]);
    if (row?.last === null || row === undefined) return;
    const parameters = [key, row.last];
    await inTurn(store, {
      text: "delete from heartbeats where monitor_key = ? and at <= ?",
      parameters,
    });
  }
}

/** What sums a monitor that is gone has left behind. */
async function sweepSums(store: Store, key: number) {
  for (const [table, period] of [
    ["uptime_hours", "hour"],
    ["uptime_days", "day"],
  ] as const) {
    const ends = `select min(${period}) as first, max(${period}) as last from ${table}`;
    const [range] = await store.query<{ first: number | null; last: number }>(ends, []);
    if (range === undefined || range.first === null) continue;
    for (let from = range.first; from <= range.last; from += portion) {
      const periods = Array.from({ length: portion }, (_, index) => from + index);
      await inTurn(store, {
        text: `delete from ${table} where monitor_key = ?
          and ${period} in (select value from json_each(?))`,
        parameters: [key, JSON.stringify(periods)],
      });
    }
  }
}

async function sweepHours(store: Store, before: number, isOver: () => boolean) {
  const text = `select hour, max(monitor_key) as last from (
    select hour, monitor_key from uptime_hours where hour = (select min(hour) from uptime_hours)
    order by monitor_key limit ${portion}) where hour < ? group by hour`;
  while (!isOver()) {
    const [row] = await store.query<{ hour: number; last: number }>(text, [before]);
    if (row === undefined) return;
    await inTurn(store, {
      text: "delete from uptime_hours where hour = ? and monitor_key <= ?",
      parameters: [row.hour, row.last],
    });
  }
}
