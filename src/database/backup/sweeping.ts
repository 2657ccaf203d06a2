/** Removes old rows in small batches that don't delay other requests. */
import { hourMs } from "../../core/time/clock.ts";
import type { Parameter, Statement, Store } from "../store.ts";

/** Target duration of one cleanup write, in milliseconds. */
const targetMs = 10;
/** Minimum and maximum batch size, in rows. */
const minBatch = 25;
const maxBatchRows = 1_000;
/** Pause after a batch, in milliseconds per millisecond of cleanup. It leaves time for other requests. */
const pauseMs = 3;

/** Context of cleanup jobs. `isOver` stops a job between batches, and the next run continues it. */
export type SweepContext = {
  store: Store;
  now: number;
  isOver: () => boolean;
  /**
   * Calls `remove` with a batch size until it returns false, because no rows are left. The size adapts to the speed
   * of the machine.
   */
  inPortions: (remove: (size: number) => Promise<boolean>) => Promise<void>;
};

export function createSweeping(
  store: Store,
  now: number,
  isOver: () => boolean = () => false,
): SweepContext {
  let size = maxBatchRows;
  return {
    store,
    now,
    isOver,
    async inPortions(remove) {
      while (!isOver()) {
        const since = performance.now();
        const hasMore = await remove(size);
        const tookMs = performance.now() - since;
        const fitting = Math.max((size * targetMs) / tookMs, size / 4, minBatch);
        size = Math.round(Math.min(fitting, size * 2, maxBatchRows));
        await Bun.sleep(tookMs * pauseMs);
        if (!hasMore) return;
      }
    },
  };
}

/** Removes all rows that match a condition. */
export async function sweepRows(
  { store, inPortions }: SweepContext,
  table: string,
  condition: string,
  parameters: readonly Parameter[],
): Promise<void> {
  const portion = `from ${table} where ${condition} limit ?`;
  await inPortions(async (size) => {
    const [found] = await store.query<{ rows: number }>(
      `select count(*) as rows from (select 1 ${portion})`,
      [...parameters, size],
    );
    if (found === undefined || found.rows === 0) return false;
    await store.atomic([
      {
        text: `delete from ${table} where rowid in (select rowid ${portion})`,
        parameters: [...parameters, size],
      },
    ]);
    return found.rows === size;
  });
}

/** A log entry: its sequence number, its time, and its number of dependent rows. */
export type LogEntry = { seq: number; at: string; rows?: number };

type LogBounds = {
  /** Name under which the newest removed time is stored. */
  name: string;
  retentionMs: number;
  /** Exclusive lower bound of removable entries. */
  from?: number;
  /** Inclusive upper bound of removable entries. */
  last?: number;
};

/**
 * Removes log entries that are older than `retentionMs`, oldest first. Returns the position of the last removed entry, or
 * `from`. `oldest` is a query for entries after a position; `remove` creates the statements for a range of positions.
 */
export async function sweepLog(
  { store, now, inPortions }: SweepContext,
  { name, retentionMs, from = 0, last = Number.MAX_SAFE_INTEGER }: LogBounds,
  oldest: string,
  remove: (from: number, to: number) => Statement[],
): Promise<number> {
  const memory = `${name} removed up to`;
  let [removed, read] = [from, from];
  let newest = (await findHousekeepingValue(store, memory)) ?? 0;
  await inPortions(async (size) => {
    const found = await store.query<LogEntry>(oldest, [read, size]);
    const entries = limitRows(found, size).filter(({ seq }) => seq <= last);
    const ages = findRemovable(entries, { now, before: now - retentionMs, newest });
    if (ages.to !== null) {
      await store.atomic([...remove(removed, ages.to), setHousekeepingValue(memory, ages.newest)]);
      removed = ages.to;
    }
    newest = ages.newest;
    read = entries.at(-1)?.seq ?? read;
    return !ages.isEnd && entries.length > 0;
  });
  return removed;
}

/** Reads a stored value of a cleanup job; null if there is none. */
export async function findHousekeepingValue(store: Store, name: string): Promise<number | null> {
  const [row] = await store.query<{ value: number }>(
    "select value from housekeeping where name = ?",
    [name],
  );
  return row?.value ?? null;
}

export function setHousekeepingValue(name: string, value: number): Statement {
  return {
    text: "insert or replace into housekeeping (name, value) values (?, ?)",
    parameters: [name, value],
  };
}

function limitRows(entries: readonly LogEntry[], size: number): readonly LogEntry[] {
  let rows = 0;
  const end = entries.findIndex((entry) => (rows += entry.rows ?? 1) > size);
  return end === -1 ? entries : entries.slice(0, Math.max(end, 1));
}

/** Tolerated clock correction, in milliseconds. */
const toleranceMs = hourMs;
/** Earliest plausible time. The first release is newer. */
const earliestMs = Date.UTC(2025, 0);

/**
 * Finds the last removable entry, and whether one that is too young follows. An entry older than `before` makes all
 * entries before it removable. Skips entries with implausible times: later than `now`, or earlier than `newest`, the
 * newest removed time. The next plausible entry decides about them.
 */
export function findRemovable(
  entries: readonly LogEntry[],
  { now, before, newest }: { now: number; before: number; newest: number },
): { to: number | null; isEnd: boolean; newest: number } {
  let to: number | null = null;
  for (const { seq, at } of entries) {
    const time = Date.parse(at);
    if (time > now + toleranceMs || time < Math.max(newest, earliestMs) - toleranceMs) continue;
    if (time >= before) return { to, isEnd: true, newest };
    to = seq;
    newest = Math.max(newest, time);
  }
  return { to, isEnd: false, newest };
}
