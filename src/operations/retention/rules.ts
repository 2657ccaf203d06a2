import { dayMs } from "../../core/time/clock.ts";

/** A larger step of the clock between two runs means that it was set, or that the appliance was off. */
const jumpMs = 3 * dayMs;
/** Time after which a doubted clock is believed. */
export const doubtedClockMs = 3 * dayMs;
const cleanUpIntervalMs = dayMs;

/** State of the clock, as retention sees it. Times are Unix milliseconds. */
export type ClockState = {
  /** Time by which retention judges age. It does not advance while the clock is doubted, so nothing more is removed. */
  believed: number;
  /** Last reading of the clock. */
  seen: number;
  /** Reading at which the doubt began; null while the clock is believed. */
  doubtedSince: number | null;
};

/**
 * Returns the state of the clock after the reading `now`. A jump ahead is ignored for three days. A clock that is set
 * back is accepted, because retention then removes less.
 */
export function judgeClock({ believed, seen, doubtedSince }: ClockState, now: number): ClockState {
  if (now - believed <= jumpMs) return { believed: now, seen: now, doubtedSince: null };
  const goesOn = doubtedSince !== null && now >= doubtedSince && now - seen <= jumpMs;
  const since = goesOn ? doubtedSince : now;
  return now - since >= doubtedClockMs
    ? { believed: now, seen: now, doubtedSince: null }
    : { believed, seen: now, doubtedSince: since };
}

/** Whether the daily run is due. */
export function isDue(lastNow: number | null, now: number): boolean {
  return lastNow === null || Math.abs(now - lastNow) >= cleanUpIntervalMs;
}
