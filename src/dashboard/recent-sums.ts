/** Caches the measurements of complete hours and days for the Monitors page. */
import { dayMs, formatTimestamp, hourMs } from "../core/time/clock.ts";
import { yieldToEventLoop } from "../core/time/event-loop.ts";
import { cachePerStore, type Store } from "../database/store.ts";
import {
  computeSpanStart,
  isMeasured,
  listLastPeriods,
  type Measured,
  computeRatio,
  spans,
  determineTone,
} from "../monitoring/uptime/rules.ts";
import { describeTotals } from "../status-pages/rendering/days.ts";
import type { Totals } from "../status-pages/formats/public-data.ts";
import { renderSpark } from "./rules.ts";
import type { RecentFigures } from "./store.ts";

/** Measurements of a monitor in one hour, with the letter of the hour in `day`. */
type Hour = Totals & { letter: string; averageMs: number | null };

const letters = { up: "u", degraded: "g", down: "d", maintenance: "m", none: "-" };
const unmeasuredHour: Hour = {
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  maintenanceSeconds: 0,
  letter: letters.none,
  averageMs: null,
};

const hourSql = describeTotals("uptime_hours", "hour");
const daySql = describeTotals("uptime_days", "day");

type Row = Totals & { key: number; latencyCount: number; latencySum: number };

function addSums(total: Measured, sums: Measured) {
  total.upSeconds += sums.upSeconds;
  total.degradedSeconds += sums.degradedSeconds;
  total.downSeconds += sums.downSeconds;
}

/** Monitors per query. Other work can run between two queries. */
const keysPerQuery = 2_500;
/** Reads of at most this many monitors are short enough not to yield. */
const uninterruptedKeys = 100;

/** Creates a reader of the last 24 hours. It caches complete hours, so that it reads two rows per monitor, not 24. */
function createHourReader(store: Store) {
  const known = new Map<number, Map<number, Hour>>();

  async function readHour(hour: number, keys: readonly number[], into: Map<number, Hour>) {
    const rows = await store.query<Row>(hourSql, [JSON.stringify(keys), hour]);
    for (const key of keys) into.set(key, unmeasuredHour);
    for (const { key, latencyCount, latencySum, ...sums } of rows) {
      const averageMs = latencyCount === 0 ? null : latencySum / latencyCount;
      into.set(key, { ...sums, averageMs, letter: letters[determineTone(sums)] });
    }
  }

  return async (keys: readonly number[], nowMs: number) => {
    const periods = listLastPeriods(nowMs, hourMs, spans["24h"].count);
    const current = periods.at(-1) ?? 0;
    for (const hour of known.keys()) if (!periods.includes(hour)) known.delete(hour);
    const all: Map<number, Hour>[] = [];
    for (const hour of periods) {
      const sums = known.get(hour) ?? new Map<number, Hour>();
      known.set(hour, sums);
      // Results of an hour's last seconds are written in the next hour.
      const isOpen = hour >= current - 1;
      const missingKeys = isOpen ? keys : keys.filter((key) => !sums.has(key));
      for (let from = 0; from < missingKeys.length; from += keysPerQuery) {
        await readHour(hour, missingKeys.slice(from, from + keysPerQuery), sums);
        // The first read of many monitors is long, so it yields to other work.
        if (missingKeys.length > uninterruptedKeys) await yieldToEventLoop();
      }
      all.push(sums);
    }
    return (key: number) => {
      const hours = all.map((sums) => sums.get(key) ?? unmeasuredHour);
      const total = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
      for (const hour of hours) addSums(total, hour);
      return {
        day: hours.map(({ letter }) => letter).join(""),
        spark: renderSpark(hours.map(({ averageMs }) => averageMs)),
        uptime24h: computeRatio(total),
      };
    };
  };
}

/** Sums of a monitor over some days, with the letter of each day and the first measured day. */
type Days = Measured & { letters: string; first: number | null };

/** Days that can still change. */
const recentDays = 2;

/** Creates a reader of the last 30 days. It caches the sums of complete days until the next day. */
function createMonthReader(store: Store) {
  let settled = { today: 0, sums: new Map<number, Days>() };

  async function readDays(days: readonly number[], keys: readonly number[]) {
    const sums = new Map<number, Days>();
    for (const key of keys)
      sums.set(key, { upSeconds: 0, degradedSeconds: 0, downSeconds: 0, letters: "", first: null });
    for (const [index, day] of days.entries())
      for (let from = 0; from < keys.length; from += keysPerQuery) {
        const portion = JSON.stringify(keys.slice(from, from + keysPerQuery));
        for (const { key, ...row } of await store.query<Row>(daySql, [portion, day])) {
          const total = sums.get(key);
          if (total === undefined) continue;
          addSums(total, row);
          total.letters = total.letters.padEnd(index, letters.none) + letters[determineTone(row)];
          if (isMeasured(row)) total.first ??= day;
        }
        if (keys.length > uninterruptedKeys) await yieldToEventLoop();
      }
    return sums;
  }

  return async (keys: readonly number[], nowMs: number) => {
    const days = listLastPeriods(nowMs, dayMs, spans["30d"].count);
    const [first = 0, today = 0] = [days[0], days.at(-1)];
    if (settled.today !== today) settled = { today, sums: new Map() };
    const known = settled.sums;
    const missingKeys = keys.filter((key) => !known.has(key));
    if (missingKeys.length > 0)
      for (const [key, sums] of await readDays(days.slice(0, -recentDays), missingKeys))
        known.set(key, sums);
    // Results of a day's last seconds are written on the next day.
    const recent = await readDays(days.slice(-recentDays), keys);
    return (key: number, createdAt: string) => {
      const total = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
      const parts = [known.get(key), recent.get(key)];
      for (const part of parts) if (part !== undefined) addSums(total, part);
      const [earlier = "", latest = ""] = parts.map((part) => part?.letters);
      const month =
        earlier.padEnd(days.length - recentDays, letters.none) +
        latest.padEnd(recentDays, letters.none);
      const measured = parts.find((part) => part?.first != null)?.first ?? null;
      const firstMs = measured === null ? null : measured * dayMs;
      const from = computeSpanStart(first * dayMs, Date.parse(createdAt), firstMs, dayMs);
      return {
        // Monitors that are newer than 30 days need no letters before their first day.
        month: month.replace(/^-+/, ""),
        uptime30d: computeRatio(total),
        since: from > first * dayMs ? formatTimestamp(from) : null,
      };
    };
  };
}

/** Returns a store's reader of the last 24 hours, including the current one. */
export const hoursOf = cachePerStore(createHourReader);
const monthOf = cachePerStore(createMonthReader);

/** Reads the last 24 hours and 30 days of monitors, including the current hour and day. */
export async function readRecent(store: Store, keys: readonly number[], nowMs: number) {
  const hours = await hoursOf(store)(keys, nowMs);
  const month = await monthOf(store)(keys, nowMs);
  return (key: number, createdAt: string): RecentFigures => ({
    ...hours(key),
    ...month(key, createdAt),
  });
}

/** Reads the last complete 24 hours and 30 days of monitors before a past time, without the cache. */
export async function readRecentAt(store: Store, keys: readonly number[], atMs: number) {
  const hours = await createHourReader(store)(keys, atMs - (atMs % hourMs) - 1);
  const month = await createMonthReader(store)(keys, atMs - (atMs % dayMs) - 1);
  return (key: number, createdAt: string): RecentFigures => ({
    ...hours(key),
    ...month(key, createdAt),
  });
}
