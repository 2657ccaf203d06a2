/** Removes old rows in small batches that don't delay other requests. */
import type { Parameter, Statement, Store } from "../store.ts";

/** Target duration of one cleanup write, in milliseconds. */
const aimMs = 10;
/** Minimum batch size, even on slow machines. */
const fewest = 25;
const most = 1_000;
/** Pause per millisecond of cleanup, in milliseconds. */
const othersMs = 3;

/** Context of cleanup jobs. `isOver` stops a job between batches; the next run continues. */
export type Sweeping = {
  store: Store;
  now: number;
  isOver: () => boolean;
  /**
   * Calls `remove` with a batch size until it reports that no rows are left. The size adapts to the speed of the
   * machine.
   */
  inPortions: (remove: (size: number) => Promise<boolean>) => Promise<void>;
};

export function sweepingOf(
  store: Store,
  now: number,
  isOver: () => boolean = () => false,
): Sweeping {
  let size = most;
  return {
    store,
    now,
    isOver,
    async inPortions(remove) {
      while (!isOver()) {
        const since = performance.now();
        const hasMore = await remove(size);
        const tookMs = performance.now() - since;
        const fitting = Math.max((size * aimMs) / tookMs, size / 4, fewest);
        size = Math.round(Math.min(fitting, size * 2, most));
        await Bun.sleep(tookMs * othersMs);
        if (!hasMore) return;
      }
    },
  };
}

/** Removes all rows that match a condition. */
export async function sweepRows(
  { store, inPortions }: Sweeping,
  table: string,
  condition: string,
  parameters: readonly Parameter[],
): Promise<void> {
  const some = `from ${table} where ${condition} limit ?`;
  await inPortions(async (size) => {
    const [found] = await store.query<{ rows: number }>(
      `select count(*) as rows from (select 1 ${some})`,
      [...parameters, size],
    );
    if (found === undefined || found.rows === 0) return false;
    await store.atomic([
      {
        text: `delete from ${table} where rowid in (select rowid ${some})`,
        parameters: [...parameters, size],
      },
    ]);
    return found.rows === size;
  });
}

/** A log entry: its sequence number, its date, and the number of dependent rows. */
export type LogEntry = { seq: number; at: string; rows?: number };

type LogBounds = {
  /** Name of the stored progress. */
  name: string;
  keptMs: number;
  /** Exclusive lower bound of removable entries. */
  from?: number;
  /** Inclusive upper bound of removable entries. */
  last?: number;
};

/**
 * Removes old log entries, oldest first, and returns the new position. `oldest` queries entries after a position;
 * `remove` creates the statements for a range of positions.
 */
export async function sweepLog(
  { store, now, inPortions }: Sweeping,
  { name, keptMs, from = 0, last = Number.MAX_SAFE_INTEGER }: LogBounds,
  oldest: string,
  remove: (from: number, to: number) => Statement[],
): Promise<number> {
  const memory = `${name} removed up to`;
  let [removed, read] = [from, from];
  let newest = (await valueOf(store, memory)) ?? 0;
  await inPortions(async (size) => {
    const found = await store.query<LogEntry>(oldest, [read, size]);
    const entries = upToRows(found, size).filter(({ seq }) => seq <= last);
    const ages = removable(entries, { now, before: now - keptMs, newest });
    if (ages.to !== null) {
      await store.atomic([...remove(removed, ages.to), setValue(memory, ages.newest)]);
      removed = ages.to;
    }
    newest = ages.newest;
    read = entries.at(-1)?.seq ?? read;
    return !ages.isEnd && entries.length > 0;
  });
  return removed;
}

/** Stored value of a cleanup job; null if there is none. */
export async function valueOf(store: Store, name: string): Promise<number | null> {
  const [row] = await store.query<{ value: number }>(
    "select value from housekeeping where name = ?",
    [name],
  );
  return row?.value ?? null;
}

export function setValue(name: string, value: number): Statement {
  return {
    text: "insert or replace into housekeeping (name, value) values (?, ?)",
    parameters: [name, value],
  };
}

function upToRows(entries: readonly LogEntry[], size: number): readonly LogEntry[] {
  let rows = 0;
  const end = entries.findIndex((entry) => (rows += entry.rows ?? 1) > size);
  return end === -1 ? entries : entries.slice(0, Math.max(end, 1));
}

/** Tolerated clock correction. */
const toleranceMs = 3_600_000;
/** Earliest plausible date: the first release is newer. */
const earliestMs = Date.UTC(2025, 0);

/**
 * Returns the last removable position, or null, and whether the following entry is too young. An entry older than
 * `before` proves that all earlier ones are older too. An implausible date, after `now` or before `newest`, counts
 * like that of the next entry.
 */
export function removable(
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
