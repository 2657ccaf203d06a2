/** Decides when the next check of a monitor is due, in monotonic milliseconds. */
import type { Clock } from "../../../core/time/clock.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { rateLimit } from "../../../http/access/rate-limit.ts";
import { allowedSeconds, nextSilenceAt } from "../kinds/push.ts";
import { nextSlot, phaseOf } from "../rules.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import type { FirstCheck, Watched } from "./watched-monitors.ts";

/** Period over which checks that are brought forward together are spread. */
const rushMs = 5_000;
/** Maximum wait for the first check of a monitor that was never checked, also with a longer interval. */
const maxUnknownSeconds = 60;
/** Tolerated clock difference between nodes: a result up to 1 s before a slot belongs to that slot. */
const sameSlotMs = 1_000;

export class DueTimes {
  /** Offset between wall clock and monotonic clock; every node derives the same slots from it. */
  private readonly offsetMs: number;
  private readonly immediate;
  private readonly monotonic: Clock;
  private readonly trouble: TroubleWatch;

  constructor(clock: Clock, monotonic: Clock, trouble: TroubleWatch) {
    this.monotonic = monotonic;
    this.trouble = trouble;
    this.offsetMs = clock() - monotonic();
    this.immediate = rateLimit(monitorBounds.checksAfterChanges.value, clock);
  }

  /** Returns when a new, changed or loaded monitor is due. */
  first(monitor: Watched, firstCheck: FirstCheck): number {
    const now = this.monotonic();
    if (monitor.type === "push") return now + allowedSeconds(monitor) * 1000;
    if (firstCheck === "spread") return this.resumed(monitor, now);
    const isImmediate = firstCheck === "now" && this.immediate.take(monitor.organizationId) === 0;
    return isImmediate ? now : now + phaseOf(monitor.key, rushMs);
  }

  /**
   * Returns when a monitor is due that is brought forward together with others. Spreads 100 per second, at most over 5
   * s.
   */
  soon({ key }: Watched, count: number): number {
    return this.monotonic() + phaseOf(key, Math.min(count * 10, rushMs));
  }

  /** Returns when the check after the one started at `startedAt` is due: in the next slot, or earlier for a retry. */
  next(monitor: Watched, startedAt: number, seconds: number): number {
    if (monitor.type === "push") return nextSilenceAt(monitor, this.trouble, startedAt, seconds);
    if (seconds >= monitor.intervalSeconds) return this.slotAfter(monitor, startedAt);
    const retryAt = this.monotonic() + seconds * 1000;
    return Math.min(retryAt, startedAt + monitor.intervalSeconds * 1000);
  }

  slotAfter(
    { key, intervalSeconds }: Pick<Watched, "key" | "intervalSeconds">,
    after: number,
  ): number {
    return nextSlot(key, intervalSeconds * 1000, after + this.offsetMs) - this.offsetMs;
  }

  /**
   * Returns the slot after the last result, which another node can have written. After a missed slot,
   * checks are spread over a time as long as the delay.
   */
  private resumed(monitor: Watched, now: number): number {
    const { key, intervalSeconds, lastAt } = monitor;
    if (lastAt === null)
      return this.slotAfter(
        { key, intervalSeconds: Math.min(intervalSeconds, maxUnknownSeconds) },
        now,
      );
    const due = this.slotAfter(monitor, lastAt - this.offsetMs + sameSlotMs);
    const intervalMs = intervalSeconds * 1000;
    if (due > now + intervalMs || due < now - intervalMs) return this.slotAfter(monitor, now);
    return due > now ? due : now + phaseOf(key, Math.floor(now - due));
  }
}
