/** Detects stalls of the event loop and jumps of the wall clock between two ticks. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import type { Problem } from "../../core/problems.ts";
import { formatDuration } from "../../core/text/formatting.ts";

export const tickMs = 1_000;
const stallMs = 5_000;
/** A larger difference between both clocks means that the wall clock was set or that the machine slept. */
const jumpMs = 5_000;
/** A stall or jump ends after this time without another one. */
const calmMs = 600_000;

/** Readings of both clocks at the same time, in milliseconds. */
export type ClockReadings = { wall: number; monotonic: number };

export function findMomentaryProblems(
  last: ClockReadings,
  { wall, monotonic }: ClockReadings,
): Problem[] {
  const stalled = monotonic - last.monotonic - tickMs;
  const jumped = wall - last.wall - (monotonic - last.monotonic);
  const common = { stage: "", severity: "warning", until: wall + calmMs } as const;
  const found: Problem[] = [];
  if (stalled > stallMs)
    found.push({
      ...common,
      name: "loop",
      message: `Signalbox did nothing for ${formatDuration(Math.round(stalled / 1000))}: the machine was too busy, or paused it. Checks of that time are not judged.`,
    });
  if (Math.abs(jumped) > jumpMs)
    found.push({
      ...common,
      name: "clock",
      message: `The clock went ${jumped > 0 ? "forward" : "back"} by ${formatDuration(Math.round(Math.abs(jumped) / 1000))}: it was set, or the machine slept. Make sure that it is synchronized with a time server.`,
    });
  return found;
}

/** Whether a problem with a fixed end is over. An end far ahead means that the clock went back. */
export function isExpired({ name, until }: Pick<Problem, "name" | "until">, now: number): boolean {
  const longestMs = name === "unhandled" ? dayMs : hourMs;
  return until !== null && (until <= now || until > now + longestMs);
}
