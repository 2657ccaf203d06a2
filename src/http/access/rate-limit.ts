/** Limits requests per caller and period. */
import { minuteMs } from "../../core/time/clock.ts";
import { networkOf } from "../../core/security/client-network.ts";
import type { Clock } from "../../core/time/clock.ts";
import { rateLimitError } from "../../core/errors.ts";

export type RateLimit = {
  /** Counts a request and returns 0, or returns the seconds to wait if the limit is reached. */
  take(client: string): number;
  /** Reverts the count of a request. */
  refund(client: string): void;
};

type Window = { endsAt: number; count: number };

/** Maximum number of callers in memory, about 10 MB. */
const maxCallers = 50_000;

/**
 * Creates a limit of `count` requests per caller and window, starting with the caller's first request; 0 means no
 * limit. With too many callers, those below their limit are forgotten first. A caller thus can't reset its limit with
 * requests from other addresses.
 */
export function createRateLimit(
  count: number,
  clock: Clock,
  { maxTracked = maxCallers, windowMs = minuteMs } = {},
): RateLimit {
  const open = new Map<string, Window>();
  const spent = new Map<string, Window>();
  let sweepAt = 0;

  /** A window that ends in more than `windowMs` started before the clock was set back. */
  const isOver = ({ endsAt }: Window, now: number) => endsAt <= now || endsAt > now + windowMs;

  function sweep(now: number) {
    for (const windows of [open, spent])
      for (const [who, window] of windows) if (isOver(window, now)) windows.delete(who);
    sweepAt = now + windowMs;
  }

  /** Removes the oldest tenth at once, because finding the first entry is the most expensive step. */
  function evictOldest(windows: Map<string, Window>) {
    let removalCount = Math.ceil(maxTracked / 10);
    for (const who of windows.keys()) {
      if (removalCount-- === 0) break;
      windows.delete(who);
    }
  }

  function startWindow(client: string, now: number): Window {
    for (const windows of [open, spent]) windows.delete(client);
    if (open.size + spent.size >= maxTracked) evictOldest(open.size > 0 ? open : spent);
    const window = { endsAt: now + windowMs, count: 0 };
    open.set(client, window);
    return window;
  }

  return {
    take(client) {
      if (count === 0) return 0;
      const now = clock();
      if (now >= sweepAt || sweepAt > now + windowMs) sweep(now);
      const known = open.get(client) ?? spent.get(client);
      const window = known === undefined || isOver(known, now) ? startWindow(client, now) : known;
      if (window.count >= count) return Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      window.count += 1;
      if (window.count >= count) {
        open.delete(client);
        spent.set(client, window);
      }
      return 0;
    },
    refund(client) {
      const window = open.get(client) ?? spent.get(client);
      if (window === undefined) return;
      window.count -= 1;
      spent.delete(client);
      if (window.count > 0) open.set(client, window);
      else open.delete(client);
    },
  };
}

/** A rate limit for clients without an account. All addresses of a network count as one caller. */
export type NetworkLimit = RateLimit & { readonly by: "network" };

export function createNetworkLimit(perMinute: number, clock: Clock): NetworkLimit {
  const limit = createRateLimit(perMinute, clock);
  return {
    by: "network",
    take: (address) => limit.take(networkOf(address)),
    refund: (address) => limit.refund(networkOf(address)),
  };
}

/** Counts a request. Throws RATE_LIMITED if the limit is reached. */
export function consumeLimit(limit: RateLimit, client: string) {
  const wait = limit.take(client);
  if (wait > 0) throw rateLimitError(wait);
}
