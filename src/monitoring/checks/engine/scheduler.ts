/** Runs each job at its due time, never twice at the same time, and shares the capacity fairly between organizations. */
import type { Clock } from "../../../core/time/clock.ts";
import { type Heap, pop, push } from "../../../core/collections/heap.ts";
import { Turns } from "../../../core/collections/turns.ts";

export type Limits = {
  /** Runs divided evenly among organizations. An organization's share is not lent to others. */
  reserved: number;
  /** Additional runs for organizations that need more than their share. */
  shared: number;
  /** Maximum concurrent runs of one organization in one lane. */
  perLane: number;
};

/** Limits that apply to a job. A job without a lane takes no time and starts immediately. */
export type JobLimits = {
  organizationId: string;
  lane: string | null;
  /** Time after which a waiting job is reported as overdue, and interval of further reports. */
  patienceMs: number;
};

type JobWork = {
  /** Receives the due time of the job. Must not throw. */
  run(key: number, dueAt: number): Promise<void>;
  overdue(key: number): void;
};

type Job = {
  key: number;
  /** Due time in monotonic milliseconds. */
  at: number;
  terms: JobLimits;
  client: string;
  lane: string | null;
  /** Entry in the heap; null while the job has no time to be examined. */
  entry: Entry | null;
  /** Whether it is due and has not started. */
  isWaiting: boolean;
};
/** Time at which to examine a job. The job can have been postponed since. */
type Entry = { at: number; key: number };

export class Scheduler {
  private readonly heap: Heap<Entry> = [];
  private readonly jobs = new Map<number, Job>();
  private readonly runs = new Map<number, Promise<void>>();
  private readonly turns: Turns<Job>;
  /** Number of jobs and runs by organization. */
  private readonly counts = new Map<string, number>();
  private readonly work: JobWork;
  private readonly monotonic: Clock;
  private readonly limits: Limits;

  constructor(work: JobWork, monotonic: Clock, limits: Limits) {
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

  /** Sets the next due time of a job, replacing any previous one. */
  schedule(key: number, dueAt: number, terms: JobLimits) {
    const job = createJob(key, dueAt, terms);
    const entry = this.jobs.get(key)?.entry;
    this.count(terms, 1);
    this.remove(key);
    this.jobs.set(key, job);
    // A postponed job reuses its entry: when that entry is due, the job moves to its later time.
    if (entry && entry.at <= dueAt) job.entry = entry;
    else this.examineAt(job, dueAt);
  }

  remove(key: number) {
    const job = this.jobs.get(key);
    if (job === undefined) return;
    this.jobs.delete(key);
    this.count(job.terms, -1);
  }

  /** Starts due jobs within the limits. The others wait in the queue. */
  startDue() {
    const now = this.monotonic();
    const due: Job[] = [];
    for (let next = this.heap[0]; next !== undefined && next.at <= now; next = this.heap[0]) {
      pop(this.heap);
      const job = this.jobs.get(next.key);
      if (job?.entry !== next) continue;
      job.entry = null;
      if (job.isWaiting) {
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

  /** Starts the job immediately, without limits, unless it is running. Resolves at the end of the run. */
  runNow(key: number, terms: JobLimits): Promise<void> {
    const known = this.runs.get(key);
    if (known !== undefined) return known;
    const job = createJob(key, this.monotonic(), terms);
    if (terms.lane !== null) this.turns.begin(buildSlot(terms));
    return this.start(job);
  }

  isRunning(key: number) {
    return this.runs.has(key);
  }

  /** Number of running jobs. */
  countRunning() {
    return this.runs.size;
  }

  /** Number of due jobs that wait in the queue or for the end of their previous run. */
  countWaiting() {
    return this.jobs.values().reduce((count, { isWaiting }) => count + Number(isWaiting), 0);
  }

  /** Number of organizations with jobs. */
  countOrganizations() {
    return this.counts.size;
  }

  /** Returns when the next job is due or overdue, in monotonic milliseconds; null without jobs. */
  findNextDueAt(): number | null {
    for (let next = this.heap[0]; next !== undefined; next = this.heap[0]) {
      const job = this.jobs.get(next.key);
      if (job?.entry === next && (job.isWaiting || job.at <= next.at)) return next.at;
      pop(this.heap);
      if (job?.entry === next) this.examineAt(job, job.at);
    }
    return null;
  }

  /** Resolves when all runs have ended, including jobs that started when a run ended. */
  async waitUntilSettled() {
    while (this.runs.size > 0) await Promise.all(this.runs.values());
  }

  /** Removes all jobs. Current runs continue. */
  stop() {
    this.jobs.clear();
  }

  private count({ organizationId }: JobLimits, change: 1 | -1) {
    const newCount = (this.counts.get(organizationId) ?? 0) + change;
    if (newCount === 0) this.counts.delete(organizationId);
    else this.counts.set(organizationId, newCount);
    const organizations = Math.max(1, this.counts.size);
    this.turns.share = Math.max(1, Math.floor(this.limits.reserved / organizations));
  }

  private examineAt(job: Job, at: number) {
    job.entry = { at, key: job.key };
    push(this.heap, job.entry);
  }

  /** Runs a job that was already counted as running in `turns`. */
  private start({ key, at, terms }: Job): Promise<void> {
    this.count(terms, 1);
    this.remove(key);
    const ended = this.work.run(key, at).finally(() => {
      this.runs.delete(key);
      if (terms.lane !== null) this.turns.end(buildSlot(terms));
      const next = this.jobs.get(key);
      if (next?.isWaiting === true) this.enqueue(next);
      this.count(terms, -1);
      this.startWaiting();
    });
    this.runs.set(key, ended);
    return ended;
  }

  private startWaiting() {
    for (let next = this.turns.beginNext(); next !== null; next = this.turns.beginNext())
      void this.start(next);
  }

  /** Queues a due job. A job that is still running is queued when its run ends. */
  private enqueue(job: Job) {
    job.isWaiting = true;
    if (this.runs.has(job.key)) return;
    if (job.terms.lane === null) void this.start(job);
    else this.turns.add(job);
  }
}

const buildSlot = ({ organizationId, lane }: JobLimits) => ({ client: organizationId, lane });

const createJob = (key: number, at: number, terms: JobLimits): Job => ({
  key,
  at,
  terms,
  ...buildSlot(terms),
  entry: null,
  isWaiting: false,
});
