/** Reads the daily uptime sums of monitors for status pages, and caches past days. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { isMeasured } from "../../monitoring/uptime/rules.ts";
import type { Store } from "../../database/store.ts";
import type { Totals } from "../formats/public-data.ts";

/** SQL for the sums of some monitors in one period. Parameters: monitor keys as JSON, number of the period. */
export const describeTotals = (
  table: "uptime_hours" | "uptime_days",
  period: "hour" | "day",
) => `select u.monitor_key as key, u.up_seconds as upSeconds,
    u.degraded_seconds as degradedSeconds, u.down_seconds as downSeconds,
    u.maintenance_seconds as maintenanceSeconds, u.latency_count as latencyCount,
    u.latency_sum as latencySum
  from json_each(?) wanted cross join ${table} u
    on u.${period} = ? and u.monitor_key = wanted.value`;

const daySql = describeTotals("uptime_days", "day");

/** SQL for the sums of some monitors in several hours. Parameters: hours and monitor keys as JSON. */
const hoursSql = `select u.monitor_key as key, sum(u.up_seconds) as upSeconds,
    sum(u.degraded_seconds) as degradedSeconds, sum(u.down_seconds) as downSeconds,
    sum(u.maintenance_seconds) as maintenanceSeconds
  from json_each(?) hours cross join json_each(?) wanted cross join uptime_hours u
    on u.hour = hours.value and u.monitor_key = wanted.value
  group by u.monitor_key`;

/** Spare days at the end of a cache entry. When they are used up, the whole entry is read again. */
const roomDays = 31;
/** Maximum cached days of all monitors. With their rendered bars they need about 20 MB. */
const maxCachedDays = 250_000;

/** Sums of consecutive days, packed into four numbers per day. Large pages have hundreds of thousands of days. */
class PackedDays {
  readonly since: number;
  readonly #sums: Uint32Array;

  constructor(since: number, count: number) {
    this.since = since;
    this.#sums = new Uint32Array(4 * (count + roomDays));
  }

  get count() {
    return this.#sums.length / 4;
  }

  get(day: number): Totals | undefined {
    const at = 4 * (day - this.since);
    const [upSeconds = 0, degradedSeconds = 0, downSeconds = 0, maintenanceSeconds = 0] =
      at < 0 ? [] : this.#sums.subarray(at, at + 4);
    const totals = { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds };
    return isMeasured(totals) ? totals : undefined;
  }

  set(day: number, totals: Totals) {
    const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = totals;
    const sums = [upSeconds, degradedSeconds, downSeconds, maintenanceSeconds];
    this.#sums.set(sums, 4 * (day - this.since));
  }
}

type CachedDays = { until: number; days: PackedDays };

/** Creates a reader of daily sums by monitor. It caches past days, and reads only yesterday and today again. */
export function createDayReader(store: Store) {
  /** Cache entries by monitor key, least recently used first. */
  const known = new Map<number, CachedDays>();
  let turn: Promise<unknown> = Promise.resolve();

  /** Reads the days `from` to `to` of these monitors into their cache entries. */
  async function readTotals(into: ReadonlyMap<number, PackedDays>, from: number, to: number) {
    const keysJson = JSON.stringify([...into.keys()]);
    for (let day = from; day <= to; day++) {
      const rows = await store.query<Totals & { key: number }>(daySql, [keysJson, day]);
      for (const { key, ...totals } of rows) into.get(key)?.set(day, totals);
      // The first read of many monitors is long, so other work can run between two days.
      await Bun.sleep(0);
    }
  }

  async function readDays(keys: readonly number[], today: number, count: number) {
    const since = today - count + 1;
    const isCached = ({ days, until }: CachedDays) =>
      days.since <= since && until >= today - 1 && today < days.since + days.count;
    const all = new Map<number, PackedDays>();
    const newDays = new Map<number, PackedDays>();
    for (const key of keys) {
      const one = known.get(key);
      const days = one !== undefined && isCached(one) ? one.days : new PackedDays(since, count);
      all.set(key, days);
      if (days !== one?.days) newDays.set(key, days);
    }
    if (newDays.size > 0) await readTotals(newDays, since, today - 2);
    // Results of a day's last seconds are written on the next day, so yesterday can still change.
    await readTotals(all, Math.max(since, today - 1), today);
    for (const [key, days] of all) {
      known.delete(key);
      known.set(key, { until: today, days });
    }
    forgetOldest();
    return all;
  }

  function forgetOldest() {
    let cachedDays = 0;
    for (const { days } of known.values()) cachedDays += days.count;
    for (const [key, { days }] of known) {
      if (cachedDays <= maxCachedDays) return;
      cachedDays -= days.count;
      known.delete(key);
    }
  }

  /** Reads for one page at a time, because pages share the cache entries. */
  return (keys: readonly number[], today: number, count: number) => {
    const result = turn.then(() => readDays(keys, today, count));
    turn = result.catch(() => {});
    return result;
  };
}

/** Reads daily sums up to the last complete hour before a past time, without the cache. */
export async function readDaysUntil(
  store: Store,
  keys: readonly number[],
  at: number,
  count: number,
) {
  const today = Math.floor(at / dayMs);
  const days = await createDayReader(store)(keys, today - 1, count - 1);
  const hours = Array.from(
    { length: Math.floor(at / hourMs) - today * 24 },
    (_, n) => today * 24 + n,
  );
  const sums = await store.query<Totals & { key: number }>(hoursSql, [
    JSON.stringify(hours),
    JSON.stringify(keys),
  ]);
  for (const { key, ...totals } of sums) days.get(key)?.set(today, totals);
  return days;
}
