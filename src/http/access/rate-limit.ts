import { networkOf } from "../../core/security/client-network.ts";
import type { Clock } from "../../core/time/clock.ts";
import { rateLimited } from "../../core/errors.ts";

export type RateLimit = {
  /** Counts one and returns 0, or returns the whole seconds to wait when the share of the time is used up. */
  take(who: string): number;
  /** Takes back one that turned out not to count. */
  refund(who: string): void;
};

type Window = { endsAt: number; count: number };

const minuteMs = 60_000;
/** Callers that are remembered at a time: some 10 MB. */
const maxCallers = 50_000;

/**
 * `count` a minute, or another time, for each caller, from its first request on; 0 means no limit. Of too many
 * callers those are forgotten first that have something left: nobody who has used up their share gets
 * it anew by sending others after it, and as many others have as many shares of their own.
 */
export function rateLimit(
  count: number,
  clock: Clock,
  { most = maxCallers, windowMs = minuteMs } = {},
): RateLimit {
  const open = new Map<string, Window>();
  const spent = new Map<string, Window>();
  let sweepAt = 0;

  /** A window that ends later than a whole one from now was begun before the clock was set back. */
  const isOver = ({ endsAt }: Window, now: number) => endsAt <= now || endsAt > now + windowMs;

  function sweep(now: number) {
    for (const windows of [open, spent])
      for (const [who, window] of windows) if (isOver(window, now)) windows.delete(who);
    sweepAt = now + windowMs;
  }

  /** The oldest tenth goes at once: to look for the first one each time would cost more than all the rest. */
  function evictOldest(windows: Map<string, Window>) {
    let left = Math.ceil(most / 10);
    for (const who of windows.keys()) {
      if (left-- === 0) break;
      windows.delete(who);
    }
  }

  function begin(who: string, now: number): Window {
    for (const windows of [open, spent]) windows.delete(who);
    if (open.size + spent.size >= most) evictOldest(open.size > 0 ? open : spent);
    const window = { endsAt: now + windowMs, count: 0 };
    open.set(who, window);
    return window;
  }

  return {
    take(who) {
      if (count === 0) return 0;
      const now = clock();
      if (now >= sweepAt || sweepAt > now + windowMs) sweep(now);
      const known = open.get(who) ?? spent.get(who);
      const window = known === undefined || isOver(known, now) ? begin(who, now) : known;
      if (window.count >= count) return Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      window.count += 1;
      if (window.count >= count) {
        open.delete(who);
        spent.set(who, window);
      }
      return 0;
    },
    refund(who) {
      const window = open.get(who) ?? spent.get(who);
      if (window === undefined) return;
      window.count -= 1;
      spent.delete(who);
      if (window.count > 0) open.set(who, window);
      else open.delete(who);
    },
  };
}

/** A limit for strangers, asked with their address: all that share a network are one caller. */
export type NetworkLimit = RateLimit & { readonly by: "network" };

export function networkLimit(perMinute: number, clock: Clock): NetworkLimit {
  const limit = rateLimit(perMinute, clock);
  return {
    by: "network",
    take: (address) => limit.take(networkOf(address)),
    refund: (address) => limit.refund(networkOf(address)),
  };
}

/** Counts one; throws RATE_LIMITED where the share of the time is used up. */
export function consume(limit: RateLimit, who: string) {
  const wait = limit.take(who);
  if (wait > 0) throw rateLimited(wait);
}
