/** Decides when the next check of a monitor is due, in monotonic milliseconds. */
import type { Clock } from "../../../core/time/clock.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { rateLimit } from "../../../http/access/rate-limit.ts";
import { allowedSeconds, nextSilenceAt } from "../kinds/push.ts";
import { nextSlot, phaseOf } from "../rules.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import type { FirstCheck, Watched } from "./watched-monitors.ts";

/** Checks that are brought forward together start within this time. */
const rushMs = 5_000;
/** After a restart, a monitor without any result is checked within this time, even if its interval is longer. */
const maxUnknownSeconds = 60;
/** A result this shortly before a slot belongs to that slot, by another node's clock. */
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

  /** When a monitor that is new, changed, or loaded is due. */
  first(monitor: Watched, firstCheck: FirstCheck): number {
    const now = this.monotonic();
    if (monitor.type === "push") return now + allowedSeconds(monitor) * 1000;
    if (firstCheck === "spread") return this.resumed(monitor, now);
    const isImmediate = firstCheck === "now" && this.immediate.take(monitor.organizationId) === 0;
    return isImmediate ? now : now + phaseOf(monitor.key, rushMs);
  }

  /** When a monitor is due that is one of `count` brought forward. */
  soon({ key }: Watched, count: number): number {
    return this.monotonic() + phaseOf(key, Math.min(count * 10, rushMs));
  }

  /** When the next check after one that started at `startedAt` is due; a retry comes before the slot. */
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

  /** The slot after the last result, by this or another node. Missed slots are made up for as fast as they were missed. */
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
