/** Writes the heartbeats and the hourly and daily totals of an import, in key order and in bounded writes. */
import { bucketOf } from "../core/collections/percentiles.ts";
import { dayMs, hourMs } from "../core/time/clock.ts";
import { toRemoteLine } from "../core/text/formatting.ts";
import type { Parameter, Prepared, Statement, Store } from "../database/store.ts";
import { codeOf } from "../monitoring/uptime/rules.ts";
import type { Beat, History, Sum } from "./plan.ts";
import { addTotalsSql, sumColumns } from "./store.ts";

/** Row limits per statement, per write and per sort. */
const rowsPerStatement = 200;
const rowsPerWrite = 10_000;
const rowsPerSortedFlush = 40_000;

/** Destination of a monitor's heartbeats. */
export type Destination = {
  /** Key under which the heartbeats are written. */
  key: number;
  intervalSeconds: number;
  /** Only heartbeats after this time are imported, in Unix milliseconds; null imports all. */
  after: number | null;
};

type Row = Parameter[];
type Counts = { heartbeats: number; hours: number; days: number };
/** Counts of written rows, and the keys they were written under. */
type WrittenCounts = Counts & { keys: Set<number> };
type Options = {
  store: Store;
  /** Returns guard statements for each write, which fail if the import is no longer running. */
  touch: () => Statement[];
  /** Cutoff for heartbeats, in Unix milliseconds. Older heartbeats are skipped. */
  keepBeatsFrom: number;
  keepHoursFrom: number;
  progress: (read: number) => void;
};

const unitTables = {
  hours: ["uptime_hours", "hour", hourMs],
  days: ["uptime_days", "day", dayMs],
} as const;
type Unit = keyof typeof unitTables;

const beatTable = "heartbeats (monitor_key, at, status, latency_ms, seconds, message)";
const describeSumTable = (unit: Unit) =>
  `${unitTables[unit][0]} (${unitTables[unit][1]}, monitor_key, ${sumColumns.join(", ")})`;

/**
 * Writes heartbeats under reserved keys, so that they stay invisible until the import commits.
 * Yields to the event loop between writes.
 */
export async function writeHistory(
  history: History,
  destinations: ReadonlyMap<string, Destination>,
  options: Options,
): Promise<WrittenCounts> {
  const hasSums = history.sums !== null;
  const counts: WrittenCounts = { heartbeats: 0, hours: 0, days: 0, keys: new Set() };
  const write = createWriter(options, counts);
  const summing = new BeatWriter(write, hasSums, options);
  let readCount = 0;
  const recordProgress = async (count: number) => {
    await write.flushLarge();
    options.progress((readCount += count));
  };
  for (const unit of hasSums ? (["hours", "days"] as const) : [])
    for await (const sums of history.sums?.(unit) ?? []) {
      for (const sum of sums) {
        const to = destinations.get(sum.externalId);
        const row = to === undefined ? null : buildRowOfSum(unit, sum, to, options.keepHoursFrom);
        if (row !== null) write.add(unit, row);
      }
      await recordProgress(sums.length);
    }
  for await (const beats of history.beats(hasSums ? options.keepBeatsFrom : 0)) {
    for (const beat of beats) {
      const to = destinations.get(beat.externalId);
      if (to !== undefined) summing.add(beat, to);
    }
    await recordProgress(beats.length);
  }
  summing.flushPeriods();
  await write.flushAll();
  options.progress(history.total);
  return counts;
}

/** Returns the row of a total; null if it is empty, already imported or beyond the retention. */
function buildRowOfSum(unit: Unit, sum: Sum, to: Destination, keepHoursFrom: number): Row | null {
  const periodMs = unitTables[unit][2];
  if (to.after !== null && sum.period <= Math.floor(to.after / periodMs)) return null;
  if (unit === "hours" && sum.period * hourMs < keepHoursFrom) return null;
  return buildSumRow(sum, to, periodMs / 1_000);
}

/** Writes heartbeats. Computes totals for periods that have no total in the source. */
class BeatWriter {
  readonly #write: ReturnType<typeof createWriter>;
  readonly #hasSums: boolean;
  readonly #options: Options;
  readonly #running = new Map<number, HistoryProgress>();

  constructor(write: ReturnType<typeof createWriter>, hasSums: boolean, options: Options) {
    this.#write = write;
    this.#hasSums = hasSums;
    this.#options = options;
  }

