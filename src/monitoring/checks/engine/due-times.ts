/** Decides when the next check of a monitor is due, in monotonic milliseconds. */
import type { Clock } from "../../../core/time/clock.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { createRateLimit } from "../../../http/access/rate-limit.ts";
import { limitStarts } from "../../jobs/report-rules.ts";
import { computeDeadline, computeNextSilence } from "../kinds/push.ts";
import { computeNextSlot, computePhase } from "../rules.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import type { FirstCheck, Watched } from "./watched-monitors.ts";

/** Period over which checks that are brought forward together are spread. */
const rushWindowMs = 5_000;
/** Maximum wait for the first check of a monitor that was never checked, even with a longer interval. */
const maxUnknownSeconds = 60;
/** Difference between the clocks that rounding explains. */
const toleratedMs = 1_000;
/** Tolerated clock difference between nodes: a result up to 1 s before a slot belongs to that slot. */
const sameSlotMs = 1_000;

export class DueTimes {
  /** Offset between wall clock and monotonic clock; every node derives the same slots from it. */
  private readonly offsetMs: number;
  private readonly immediate;
  private readonly clock: Clock;
  private readonly monotonic: Clock;
  private readonly trouble: TroubleWatch;

  constructor(clock: Clock, monotonic: Clock, trouble: TroubleWatch) {
    this.clock = clock;
    this.monotonic = monotonic;
    this.trouble = trouble;
    this.offsetMs = clock() - monotonic();
    this.immediate = createRateLimit(monitorBounds.checksAfterChanges.value, clock);
  }

  /** Returns when a new, changed or loaded monitor is due. */
  computeFirst(monitor: Watched, firstCheck: FirstCheck): number {
    const now = this.monotonic();
    if (monitor.type === "push") return this.computeSilence(monitor, this.clock());
    if (firstCheck === "spread") return this.computeResumed(monitor, now);
    const isImmediate = firstCheck === "now" && this.immediate.take(monitor.organizationId) === 0;
    return isImmediate ? now : now + computePhase(monitor.key, rushWindowMs);
  }

  /** Returns when the next report of a push monitor becomes overdue that waits from `since` (Unix milliseconds). */
  computeSilence(monitor: Watched, since: number): number {
    const now = this.clock();
    monitor.runs = limitStarts(monitor.runs, now);
    monitor.waitsSince = Math.min(since, now);
    return this.monotonic() + (computeDeadline(monitor, monitor.waitsSince) - now);
  }

  /**
   * Returns when a scheduled report becomes overdue that is not due yet, because the clock was set back; null if it is
   * overdue.
   */
  computePostponed(monitor: Watched): number | null {
    if (typeof monitor.settings?.["schedule"] !== "string" || monitor.runs.current !== null)
      return null;
    // A last report in the future arrived while the clock was ahead.
    monitor.waitsSince = Math.min(monitor.waitsSince, this.clock());
    const waitMs = computeDeadline(monitor, monitor.waitsSince) - this.clock();
    return waitMs > toleratedMs ? this.monotonic() + waitMs : null;
  }

  now = () => ({ monotonic: this.monotonic(), unix: this.clock() });

  /**
   * Returns when a monitor is due that is brought forward together with others. Spreads 100 per second, at most over 5
   * s.
   */
  computeSoon({ key }: Watched, count: number): number {
    return this.monotonic() + computePhase(key, Math.min(count * 10, rushWindowMs));
  }

  /** Returns when the check after the one started at `startedAt` is due: in the next slot, or earlier for a retry. */
  computeNext(monitor: Watched, startedAt: number, seconds: number): number {
    if (monitor.type === "push")
      return computeNextSilence(monitor, this.trouble, this.now(), seconds);
    if (seconds >= monitor.intervalSeconds) return this.computeSlotAfter(monitor, startedAt);
    const retryAt = this.monotonic() + seconds * 1000;
    return Math.min(retryAt, startedAt + monitor.intervalSeconds * 1000);
  }

  /** Returns when the manual status of a monitor ends, if that is before `dueAt`. */
  bringForward({ settings }: Watched, dueAt: number): number {
    const until = settings?.["manualUntil"];
    if (typeof until !== "string") return dueAt;
    const waitMs = Date.parse(until) - this.clock();
    return waitMs > 0 ? Math.min(dueAt, this.monotonic() + waitMs) : dueAt;
  }

  computeSlotAfter(
    { key, intervalSeconds }: Pick<Watched, "key" | "intervalSeconds">,
    after: number,
  ): number {
    return computeNextSlot(key, intervalSeconds * 1000, after + this.offsetMs) - this.offsetMs;
  }

  /**
   * Returns the slot after the last result, which another node can have written. After a missed slot,
   * checks are spread over a time as long as the delay.
   */
  private computeResumed(monitor: Watched, now: number): number {
    const { key, intervalSeconds, lastAt } = monitor;
    if (lastAt === null)
      return this.computeSlotAfter(
        { key, intervalSeconds: Math.min(intervalSeconds, maxUnknownSeconds) },
        now,
      );
    const due = this.computeSlotAfter(monitor, lastAt - this.offsetMs + sameSlotMs);
    const intervalMs = intervalSeconds * 1000;
    if (due > now + intervalMs || due < now - intervalMs)
      return this.computeSlotAfter(monitor, now);
    return due > now ? due : now + computePhase(key, Math.floor(now - due));
  }
}
