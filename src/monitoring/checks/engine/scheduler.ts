/** Runs each job at its due time on a monotonic clock, never twice at a time, in fair turns of organizations. */
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
  /** Its entry in the heap; null while it is not to be examined. */
  entry: Entry | null;
  /** Whether it is due and has not started. */
  waits: boolean;
};
/** When to examine a job, which can have been postponed since. */
type Entry = { at: number; key: number };

export class Scheduler {
  private readonly heap: Heap<Entry> = [];
  private readonly jobs = new Map<number, Job>();
  private readonly runs = new Map<number, Promise<void>>();
  private readonly turns: Turns<Job>;
  /** Jobs and runs of each organization. */
  private readonly counts = new Map<string, number>();
  private readonly work: Work;
  private readonly monotonic: Clock;
  private readonly limits: Limits;

  constructor(work: Work, monotonic: Clock, limits: Limits) {
    this.work = work;
    this.monotonic = monotonic;
    this.limits = limits;
    this.turns = new Turns<Job>({
      rank: ({ running }, { share }) => (running < share ? 0 : 1),
      admits: (rank, { borrowed }) => rank === 0 || borrowed < limits.shared,
      perLane: limits.perLane,
      isWanted: (job) => this.jobs.get(job.key) === job,
    });
  }

  /** Sets when to run next, in place of an earlier time. */
  schedule(key: number, dueAt: number, terms: Terms) {
    const job = jobOf(key, dueAt, terms);
    const entry = this.jobs.get(key)?.entry;
    this.count(terms, 1);
    this.remove(key);
    this.jobs.set(key, job);
    // A postponed job keeps its entry: it is examined at the earlier time, and postponed then.
    if (entry && entry.at <= dueAt) job.entry = entry;
    else this.examineAt(job, dueAt);
  }

  remove(key: number) {
    const job = this.jobs.get(key);
    if (job === undefined) return;
    this.jobs.delete(key);
    this.count(job.terms, -1);
  }

  /** Starts due jobs within the limits; the others wait for their turn. */
  startDue() {
    const now = this.monotonic();
    const due: Job[] = [];
    for (let next = this.heap[0]; next !== undefined && next.at <= now; next = this.heap[0]) {
      pop(this.heap);
      const job = this.jobs.get(next.key);
      if (job?.entry !== next) continue;
      job.entry = null;
      if (job.waits) {
        if (!this.runs.has(job.key)) this.work.overdue(job.key);
        due.push(job);
      } else if (job.at > next.at) {
        this.examineAt(job, job.at);
      } else {
        due.push(job);
        this.enqueue(job);
      }
    }
    this.startWaiting();
    for (const job of due)
      if (this.jobs.get(job.key) === job)
        this.examineAt(job, Math.max(job.at, now) + job.terms.patienceMs);
  }

  /** Starts the job at once, without limits, unless it is running; resolves at its end. */
  runNow(key: number, terms: Terms): Promise<void> {
    const known = this.runs.get(key);
    if (known !== undefined) return known;
    const job = jobOf(key, this.monotonic(), terms);
    if (terms.lane !== null) this.turns.begin(slotOf(terms));
    return this.start(job);
  }

  isRunning(key: number) {
    return this.runs.has(key);
  }

  /** Number of runs. */
  running() {
    return this.runs.size;
  }

  /** Number of due jobs that wait for their turn or for the end of their last run. */
  waiting() {
    return this.jobs.values().reduce((count, { waits }) => count + Number(waits), 0);
  }

  /** Number of organizations with jobs. */
  organizations() {
    return this.counts.size;
  }

  /** When the next job is due or overdue; null for none. */
  nextDueAt(): number | null {
    for (let next = this.heap[0]; next !== undefined; next = this.heap[0]) {
      const job = this.jobs.get(next.key);
      if (job?.entry === next && (job.waits || job.at <= next.at)) return next.at;
      pop(this.heap);
      if (job?.entry === next) this.examineAt(job, job.at);
    }
    return null;
  }

  /** Resolves when all runs, and those that waited for them, have ended. */
  async settled() {
    while (this.runs.size > 0) await Promise.all(this.runs.values());
  }

  /** Starts no further job. */
  stop() {
    this.jobs.clear();
  }

  private count({ organizationId }: Terms, change: 1 | -1) {
    const now = (this.counts.get(organizationId) ?? 0) + change;
    if (now === 0) this.counts.delete(organizationId);
    else this.counts.set(organizationId, now);
    const organizations = Math.max(1, this.counts.size);
    this.turns.share = Math.max(1, Math.floor(this.limits.reserved / organizations));
  }

  private examineAt(job: Job, at: number) {
    job.entry = { at, key: job.key };
    push(this.heap, job.entry);
  }

  /** Runs a job whose turn was counted. */
  private start({ key, at, terms }: Job): Promise<void> {
    this.count(terms, 1);
    this.remove(key);
    const ended = this.work.run(key, at).finally(() => {
      this.runs.delete(key);
      if (terms.lane !== null) this.turns.end(slotOf(terms));
      const next = this.jobs.get(key);
      if (next?.waits === true) this.enqueue(next);
      this.count(terms, -1);
      this.startWaiting();
    });
    this.runs.set(key, ended);
    return ended;
  }

  private startWaiting() {
    for (let next = this.turns.next(); next !== null; next = this.turns.next())
      void this.start(next);
  }

  /** Queues a due job; a running one is queued at its end. */
  private enqueue(job: Job) {
    job.waits = true;
    if (this.runs.has(job.key)) return;
    if (job.terms.lane === null) void this.start(job);
    else this.turns.add(job);
  }
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
