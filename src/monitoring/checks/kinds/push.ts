import { durationInWords } from "../../../core/text/words.ts";
import type { CheckResult } from "../check.ts";
import type { TroubleWatch } from "../engine/own-trouble.ts";
import { inverse, maxStallMs, unknownResult } from "../engine/run-check.ts";

type Reporting = { intervalSeconds: number; settings: Record<string, unknown> | null };

/** Within so many seconds the next result is in time; a push monitor has a grace of its own. */
export function allowedSeconds({ intervalSeconds, settings }: Reporting): number {
  return intervalSeconds + Number(settings?.["grace"] ?? 0);
}

/** A report that arrived during a standstill is read within this time. */
const lateReportMs = 10_000;

/** The result of a monitor without a report in time, unless no report could arrive. */
export function silenceOutcome(
  monitor: Reporting & { inverted: boolean },
  trouble: TroubleWatch,
  now: number,
): CheckResult {
  const interruption = interruptionIn(monitor, trouble, now);
  if (interruption !== null) return unknownResult(interruption.reason);
  const stalled = trouble.during(now - lateReportMs, now, maxStallMs);
  if (stalled !== null) return unknownResult(stalled);
  return monitor.inverted ? inverse(overdue(monitor)) : overdue(monitor);
}

/** When silence counts again. After an interruption the window starts anew, as it does when the appliance starts. */
export function nextSilenceAt(
  monitor: Reporting,
  trouble: TroubleWatch,
  startedAt: number,
  seconds: number,
): number {
  const { until } = interruptionIn(monitor, trouble, startedAt) ?? { until: Infinity };
  return until === Infinity ? startedAt + seconds * 1000 : until + allowedSeconds(monitor) * 1000;
}

/** The last interruption in the window that ends now. */
const interruptionIn = (monitor: Reporting, trouble: TroubleWatch, now: number) =>
  trouble.interruptionSince(now - allowedSeconds(monitor) * 1000);

/** Down at once: the grace was the patience. */
function overdue(monitor: Reporting): CheckResult {
  const allowed = durationInWords(allowedSeconds(monitor));
  return {
    status: "down",
    final: true,
    message: `Nothing was reported for ${allowed}.`,
    latencyMs: null,
  };
}

/** What is known of a job that had failed when nobody listened to it, and can't be asked. */
export const stillFailing: CheckResult = {
  status: "down",
  final: true,
  message: "It failed, and nothing else has been reported since.",
  latencyMs: null,
};

/** What is known, when maintenance begins or ends, of a job whose reports were good and in time. */
export const stillReporting: CheckResult = {
  status: "up",
  message: "It last reported up, and in time.",
  latencyMs: null,
};
