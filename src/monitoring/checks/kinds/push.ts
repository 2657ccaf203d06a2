/** Results of push monitors without a new report: overdue, unknown, or repeated for maintenance. */
import type { Fields } from "../../../core/collections/objects.ts";
import { formatDuration } from "../../../core/text/formatting.ts";
import { formatUtcMinute } from "../../../core/time/clock.ts";
import type { OpenRuns } from "../../jobs/report-rules.ts";
import { parseSchedule } from "../../jobs/schedule-rules.ts";
import type { CheckResult } from "../check.ts";
import type { TroubleWatch } from "../engine/own-trouble.ts";
import { invertOutcome, maxStallMs, createUnknownResult } from "../engine/run-check.ts";

type Reporting = { intervalSeconds: number; settings: Fields | null };
/** A push monitor that waits for a report, with its open runs and the time since which it waits (Unix milliseconds). */
export type WaitingMonitor = Reporting & { runs: OpenRuns; waitsSince: number };

/** Shortest maximum run time if it is not set and the grace period is shorter. */
const minRunSeconds = 60;

const graceOf = ({ settings }: Reporting) => Number(settings?.["grace"] ?? 0);

/** Maximum seconds of a run: its own limit, or the grace period as in Healthchecks. */
const computeMaxRunSeconds = (monitor: Reporting) =>
  Number(monitor.settings?.["maximumRunTime"] ?? Math.max(graceOf(monitor), minRunSeconds));

/** Returns when the next report is due after one at `since`, in Unix milliseconds; Infinity for never again. */
export function computeDue({ intervalSeconds, settings }: Reporting, since: number): number {
  const { schedule, timeZone } = settings ?? {};
  if (typeof schedule !== "string") return since + intervalSeconds * 1000;
  const zone = typeof timeZone === "string" ? timeZone : "UTC";
  return parseSchedule({ expression: schedule, timeZone: zone })(since) ?? Infinity;
}

/** Returns when the next report becomes overdue, in Unix milliseconds: after a run that takes too long, or if it is late. */
export function computeDeadline(monitor: Reporting & { runs: OpenRuns }, since: number): number {
  const { current } = monitor.runs;
  if (current !== null) return Math.max(current.at, since) + computeMaxRunSeconds(monitor) * 1000;
  return computeDue(monitor, since) + graceOf(monitor) * 1000;
}

/** Returns the maximum seconds after `since` that a report covers in uptime. */
export function computeAllowedSeconds(monitor: Reporting, since: number): number {
  const untilDue = Math.round((computeDue(monitor, since) - since) / 1000);
  return untilDue + graceOf(monitor) + Number(monitor.settings?.["maximumRunTime"] ?? 0);
}

/** Maximum time to process a report that arrived during a standstill. */
const lateReportMs = 10_000;

/** Current time: monotonic and Unix milliseconds. */
type Now = { monotonic: number; unix: number };

/** Returns the result for an overdue report: down, or unknown if no report could arrive. */
export function judgeSilence(
  monitor: WaitingMonitor & { inverted: boolean },
  trouble: TroubleWatch,
  now: Now,
): CheckResult {
  const interruption = findInterruption(monitor, trouble, now);
  if (interruption !== null) return createUnknownResult(interruption.reason);
  const stalled = trouble.findTroubleDuring(
    now.monotonic - lateReportMs,
    now.monotonic,
    maxStallMs,
  );
  if (stalled !== null) return createUnknownResult(stalled);
  return monitor.inverted
    ? invertOutcome(createOverdueResult(monitor))
    : createOverdueResult(monitor);
}

/**
 * Returns when the next report becomes overdue, in monotonic milliseconds. An interruption or a restart of the
 * appliance restarts the allowed time.
 */
export function computeNextSilence(
  monitor: WaitingMonitor,
  trouble: TroubleWatch,
  now: Now,
  seconds: number,
): number {
  const interruption = findInterruption(monitor, trouble, now);
  return interruption === null || interruption.until === Infinity
    ? now.monotonic + seconds * 1000
    : now.monotonic + (interruption.deadline - now.unix);
}

/** Finds the last interruption after which the report can still arrive in time. */
function findInterruption(
  monitor: WaitingMonitor,
  trouble: TroubleWatch,
  { monotonic, unix }: Now,
) {
  const found = trouble.findInterruptionSince(monotonic - (unix - monitor.waitsSince));
  if (found === null) return null;
  const deadline = computeDeadline(monitor, unix - (monotonic - found.until));
  return deadline > unix ? { ...found, deadline } : null;
}

/** Creates a failure without retries, because the grace period replaces them. */
function createOverdueResult(monitor: WaitingMonitor): CheckResult {
  return { status: "down", isFinal: true, message: describeSilence(monitor), latencyMs: null };
}

function describeSilence(monitor: WaitingMonitor): string {
  if (monitor.runs.current !== null)
    return `It started, and did not finish within ${formatDuration(computeMaxRunSeconds(monitor))}.`;
  if (typeof monitor.settings?.["schedule"] === "string")
    return `It was due at ${formatUtcMinute(computeDue(monitor, monitor.waitsSince))}, and nothing was reported.`;
  return `Nothing was reported for ${formatDuration(monitor.intervalSeconds + graceOf(monitor))}.`;
}

/** Result at the start or end of maintenance if the last report was down. */
export const stillFailingResult: CheckResult = {
  status: "down",
  isFinal: true,
  message: "It failed, and nothing else has been reported since.",
  latencyMs: null,
};

/** Result at the start or end of maintenance if the last report was up and in time. */
export const stillReportingResult: CheckResult = {
  status: "up",
  message: "It last reported up, and in time.",
  latencyMs: null,
};
