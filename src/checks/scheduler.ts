import type { Clock } from "../base/clock.ts";

export type Limits = {
  /** Runs at one time. */
  total: number;
  /** Of them, those of one lane. */
  perLane: number;
};

export type Scheduler = {
  /** When to run next; replaces what was set before. Jobs of one lane share its limit. */
  schedule(key: number, dueAt: number, lane: string): void;
  remove(key: number): void;
  /** Starts what is due, as far as the limits go; the rest waits its turn in order. */
  startDue(): void;
  /** Starts it at once, whatever the limits, unless it is running; resolves at its end. */
  runNow(key: number, lane: string): Promise<void>;
  isRunning(key: number): boolean;
  /** When something is due next; null when nothing is. */
  nextDueAt(): number | null;
  /** Resolves when all that runs now has ended. */
  settled(): Promise<void>;
};

type Entry = { key: number; dueAt: number; lane: string };

/**
 * Runs each job at its due time on a monotonic clock, never twice at one time, bounded in all and by
 * lane. `run` gets the time at which the job was due and must not throw.
 */
export function scheduler(
  run: (key: number, dueAt: number) => Promise<void>,
  monotonic: Clock,
  limits: Limits,
): Scheduler {
  const heap: Entry[] = [];
  const current = new Map<number, Entry>();
  const running = new Map<number, Promise<void>>();
  const inLane = new Map<string, number>();
  let waiting: Entry[] = [];

  const isCurrent = (entry: Entry) => current.get(entry.key) === entry;

  function start(entry: Entry): Promise<void> {
    current.delete(entry.key);
    inLane.set(entry.lane, (inLane.get(entry.lane) ?? 0) + 1);
    const ended = run(entry.key, entry.dueAt).finally(() => {
      running.delete(entry.key);
      const left = (inLane.get(entry.lane) ?? 1) - 1;
      if (left === 0) inLane.delete(entry.lane);
      else inLane.set(entry.lane, left);
      if (waiting.length > 0) startWaiting();
    });
    running.set(entry.key, ended);
    return ended;
  }

  function hasRoom(entry: Entry): boolean {
    return (
      running.size < limits.total &&
      (inLane.get(entry.lane) ?? 0) < limits.perLane &&
      !running.has(entry.key)
    );
  }

  function startWaiting() {
    const before = waiting;
    waiting = [];
    for (const entry of before) {
      if (!isCurrent(entry)) continue;
      if (hasRoom(entry)) void start(entry);
      else waiting.push(entry);
    }
  }

  return {
    schedule(key, dueAt, lane) {
      const entry = { key, dueAt, lane };
      current.set(key, entry);
      push(heap, entry);
    },
    remove: (key) => void current.delete(key),
    startDue() {
      const now = monotonic();
      for (let next = heap[0]; next !== undefined && next.dueAt <= now; next = heap[0]) {
        pop(heap);
        if (!isCurrent(next)) continue;
        if (hasRoom(next)) void start(next);
        else waiting.push(next);
      }
    },
    runNow(key, lane) {
      return running.get(key) ?? start({ key, dueAt: monotonic(), lane });
    },
    isRunning: (key) => running.has(key),
    nextDueAt() {
      while (heap[0] !== undefined && !isCurrent(heap[0])) pop(heap);
      return heap[0]?.dueAt ?? null;
    },
    async settled() {
      await Promise.all(running.values());
    },
  };
}

/** A binary heap: the earliest is first. */
function push(heap: Entry[], entry: Entry) {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (dueAt(heap, parent) <= entry.dueAt) break;
    swap(heap, index, parent);
    index = parent;
  }
}

function pop(heap: Entry[]) {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  for (let index = 0; ;) {
    const left = 2 * index + 1;
    const least = dueAt(heap, left + 1) < dueAt(heap, left) ? left + 1 : left;
    if (dueAt(heap, least) >= last.dueAt) return;
    swap(heap, index, least);
    index = least;
  }
}

function dueAt(heap: readonly Entry[], index: number): number {
  return heap[index]?.dueAt ?? Infinity;
}

function swap(heap: Entry[], one: number, other: number) {
  [heap[one], heap[other]] = [heap[other] as Entry, heap[one] as Entry];
}
