/** Rules of a pause: how its two fields depend on each other, and how late it can end. */
import { monitorBounds } from "../../core/limits.ts";

/** Whether a monitor is paused, and the end of the pause; null if there is none. */
export type Pause = { paused: boolean; pausedUntil: string | null };

/** Fields of a pause in a request. */
export type GivenPause = { paused?: boolean | undefined; pausedUntil?: string | null | undefined };

/** Returns the pause after a change. `pausedUntil` alone pauses, `paused: true` alone removes the end, and `paused: false` resumes. */
export function computePause(before: Pause, { paused, pausedUntil }: GivenPause): Pause {
  if (paused === undefined && pausedUntil === undefined)
    return { paused: before.paused, pausedUntil: before.pausedUntil };
  if (paused === false) return { paused: false, pausedUntil: null };
  if (typeof pausedUntil === "string") return { paused: true, pausedUntil };
  return { paused: paused ?? before.paused, pausedUntil: null };
}

/** Returns why a pause can't end then; null if it can. */
export function findPauseEndIssue(pausedUntil: string, now: number): string | null {
  const end = Date.parse(pausedUntil);
  if (end <= now) return "must be in the future";
  const { value } = monitorBounds.pause;
  return end > now + value * 1000 ? "must be at most 365 days from now" : null;
}

/** Returns why an end contradicts `paused`; null if it does not. */
export const findPauseConflict = ({ paused, pausedUntil }: GivenPause): string | null =>
  paused === false && typeof pausedUntil === "string" ? "can't be used with paused: false" : null;

/**
 * Returns the pause that replaces the one of a configuration file or another program: a pause with an end is a
 * person's, so only a pause without an end replaces it. Empty if the monitor has no such pause.
 */
export const keepTemporaryPause = ({ pausedUntil }: Pause, isPausedThere: boolean) =>
  pausedUntil === null ? {} : { paused: true, pausedUntil: isPausedThere ? null : pausedUntil };
