import type { Clock } from "../../core/time/clock.ts";
import { type RqliteClient } from "./client.ts";
import { unavailable } from "./errors.ts";

/** A clock that is off by more would put what happens here before or after what happens elsewhere. */
const toleratedMs = 5_000;
/** The database's clocks are looked at again after so long, … */
const lookMs = 60_000;
/** … and while this one is wrong, no more often than this. */
const retryMs = 1_000;

type ClockWatch = ReturnType<typeof clockWatch>;

/** Knows how far this machine's clock is ahead of the database's. One that jumps is noticed at once. */
export function clockWatch(
  client: Pick<RqliteClient, "clockOffset">,
  clock: Clock,
  monotonic: Clock = () => performance.now(),
) {
  /** What the database's clock said when the monotonic one said 0. */
  let base: number | null = null;
  let lookedAt = -Infinity;
  let looking: Promise<void> | null = null;

  const offsetMs = () => (base === null ? null : Math.round(clock() - monotonic() - base));
  const isWrong = () => Math.abs(offsetMs() ?? 0) > toleratedMs;

  function look(): Promise<void> {
    lookedAt = monotonic();
    looking ??= client
      .clockOffset(clock)
      .then((offset) => {
        if (offset !== null) base = clock() - offset - monotonic();
      })
      .finally(() => (looking = null));
    return looking;
  }

  return {
    look,
    offsetMs,
    /** What is wrong with the clock; null for nothing. */
    async problem(): Promise<string | null> {
      const age = monotonic() - lookedAt;
      if (age > lookMs) void look();
      // It may be the other one that has stopped: a machine that slept.
      if (isWrong() && (age > retryMs || looking !== null)) await look();
      const offset = offsetMs() ?? 0;
      if (Math.abs(offset) <= toleratedMs) return null;
      const direction = offset > 0 ? "ahead of" : "behind";
      return `the clock of this machine is ${Math.round(Math.abs(offset) / 1_000)} s ${direction} those of the database`;
    },
  };
}

/** Throws UNAVAILABLE where what is written now would have a wrong time. */
export async function mustBeInTime(watch: ClockWatch): Promise<void> {
  const problem = await watch.problem();
  if (problem !== null) throw unavailable(problem);
}
