import { formatDuration } from "../core/text/formatting.ts";
import { clamp } from "./values.ts";

const daySeconds = 86_400;

/**
 * Fits the time that a job may be silent, in seconds, into the interval and the grace time of a push monitor. Their sum
 * stays the same, so that no job is overdue earlier than in the source. `reason` explains a time that is too long.
 * `leastGrace` is for sources without a grace time, whose jobs can report at the last moment.
 */
export function fitSilence(seconds: number, graceSeconds: number, leastGrace = 0) {
  const total = Math.round(seconds) + Math.round(graceSeconds);
  const fits = seconds <= daySeconds && graceSeconds <= daySeconds;
  const interval = fits ? clamp(Math.round(seconds), 5, daySeconds) : daySeconds;
  const grace = fits ? Math.round(graceSeconds) : total - interval;
  return {
    interval,
    grace: clamp(grace, leastGrace, daySeconds),
    reason:
      total <= 2 * daySeconds
        ? null
        : `a silence of ${formatDuration(total)}, as the longest is two days. Set a schedule`,
  };
}
