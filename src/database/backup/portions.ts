import type { Parameter, Statement, Store } from "../store.ts";

/** So long one write of housekeeping should take … */
const aimMs = 10;
/** … with so many rows, whatever the machine. */
const fewest = 25;
const most = 1_000;
/** For each millisecond of it others get so many. */
const othersMs = 3;

/** What housekeeping runs with; `isOver` ends it between two portions, and the next one goes on. */
export type Sweeping = {
  store: Store;
  now: number;
  isOver: () => boolean;
  /**
   * Calls `remove` until it says that nothing is left. It gets how many rows it may take: so many that
   * no machine is held up by one write.
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

/** Removes the rows of a table that a condition names. */
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

/** An entry of a log: its place in the order of writing, its date, and how many rows go with it. */
export type LogEntry = { seq: number; at: string; rows?: number };

type LogBounds = {
  /** Names it in what is remembered of it. */
  name: string;
  keptMs: number;
  /** Entries after this one … */
  from?: number;
  /** … up to this one may be removed. */
  last?: number;
};

/**
 * Removes the old entries of a log, the oldest first; returns how far it came. `oldest` is a query for
 * the entries after a place, by a limit; `remove` makes the statements for those after one place up to
 * another.
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

/** What housekeeping remembers under a name; null for nothing. */
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

/** A clock that is put right moves by so much without anything being wrong. */
const toleranceMs = 3_600_000;
/** Nothing is older than this program. */
const earliestMs = Date.UTC(2025, 0);

/**
 * How far these entries of a log may go, null for none, and whether what follows is too young. One that
 * is older than `before` shows that all before it are, too. What a wrong clock dated – after `now`, or
 * before an earlier entry, of which `newest` is the newest – is as old as what comes after it.
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
