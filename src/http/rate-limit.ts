import type { Clock } from "../base/clock.ts";

export type RateLimit = {
  /** Counts one and returns 0, or returns the whole seconds to wait when the minute's share is used up. */
  take(who: string): number;
  /** Takes back one that turned out not to count. */
  giveBack(who: string): void;
};

const windowMs = 60_000;

/** `perMinute` a minute for each caller, from its first request on; 0 means no limit. */
export function rateLimit(perMinute: number, clock: Clock): RateLimit {
  let windows = new Map<string, { endsAt: number; count: number }>();
  let sweepAt = 0;
  return {
    take(who) {
      if (perMinute === 0) return 0;
      const now = clock();
      if (now >= sweepAt) {
        windows = new Map([...windows].filter(([, window]) => window.endsAt > now));
        sweepAt = now + windowMs;
      }
      let window = windows.get(who);
      if (window === undefined || window.endsAt <= now || window.endsAt > now + windowMs) {
        window = { endsAt: now + windowMs, count: 0 };
        windows.set(who, window);
      }
      if (window.count >= perMinute) return Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      window.count += 1;
      return 0;
    },
    giveBack(who) {
      const window = windows.get(who);
      if (window !== undefined && window.count > 0) window.count -= 1;
    },
  };
}
