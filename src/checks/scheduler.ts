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
  /** Resolves when all that runs, and what waited for it, has ended. */
  settled(): Promise<void>;
  /** Starts nothing more. */
  stop(): void;
};

type Job = {
  key: number;
  dueAt: number;
  lane: string;
  /** Its place in the heap; null while it waits. */
  entry: Entry | null;
};
/** When to look at a job; it may have been put off since. */
type Entry = { at: number; key: number };

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
  const jobs = new Map<number, Job>();
  const running = new Map<number, Promise<void>>();
  const inLane = new Map<string, number>();
  /** Jobs that are due, by lane, in their order. */
  const waiting = new Map<string, Job[]>();

  function start({ key, dueAt, lane }: Omit<Job, "entry">): Promise<void> {
    jobs.delete(key);
    inLane.set(lane, (inLane.get(lane) ?? 0) + 1);
    const ended = run(key, dueAt).finally(() => {
      running.delete(key);
      const left = (inLane.get(lane) ?? 1) - 1;
      if (left === 0) inLane.delete(lane);
      else inLane.set(lane, left);
      startWaiting();
    });
    running.set(key, ended);
    return ended;
  }

  function putOff(job: Job) {
    job.entry = { at: job.dueAt, key: job.key };
    push(heap, job.entry);
  }

  function startWaiting() {
    while (waiting.size > 0 && running.size < limits.total) {
      const next = longestWaiting();
      if (next === null) return;
      void start(next);
    }
  }

  /** The job that waits longest among those that may run now; those that were put off wait no more. */
  function longestWaiting(): Job | null {
    let found: Job | null = null;
    for (const [lane, queue] of waiting) {
      while (queue[0] !== undefined && jobs.get(queue[0].key) !== queue[0]) queue.shift();
      if (queue.length === 0) waiting.delete(lane);
      if ((inLane.get(lane) ?? 0) >= limits.perLane) continue;
      const first = queue.find(({ key }) => !running.has(key));
      if (first !== undefined && (found === null || first.dueAt < found.dueAt)) found = first;
    }
    const queue = found === null ? undefined : waiting.get(found.lane);
    if (found !== null) queue?.splice(queue.indexOf(found), 1);
    return found;
  }

  return {
    schedule(key, dueAt, lane) {
      const entry = jobs.get(key)?.entry;
      // Put off: it is looked at when it was due before, and put off then.
      if (entry && entry.at <= dueAt) {
        jobs.set(key, { key, dueAt, lane, entry });
        return;
      }
      const sooner = { at: dueAt, key };
      jobs.set(key, { key, dueAt, lane, entry: sooner });
      push(heap, sooner);
    },
    remove: (key) => void jobs.delete(key),
    startDue() {
      const now = monotonic();
      for (let next = heap[0]; next !== undefined && next.at <= now; next = heap[0]) {
        pop(heap);
        const job = jobs.get(next.key);
        if (job?.entry !== next) continue;
        if (job.dueAt > next.at) {
          putOff(job);
          continue;
        }
        job.entry = null;
        const queue = waiting.get(job.lane);
        if (queue === undefined) waiting.set(job.lane, [job]);
        else queue.push(job);
      }
      startWaiting();
    },
    runNow(key, lane) {
      return running.get(key) ?? start({ key, dueAt: monotonic(), lane });
    },
    isRunning: (key) => running.has(key),
    nextDueAt() {
      for (let next = heap[0]; next !== undefined; next = heap[0]) {
        const job = jobs.get(next.key);
        if (job?.entry === next && job.dueAt <= next.at) return next.at;
        pop(heap);
        if (job?.entry === next) putOff(job);
      }
      return null;
    },
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
    stop() {
      jobs.clear();
      waiting.clear();
    },
  };
}

/** A binary heap: the earliest is first. */
function push(heap: Entry[], entry: Entry) {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (timeAt(heap, parent) <= entry.at) break;
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
    const least = timeAt(heap, left + 1) < timeAt(heap, left) ? left + 1 : left;
    if (timeAt(heap, least) >= last.at) return;
    swap(heap, index, least);
    index = least;
  }
}

function timeAt(heap: readonly Entry[], index: number): number {
  return heap[index]?.at ?? Infinity;
}

function swap(heap: Entry[], one: number, other: number) {
  [heap[one], heap[other]] = [heap[other] as Entry, heap[one] as Entry];
}
