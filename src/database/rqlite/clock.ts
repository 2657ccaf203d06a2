import type { Clock } from "../../core/time/clock.ts";
import { type RqliteClient } from "./client.ts";
import { unavailableError } from "./errors.ts";

/** Tolerated clock offset, in milliseconds. A larger offset could reorder events of different machines. */
const toleratedMs = 5_000;
/** Interval between checks of the database's clocks. */
const measureIntervalMs = 60_000;
/** Minimum interval between checks while this clock is wrong. */
const retryMs = 1_000;

type ClockWatch = ReturnType<typeof createClockWatch>;

/** Tracks the offset of this machine's clock from the database's. Detects clock jumps immediately. */
export function createClockWatch(client: Pick<RqliteClient, "clockOffset">, clock: Clock) {
  /** Database time at the monotonic time 0. */
  let base: number | null = null;
  let measuredAt = -Infinity;
  let measurement: Promise<void> | null = null;

  const computeOffsetMs = () =>
    base === null ? null : Math.round(clock() - performance.now() - base);
  const isWrong = () => Math.abs(computeOffsetMs() ?? 0) > toleratedMs;

  function measureOffset(): Promise<void> {
    measuredAt = performance.now();
    measurement ??= client
      .clockOffset(clock)
      .then((offset) => {
        if (offset !== null) base = clock() - offset - performance.now();
      })
      .finally(() => (measurement = null));
    return measurement;
  }

  return {
    look: measureOffset,
    offsetMs: computeOffsetMs,
    /** Describes the clock problem; null if the clock is correct. */
    async findProblem(): Promise<string | null> {
      const age = performance.now() - measuredAt;
      if (age > measureIntervalMs) void measureOffset();
      // Measures again, because the monotonic clock could have stopped instead, such as during sleep.
      if (isWrong() && (age > retryMs || measurement !== null)) await measureOffset();
      const offset = computeOffsetMs() ?? 0;
      if (Math.abs(offset) <= toleratedMs) return null;
      const direction = offset > 0 ? "ahead of" : "behind";
      return `the clock of this machine is ${Math.round(Math.abs(offset) / 1_000)} s ${direction} those of the database`;
    },
  };
}

/** Throws UNAVAILABLE while this machine's clock would give new records a wrong time. */
export async function assertClockInTime(watch: ClockWatch): Promise<void> {
  const problem = await watch.findProblem();
  if (problem !== null) throw unavailableError(problem);
}
