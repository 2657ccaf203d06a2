import { dayMs } from "../../core/time/clock.ts";

/** A larger step of the clock between two minutes means that it was set, or that the appliance was off. */
const jumpMs = 3 * dayMs;
/** Time after which a doubted clock is believed. */
export const doubtMs = 3 * dayMs;
const everyMs = dayMs;

/** State of the clock. Times are Unix milliseconds. */
export type ClockState = {
  /** Time for the retention: a doubted clock removes nothing. */
  believed: number;
  /** Last reading of the clock. */
  seen: number;
  /** Since when it says something else; null while it is believed. */
  doubtedSince: number | null;
};

/**
 * State of the clock after the reading `now`. A clock that jumps ahead is doubted for days; one that is set back is
 * believed, because that removes less.
 */
export function clockAfter({ believed, seen, doubtedSince }: ClockState, now: number): ClockState {
  if (now - believed <= jumpMs) return { believed: now, seen: now, doubtedSince: null };
  const goesOn = doubtedSince !== null && now >= doubtedSince && now - seen <= jumpMs;
  const since = goesOn ? doubtedSince : now;
  return now - since >= doubtMs
    ? { believed: now, seen: now, doubtedSince: null }
    : { believed, seen: now, doubtedSince: since };
}

/** Whether the daily work is due. */
export function isDue(lastNow: number | null, now: number): boolean {
  return lastNow === null || Math.abs(now - lastNow) >= everyMs;
}