  add(beat: Beat, to: Destination) {
    if (to.after !== null && beat.at <= to.after) return;
    const running = this.#running.get(to.key) ?? {
      key: to.key,
      lastAt: null,
      hours: null,
      days: null,
    };
    this.#running.set(to.key, running);
    if (beat.at === running.lastAt) return;
    const gap = running.lastAt === null ? Infinity : Math.round((beat.at - running.lastAt) / 1_000);
    // After a clock change, heartbeats can be out of order. They then cover no time.
    const seconds = Math.max(0, Math.min(gap, to.intervalSeconds));
    running.lastAt = Math.max(running.lastAt ?? 0, beat.at);
    for (const unit of ["hours", "days"] as const) this.#sum(unit, running, beat, seconds, to);
    if (beat.at >= this.#options.keepBeatsFrom)
      this.#write.add("heartbeats", [
        to.key,
        beat.at,
        codeOf(beat.status),
        beat.latencyMs,
        seconds,
        beat.status === "up" ? null : toMessageLine(beat.message),
      ]);
  }

  /** Writes the totals of the last periods. */
  flushPeriods() {
    for (const running of this.#running.values())
      for (const unit of ["hours", "days"] as const) this.#close(unit, running);
  }

  #sum(unit: Unit, running: HistoryProgress, beat: Beat, seconds: number, { after }: Destination) {
    const periodMs = unitTables[unit][2];
    const period = Math.floor(beat.at / periodMs);
    // The source's total of a partly imported period would count the imported heartbeats twice.
    const isPartlyImported = after !== null && period === Math.floor(after / periodMs);
    if (this.#hasSums && !isPartlyImported) return;
    if (running[unit]?.period !== period) {
      this.#close(unit, running);
      running[unit] = createSum(period);
    }
    addToSum(running[unit], beat, seconds);
  }

  #close(unit: Unit, running: HistoryProgress) {
    const sum = running[unit];
    if (sum === null) return;
    if (unit === "hours" && sum.period * hourMs < this.#options.keepHoursFrom) return;
    this.#write.add(unit, [
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
      sum.max,
      sum.count === 0 ? null : JSON.stringify(Object.fromEntries(sum.buckets)),
    ]);
  }
}

const toMessageLine = (message: string | null) =>
  message === null ? null : toRemoteLine(message, 500);

type RunningSum = {
  period: number;
  up: number;
  down: number;
  maintenance: number;
  count: number;
  total: number;
  least: number | null;
  max: number | null;
  buckets: Map<string, number>;
};
type HistoryProgress = { key: number; lastAt: number | null } & Record<Unit, RunningSum | null>;

const createSum = (period: number): RunningSum => ({
  period,
  up: 0,
  down: 0,
  maintenance: 0,
  count: 0,
  total: 0,
  least: null,
  max: null,
  buckets: new Map(),
});

function addToSum(sum: RunningSum | null, { status, latencyMs }: Beat, seconds: number) {
  if (sum === null) return;
  sum[status] += seconds;
  if (latencyMs === null) return;
  sum.count++;
  sum.total += latencyMs;
  sum.least = Math.min(sum.least ?? latencyMs, latencyMs);
  sum.max = Math.max(sum.max ?? latencyMs, latencyMs);
  const bucket = String(bucketOf(latencyMs));
  sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
}

/**
 * Converts counts of checks to seconds: each status gets its share of the covered time. Returns null without checks.
 */
function buildSumRow(
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

/** Collects rows and writes them in key order. */
function createWriter({ store, touch }: Options, written: WrittenCounts) {
  const waiting: Record<keyof Counts, Row[]> = { heartbeats: [], hours: [], days: [] };

  async function flush(name: keyof Counts) {
    const rows = waiting[name];
    if (rows.length === 0) return;
    waiting[name] = [];
    rows.sort(
      (one, other) => Number(one[0]) - Number(other[0]) || Number(one[1]) - Number(other[1]),
    );
    for (let from = 0; from < rows.length; from += rowsPerWrite) {
      const portion = rows.slice(from, from + rowsPerWrite);
      const statements: Prepared[] = [];
      for (let at = 0; at < portion.length; at += rowsPerStatement)
        statements.push(prepareInsert(name, portion.slice(at, at + rowsPerStatement)));
      await store.atomic([...touch(), ...statements]);
      written[name] += portion.length;
    }
  }

  return {
    add(name: keyof Counts, row: Row) {
      waiting[name].push(row);
      written.keys.add(Number(row[name === "heartbeats" ? 0 : 1]));
    },
    async flushLarge() {
      for (const name of Object.keys(waiting) as (keyof Counts)[])
        if (waiting[name].length >= rowsPerSortedFlush) await flush(name);
    },
    async flushAll() {
      for (const name of Object.keys(waiting) as (keyof Counts)[]) await flush(name);
    },
  };
}

function prepareInsert(name: keyof Counts, rows: readonly Row[]): Prepared {
  const table = name === "heartbeats" ? beatTable : describeSumTable(name);
  const values = `(${(rows[0] ?? []).map(() => "?").join(", ")})`;
  const conflict = name === "heartbeats" ? "do nothing" : `do update set ${addTotalsSql}`;
  return {
    text: `insert into ${table} values ${rows.map(() => values).join(", ")} on conflict ${conflict}`,
    parameters: rows.flat(),
  };
}
