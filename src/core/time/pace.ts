/** Returns the milliseconds to wait before the next run of some work. */
export type Pace = () => number;

/**
 * Spaces out work that many callers need at once, so that one run serves several of them. The first `burst` runs of a
 * busy time need not wait.
 */
function createPace({ burst, intervalMs }: { burst: number; intervalMs: number }): Pace {
  let nextAt = -Infinity;
  return () => {
    const now = performance.now();
    const at = Math.max(nextAt, now - burst * intervalMs);
    nextAt = at + intervalMs;
    return Math.max(0, at - now);
  };
}

/**
 * Pace of writes that callers wait for. A commit costs a disk sync and a run of all followers, so at 500 requests/s ten
 * of them share one. A single client never notices.
 */
export const createCommitPace = (): Pace => createPace({ burst: 100, intervalMs: 20 });

/** Returns the time until the next attempt after this many failures in a row: doubles from `firstMs` up to `maxMs`. */
export const computeBackoffMs = (failures: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** (failures - 1));
