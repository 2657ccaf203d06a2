import { type Clock, systemClock } from "../core/time/clock.ts";

/** Kinds of regular writes that show whether the database accepts writes. */
type Source = "results" | "leases";

/** How long writes must fail before the database counts as failing. A busy disk or an election takes 2–3 s. */
const failedMs = 2_000;
/** How long a write can stay without an outcome. Cluster clients retry for 5 s. */
const pendingMs = 5_000;

/** The oldest unfinished write of a kind. */
type Unstored = { since: number; begunAt: number; hasFailed: boolean };

/** Tracks in memory since when the database has rejected the regular writes of this process. */
export type WriteHealth = {
  began(source: Source): void;
  failed(source: Source): void;
  succeeded(source: Source): void;
  /** Returns the time of the oldest write that can't be stored, in Unix milliseconds; null if writes succeed. */
  failingSince(): number | null;
};

export function writeHealth(
  clock: Clock = systemClock,
  monotonic: Clock = () => performance.now(),
): WriteHealth {
  const unstored = new Map<Source, Unstored>();

  function begin(source: Source): Unstored {
    const known = unstored.get(source);
    if (known !== undefined) return known;
    const begun = { since: clock(), begunAt: monotonic(), hasFailed: false };
    unstored.set(source, begun);
    return begun;
  }

  const counts = ({ begunAt, hasFailed }: Unstored) =>
    monotonic() - begunAt >= (hasFailed ? failedMs : pendingMs);

  return {
    began: (source) => void begin(source),
    failed: (source) => void (begin(source).hasFailed = true),
    succeeded: (source) => void unstored.delete(source),
    failingSince() {
      if (unstored.size === 0) return null;
      const failing = [...unstored.values()].filter(counts);
      return failing.length === 0 ? null : Math.min(...failing.map(({ since }) => since));
    },
  };
}
