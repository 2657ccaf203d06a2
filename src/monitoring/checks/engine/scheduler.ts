import type { Clock } from "../../../core/time/clock.ts";
import { type Heap, pop, push } from "../../../core/collections/heap.ts";
import { Turns } from "../../../core/collections/turns.ts";

export type Limits = {
  /** Runs divided evenly among organizations; others can't use an organization's share. */
  reserved: number;
  /** Runs beyond these shares, for organizations with more to do. */
  shared: number;
  /** Runs of one organization in one lane. */
  perLane: number;
};

/** What a job counts against. A job without a lane takes no time and needs no turn. */
export type Terms = {
  organizationId: string;
  lane: string | null;
  /** A waiting job is overdue after this time, and again after each further period of this length. */
  patienceMs: number;
};

type Work = {
  /** Gets the time at which the job was due; must not throw. */
  run(key: number, dueAt: number): Promise<void>;
  overdue(key: number): void;
};

type Job = {
  key: number;
  /** When it is due. */
  at: number;
  terms: Terms;
  client: string;
  lane: string | null;
  /** Its place in the heap; null while nothing is to be looked at. */
  entry: Entry | null;
  /** Whether it is due and has not begun. */
  waits: boolean;
};
/** When to look at a job; it may have been put off since. */
type Entry = { at: number; key: number };

/** Runs each job at its due time on a monotonic clock, never twice at one time, bounded by fair turns. */
export function scheduler(work: Work, monotonic: Clock, limits: Limits) {
  const heap: Heap<Entry> = [];
  const jobs = new Map<number, Job>();
  const running = new Map<number, Promise<void>>();
  const waiting = new Turns<Job>({
    rank: ({ running }, { share }) => (running < share ? 0 : 1),
    admits: (rank, { borrowed }) => rank === 0 || borrowed < limits.shared,
    perLane: limits.perLane,
    isWanted: (job) => jobs.get(job.key) === job,
  });
  /** Jobs and runs of each organization. */
  const known = new Map<string, number>();

  function count({ organizationId }: Terms, change: 1 | -1) {
    const now = (known.get(organizationId) ?? 0) + change;
    if (now === 0) known.delete(organizationId);
    else known.set(organizationId, now);
    waiting.share = Math.max(1, Math.floor(limits.reserved / Math.max(1, known.size)));
  }

  function keep(job: Job) {
    count(job.terms, 1);
    drop(job.key);
    jobs.set(job.key, job);
  }

  function drop(key: number) {
    const job = jobs.get(key);
    if (job === undefined) return;
    jobs.delete(key);
    count(job.terms, -1);
  }

  function look(job: Job, at: number) {
    job.entry = { at, key: job.key };
    push(heap, job.entry);
  }

  /** Runs a job that has been counted as begun. */
  function start({ key, at, terms }: Job): Promise<void> {
    count(terms, 1);
    drop(key);
    const ended = work.run(key, at).finally(() => {
      running.delete(key);
      if (terms.lane !== null) waiting.end(slotOf(terms));
      const next = jobs.get(key);
      if (next?.waits === true) takeIn(next);
      count(terms, -1);
      startWaiting();
    });
    running.set(key, ended);
    return ended;
  }

  function startWaiting() {
    for (let next = waiting.next(); next !== null; next = waiting.next()) void start(next);
  }

  /** A job that is due; one that still runs waits for its own end. */
  function takeIn(job: Job) {
    job.waits = true;
    if (running.has(job.key)) return;
    if (job.terms.lane === null) void start(job);
    else waiting.add(job);
  }

  return {
    /** When to run next; replaces what was set before. */
    schedule(key: number, dueAt: number, terms: Terms) {
      const job = jobOf(key, dueAt, terms);
      const entry = jobs.get(key)?.entry;
      keep(job);
      // Put off: it is looked at when it was due before, and put off then.
      if (entry && entry.at <= dueAt) job.entry = entry;
      else look(job, dueAt);
    },
    remove: drop,
    /** Starts what is due, as far as the limits go; the rest waits its turn. */
    startDue() {
      const now = monotonic();
      const due: Job[] = [];
      for (let next = heap[0]; next !== undefined && next.at <= now; next = heap[0]) {
        pop(heap);
        const job = jobs.get(next.key);
        if (job?.entry !== next) continue;
        job.entry = null;
        if (job.waits) {
          if (!running.has(job.key)) work.overdue(job.key);
          due.push(job);
        } else if (job.at > next.at) {
          look(job, job.at);
        } else {
          due.push(job);
          takeIn(job);
        }
      }
      startWaiting();
      for (const job of due)
        if (jobs.get(job.key) === job) look(job, Math.max(job.at, now) + job.terms.patienceMs);
    },
    /** Starts it at once, whatever the limits, unless it is running; resolves at its end. */
    runNow(key: number, terms: Terms): Promise<void> {
      const known = running.get(key);
      if (known !== undefined) return known;
      const job = jobOf(key, monotonic(), terms);
      if (terms.lane !== null) waiting.begin(slotOf(terms));
      return start(job);
    },
    isRunning: (key: number) => running.has(key),
    /** How many run. */
    running: () => running.size,
    /** How many are due and wait for their turn, or for their own end. */
    waiting: () => jobs.values().reduce((count, { waits }) => count + Number(waits), 0),
    /** So many organizations have jobs. */
    organizations: () => known.size,
    /** When something is due or overdue next; null when nothing is. */
    nextDueAt(): number | null {
      for (let next = heap[0]; next !== undefined; next = heap[0]) {
        const job = jobs.get(next.key);
        if (job?.entry === next && (job.waits || job.at <= next.at)) return next.at;
        pop(heap);
        if (job?.entry === next) look(job, job.at);
      }
      return null;
    },
    /** Resolves when all that runs, and what waited for it, has ended. */
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
    /** Starts nothing more. */
    stop: () => jobs.clear(),
  };
}

const slotOf = ({ organizationId, lane }: Terms) => ({ client: organizationId, lane });

const jobOf = (key: number, at: number, terms: Terms): Job => ({
  key,
  at,
  terms,
  ...slotOf(terms),
  entry: null,
  waits: false,
});
