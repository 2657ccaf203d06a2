import { dayMs } from "../../core/time/clock.ts";

/** A clock that goes on by more than this from one minute to the next was set, or the appliance was off so long. */
const jumpMs = 3 * dayMs;
/** It is believed when it has gone on from there for so long. */
export const doubtMs = 3 * dayMs;
const everyMs = dayMs;

/** What is known of the clock. Times are Unix milliseconds. */
export type ClockState = {
  /** What housekeeping takes for the time: nothing is removed for its age by a clock in doubt. */
  believed: number;
  /** What the clock said last. */
  seen: number;
  /** Since when it says something else; null while it is believed. */
  doubtedSince: number | null;
};

/**
 * The state of the clock when it says `now`. One that is set ahead ages nothing until it has gone on for
 * days; one that is set back is believed, because that removes less.
 */
export function clockAfter({ believed, seen, doubtedSince }: ClockState, now: number): ClockState {
  if (now - believed <= jumpMs) return { believed: now, seen: now, doubtedSince: null };
  const goesOn = doubtedSince !== null && now >= doubtedSince && now - seen <= jumpMs;
  const since = goesOn ? doubtedSince : now;
  return now - since >= doubtMs
    ? { believed: now, seen: now, doubtedSince: null }
    : { believed, seen: now, doubtedSince: since };
}

/** Whether what is done daily is due. */
export function isDue(lastNow: number | null, now: number): boolean {
  return lastNow === null || Math.abs(now - lastNow) >= everyMs;
}
