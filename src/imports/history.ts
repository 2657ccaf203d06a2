import { bucketOf } from "../core/collections/percentiles.ts";
import { dayMs, hourMs } from "../core/time/clock.ts";
import { toRemoteLine } from "../core/text/words.ts";
import type { Parameter, Prepared, Statement, Store } from "../database/store.ts";
import { codeOf } from "../monitoring/uptime/rules.ts";
import type { Beat, History, Sum } from "./plan.ts";
import { addition, sumColumns } from "./store.ts";

/** Rows of one statement, of one write, and of what is put in order before it is written. */
const rowsOfStatement = 200;
const rowsOfWrite = 10_000;
const rowsInOrder = 40_000;

/** Where results of a monitor go. */
export type Destination = {
  /** The number that they are written under. */
  key: number;
  intervalSeconds: number;
  /** Results after this time alone, in Unix milliseconds; null for all. */
  after: number | null;
};

type Row = Parameter[];
type Counts = { heartbeats: number; hours: number; days: number };
/** How many rows were written, and under which numbers. */
type Written = Counts & { keys: Set<number> };
type Options = {
  store: Store;
  /** Goes into each write: holds while the import goes on. */
  touch: () => Statement[];
  /** Results and hours older than this are not kept, in Unix milliseconds. */
  keepBeatsFrom: number;
  keepHoursFrom: number;
  progress: (read: number) => void;
};

const units = {
  hours: ["uptime_hours", "hour", hourMs],
  days: ["uptime_days", "day", dayMs],
} as const;
type Unit = keyof typeof units;

const beatTable = "heartbeats (monitor_key, at, status, latency_ms, seconds, message)";
const sumTable = (unit: Unit) =>
  `${units[unit][0]} (${units[unit][1]}, monitor_key, ${sumColumns.join(", ")})`;

/**
 * Writes results under numbers that no monitor has yet: they are seen when one gets them. In portions
 * between which everything else goes on.
 */
export async function writeHistory(
  history: History,
  destinations: ReadonlyMap<string, Destination>,
  options: Options,
): Promise<Written> {
  const { progress, keepBeatsFrom, keepHoursFrom } = options;
  const written: Written = { heartbeats: 0, hours: 0, days: 0, keys: new Set() };
  let read = 0;
  const write = writer(options, written);
  const { sums } = history;
  for (const unit of sums === null ? [] : (["hours", "days"] as const)) {
    const periodMs = units[unit][2];
    for await (const some of sums?.(unit) ?? []) {
      for (const sum of some) {
        const to = destinations.get(sum.externalId);
        const row = to === undefined ? null : sumRow(sum, to, periodMs / 1_000);
        if (to === undefined || row === null) continue;
        if (to.after !== null && sum.period <= Math.floor(to.after / periodMs)) continue;
        if (unit === "hours" && sum.period * hourMs < keepHoursFrom) continue;
        write.add(unit, row);
      }
      await write.whenMany();
      progress((read += some.length));
    }
  }
  const open = new Map<number, Running>();
  const close = (unit: Unit, running: Running) => {
    const sum = running[unit];
    if (sum === null || (unit === "hours" && sum.period * hourMs < keepHoursFrom)) return;
    write.add(unit, [
      sum.period,
      running.key,
      sum.up,
      0,
      sum.down,
      0,
      sum.maintenance,
      sum.count,
      sum.total,
      sum.least,
      sum.most,
      sum.count === 0 ? null : JSON.stringify(Object.fromEntries(sum.buckets)),
    ]);
  };
  for await (const some of history.beats(sums === null ? 0 : keepBeatsFrom)) {
    for (const beat of some) {
      const to = destinations.get(beat.externalId);
      if (to === undefined || (to.after !== null && beat.at <= to.after)) continue;
      let running = open.get(to.key);
      if (running === undefined)
        open.set(to.key, (running = { key: to.key, lastAt: null, hours: null, days: null }));
      const gap =
        running.lastAt === null ? Infinity : Math.round((beat.at - running.lastAt) / 1_000);
      // A clock that was set back left beats out of order: they stand for no time of their own.
      const seconds = Math.max(0, Math.min(gap, to.intervalSeconds));
      if (beat.at === running.lastAt) continue;
      running.lastAt = Math.max(running.lastAt ?? 0, beat.at);
      for (const unit of ["hours", "days"] as const) {
        const period = Math.floor(beat.at / units[unit][2]);
        const isPartOf = to.after !== null && period === Math.floor(to.after / units[unit][2]);
        if (sums !== null && !isPartOf) continue;
        if (running[unit]?.period !== period) {
          close(unit, running);
          running[unit] = emptySum(period);
        }
        count(running[unit], beat, seconds);
      }
      if (beat.at >= keepBeatsFrom)
        write.add("heartbeats", [
          to.key,
          beat.at,
          codeOf(beat.status),
          beat.latencyMs,
          seconds,
          beat.status === "up" ? null : lineOf(beat.message),
        ]);
    }
    await write.whenMany();
    progress((read += some.length));
  }
  for (const running of open.values())
    for (const unit of ["hours", "days"] as const) close(unit, running);
  await write.all();
  progress(history.total);
  return written;
}

