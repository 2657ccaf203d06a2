/** Decides the state of a monitor after a check, and when to check it next. */
import type { StoredStatus } from "../../core/statuses.ts";

/** State of a monitor between two checks. */
export type MonitorState = {
  status: StoredStatus;
  /** Time of the last change of status, RFC 3339. */
  since: string;
  /** Failed checks in a row. */
  failures: number;
  /** Good results in a row while the monitor is still down. */
  successes: number;
};

/** Result of a check. With `isFinal`, a failure makes the monitor down without retries. */
export type CheckResult = { status: "up" | "degraded" | "down" | "unknown"; isFinal?: boolean };

/** Number of consecutive results before the state changes: failures after the first one, and successes. */
type Patience = { retries: number; successThreshold: number };
type Pace = { intervalSeconds: number; retryIntervalSeconds: number };

/**
 * Returns the state of a monitor after a check at `at`, RFC 3339. The monitor becomes down after a failure and `retries`
 * further failures in a row. It becomes up or degraded again after `successThreshold` successes in a row. `unknown` does
 * not change the state. During maintenance, failures are counted, but the status stays `maintenance`. Returns `before`
 * itself if nothing changes.
 */
export function stateAfter(
  before: MonitorState,
  found: CheckResult,
  monitor: Patience & { inMaintenance: boolean },
  at: string,
): MonitorState {
  const failures =
    found.status === "unknown"
      ? before.failures
      : found.status === "down"
        ? before.failures + 1
        : 0;
  const successes = countSuccesses(before, found);
  const status = monitor.inMaintenance
    ? "maintenance"
    : judgeStatus(before, found, { failures, successes }, monitor);
  const after = { status, failures, successes: status === "down" ? successes : 0 };
  if (status !== before.status) return { ...after, since: at };
  const isSame = failures === before.failures && after.successes === before.successes;
  return isSame ? before : { ...after, since: before.since };
}

function countSuccesses({ status, successes }: MonitorState, found: CheckResult): number {
  if (found.status === "unknown") return successes;
  return found.status !== "down" && status === "down" ? successes + 1 : 0;
}

function judgeStatus(
  before: MonitorState,
  found: CheckResult,
  { failures, successes }: Pick<MonitorState, "failures" | "successes">,
  { retries, successThreshold }: Patience,
): StoredStatus {
  const unmaintained = before.status === "maintenance" ? "pending" : before.status;
  if (found.status === "unknown") return unmaintained;
  if (found.status !== "down")
    return before.status === "down" && successes < successThreshold ? "down" : found.status;
  return found.isFinal === true || failures > retries ? "down" : unmaintained;
}

/** Returns the state while its change must wait: the same status, with the results in a row that call for another. */
export const postponeChange = (
  before: MonitorState,
  after: MonitorState,
  { retries, successThreshold }: Patience,
): MonitorState => ({
  status: before.status,
  since: before.since,
  failures: after.status === "down" ? Math.max(after.failures, retries + 1) : 0,
  successes: before.status === "down" ? successThreshold : 0,
});

/** Whether the results in a row call for another status, because its change was postponed. */
export function isChangePostponed(
  { status, failures, successes }: MonitorState,
  { retries, successThreshold }: Patience,
): boolean {
  if (status === "maintenance") return false;
  return status === "down" ? successes >= successThreshold : failures > retries;
}

/** Whether a result changes the monitor to down. */
export const goesDown = (
  before: MonitorState,
  found: CheckResult,
  monitor: Patience & { inMaintenance: boolean },
): boolean =>
  before.status !== "down" && stateAfter(before, found, monitor, before.since).status === "down";

/** A node's result for a monitor. */
export type Probe = { by: string; status: CheckResult["status"] };

/** Returns a sentence about the contradiction if another node's check succeeds; else null. */
export function findContradiction(probes: readonly Probe[], message: string): string | null {
  const other = probes.find(({ status }) => status === "up" || status === "degraded");
  if (other === undefined) return null;
  return `${other.by} sees it ${other.status}, while here: ${message.replace(/\.$/, "")}`;
}

/** Whether the next check follows after the retry interval. */
function isRetried(state: MonitorState, found: CheckResult): boolean {
  return (
    found.status === "unknown" ||
    (found.status === "down" && state.status !== "down" && state.status !== "maintenance")
  );
}

/** Returns the seconds until the next check. A scheduled result covers this time in uptime. */
export function computeSecondsToNext(state: MonitorState, found: CheckResult, pace: Pace): number {
  const { intervalSeconds, retryIntervalSeconds } = pace;
  return isRetried(state, found)
    ? Math.min(retryIntervalSeconds, intervalSeconds)
    : intervalSeconds;
}

/**
 * Returns the seconds that a report or a first result covers in uptime: the time since the last covered moment, at
 * least 1 and at most `allowedSeconds`.
 */
export function computeSecondsSince(
  endedAt: number | null,
  at: number,
  allowedSeconds: number,
): number {
  const elapsedSeconds = endedAt === null ? 1 : Math.round((at - endedAt) / 1000);
  return Math.min(Math.max(elapsedSeconds, 1), allowedSeconds);
}

/** Whether the previous result still covers at least half a second after `at`. */
export function isEarly(at: number, lastAt: number, standsUntil: number): boolean {
  return at > lastAt && standsUntil - at >= 500;
}

/**
 * Returns the offset of a monitor in its interval, in milliseconds. Multiples of the golden ratio spread keys evenly.
 */
export function computePhase(key: number, intervalMs: number): number {
  const goldenRatio = 0.618033988749895;
  return Math.floor(((key * goldenRatio) % 1) * intervalMs);
}

/** Returns the first slot after `after`, on the same clock. */
export function computeNextSlot(key: number, intervalMs: number, after: number): number {
  const phase = computePhase(key, intervalMs);
  return phase + (Math.floor((after - phase) / intervalMs) + 1) * intervalMs;
}

/**
 * Returns the time of a new heartbeat: now, or 1 ms after the last heartbeat, because the two must differ. If the clock
 * was set back by more than a second, the time is not adjusted.
 */
export function computeNextMoment(lastAt: number | null, now: number): number {
  return lastAt !== null && lastAt >= now && lastAt - now < 1_000 ? lastAt + 1 : now;
}
