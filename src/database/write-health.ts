import { type Clock, readSystemClock } from "../core/time/clock.ts";

/** Kinds of regular writes that show whether the database accepts writes. */
type Source = "results" | "leases";

/** How long writes must fail before the database counts as failing. A busy disk or an election takes 2–3 s. */
const failedMs = 2_000;
/** How long a write can stay without an outcome. Cluster clients retry for 5 s. */
const pendingMs = 5_000;

/** The oldest unfinished write of a kind. */
type UnfinishedWrite = { since: number; startedAt: number; hasFailed: boolean };

/** Tracks in memory since when the database has rejected the regular writes of this process. */
export type WriteHealth = {
  recordStart(source: Source): void;
  recordFailure(source: Source): void;
  recordSuccess(source: Source): void;
  /** Returns the time of the oldest write that can't be stored, in Unix milliseconds; null if writes succeed. */
  getFailingSince(): number | null;
};

export function createWriteHealth(
  clock: Clock = readSystemClock,
  monotonic: Clock = () => performance.now(),
): WriteHealth {
  const unstored = new Map<Source, UnfinishedWrite>();

  function trackWrite(source: Source): UnfinishedWrite {
    const known = unstored.get(source);
    if (known !== undefined) return known;
    const entry = { since: clock(), startedAt: monotonic(), hasFailed: false };
    unstored.set(source, entry);
    return entry;
  }

  const isFailing = ({ startedAt, hasFailed }: UnfinishedWrite) =>
    monotonic() - startedAt >= (hasFailed ? failedMs : pendingMs);

  return {
    recordStart: (source) => void trackWrite(source),
    recordFailure: (source) => void (trackWrite(source).hasFailed = true),
    recordSuccess: (source) => void unstored.delete(source),
    getFailingSince() {
      if (unstored.size === 0) return null;
      const failing = [...unstored.values()].filter(isFailing);
      return failing.length === 0 ? null : Math.min(...failing.map(({ since }) => since));
    },
  };
}
