/** Results of push monitors without a new report: overdue, unknown, or repeated for maintenance. */
import { formatDuration } from "../../../core/text/formatting.ts";
import type { CheckResult } from "../check.ts";
import type { TroubleWatch } from "../engine/own-trouble.ts";
import { invertOutcome, maxStallMs, createUnknownResult } from "../engine/run-check.ts";

type Reporting = { intervalSeconds: number; settings: Record<string, unknown> | null };

/** Returns the maximum seconds until the next result: the interval plus the grace period of a push monitor. */
export function computeAllowedSeconds({ intervalSeconds, settings }: Reporting): number {
  return intervalSeconds + Number(settings?.["grace"] ?? 0);
}

/** Maximum time to process a report that arrived during a standstill. */
const lateReportMs = 10_000;

/** Returns the result for an overdue report: down, or unknown if no report could arrive. */
export function judgeSilence(
  monitor: Reporting & { inverted: boolean },
  trouble: TroubleWatch,
  now: number,
): CheckResult {
  const interruption = findInterruption(monitor, trouble, now);
  if (interruption !== null) return createUnknownResult(interruption.reason);
  const stalled = trouble.findTroubleDuring(now - lateReportMs, now, maxStallMs);
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
  monitor: Reporting,
  trouble: TroubleWatch,
  startedAt: number,
  seconds: number,
): number {
  const { until } = findInterruption(monitor, trouble, startedAt) ?? { until: Infinity };
  return until === Infinity
    ? startedAt + seconds * 1000
    : until + computeAllowedSeconds(monitor) * 1000;
}

/** Finds the last interruption within the allowed time before `now`. */
const findInterruption = (monitor: Reporting, trouble: TroubleWatch, now: number) =>
  trouble.findInterruptionSince(now - computeAllowedSeconds(monitor) * 1000);

/** Creates a failure without retries, because the grace period replaces them. */
function createOverdueResult(monitor: Reporting): CheckResult {
  const allowed = formatDuration(computeAllowedSeconds(monitor));
  return {
    status: "down",
    final: true,
    message: `Nothing was reported for ${allowed}.`,
    latencyMs: null,
  };
}

/** Result at the start or end of maintenance if the last report was down. */
export const stillFailingResult: CheckResult = {
  status: "down",
  final: true,
  message: "It failed, and nothing else has been reported since.",
  latencyMs: null,
};

/** Result at the start or end of maintenance if the last report was up and in time. */
export const stillReportingResult: CheckResult = {
  status: "up",
  message: "It last reported up, and in time.",
  latencyMs: null,
};