const lineOf = (message: string | null) => (message === null ? null : toRemoteLine(message, 500));

type RunningSum = {
  period: number;
  up: number;
  down: number;
  maintenance: number;
  count: number;
  total: number;
  least: number | null;
  most: number | null;
  buckets: Map<string, number>;
};
type Running = { key: number; lastAt: number | null } & Record<Unit, RunningSum | null>;

const emptySum = (period: number): RunningSum => ({
  period,
  up: 0,
  down: 0,
  maintenance: 0,
  count: 0,
  total: 0,
  least: null,
  most: null,
  buckets: new Map(),
});

function count(sum: RunningSum | null, { status, latencyMs }: Beat, seconds: number) {
  if (sum === null) return;
  sum[status] += seconds;
  if (latencyMs === null) return;
  sum.count++;
  sum.total += latencyMs;
  sum.least = Math.min(sum.least ?? latencyMs, latencyMs);
  sum.most = Math.max(sum.most ?? latencyMs, latencyMs);
  const bucket = String(bucketOf(latencyMs));
  sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
}

/** Counted checks as seconds: each part of the period that they cover has its share of it. Null for none. */
function sumRow(
  { period, up, down, maintenance, latency }: Sum,
  { key, intervalSeconds }: Destination,
  seconds: number,
): Row | null {
  const checks = up + down + maintenance;
  if (checks === 0 || !Number.isSafeInteger(period) || period < 0) return null;
  const covered = Math.min(seconds, checks * intervalSeconds);
  const share = (part: number) =>
    part === 0 ? 0 : Math.max(1, Math.round((covered * part) / checks));
  return [
    period,
    key,
    share(up),
    0,
    share(down),
    0,
    share(maintenance),
    latency === null ? 0 : up,
    latency === null ? 0 : Math.round(latency.mean * up),
    latency === null ? null : Math.round(latency.min),
    latency === null ? null : Math.round(latency.max),
    null,
  ];
}

/** Gathers rows and writes them in the order of their keys. */
function writer({ store, touch }: Options, written: Written) {
  const waiting: Record<keyof Counts, Row[]> = { heartbeats: [], hours: [], days: [] };

  async function flush(name: keyof Counts) {
    const rows = waiting[name];
    if (rows.length === 0) return;
    waiting[name] = [];
    rows.sort(
      (one, other) => Number(one[0]) - Number(other[0]) || Number(one[1]) - Number(other[1]),
    );
    for (let from = 0; from < rows.length; from += rowsOfWrite) {
      const some = rows.slice(from, from + rowsOfWrite);
      const statements: Prepared[] = [];
      for (let at = 0; at < some.length; at += rowsOfStatement)
        statements.push(insertOf(name, some.slice(at, at + rowsOfStatement)));
      await store.atomic([...touch(), ...statements]);
      written[name] += some.length;
    }
  }

  return {
    add(name: keyof Counts, row: Row) {
      waiting[name].push(row);
      written.keys.add(Number(row[name === "heartbeats" ? 0 : 1]));
    },
    async whenMany() {
      for (const name of Object.keys(waiting) as (keyof Counts)[])
        if (waiting[name].length >= rowsInOrder) await flush(name);
    },
    async all() {
      for (const name of Object.keys(waiting) as (keyof Counts)[]) await flush(name);
    },
  };
}

function insertOf(name: keyof Counts, rows: readonly Row[]): Prepared {
  const table = name === "heartbeats" ? beatTable : sumTable(name);
  const values = `(${(rows[0] ?? []).map(() => "?").join(", ")})`;
  const conflict = name === "heartbeats" ? "do nothing" : `do update set ${addition}`;
  return {
    text: `insert into ${table} values ${rows.map(() => values).join(", ")} on conflict ${conflict}`,
    parameters: rows.flat(),
  };
}
