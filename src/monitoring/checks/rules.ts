import type { StoredStatus } from "../../core/statuses.ts";

/** State of a monitor between two checks. */
export type MonitorState = {
  status: StoredStatus;
  /** RFC 3339. */
  since: string;
  /** Failed checks in a row. */
  failures: number;
  /** Good results in a row while the monitor is still down. */
  successes: number;
};

/** What a check found; `final` makes it down without further retries. */
export type Found = { status: "up" | "degraded" | "down" | "unknown"; final?: boolean };

/** Results in a row that it takes to change, beyond the first failure. */
type Patience = { retries: number; successThreshold: number };
type Pace = { intervalSeconds: number; retryIntervalSeconds: number };

/**
 * What a monitor is after a check. It takes `retries` further failures in a row to be down, and then
 * `successThreshold` successes in a row to be up or degraded again. `unknown` changes nothing: the trouble was not the target's.
 * Under maintenance failures are counted but it stays in maintenance; the first check after it tells.
 * What changes nothing is the state before itself.
 */
export function stateAfter(
  before: MonitorState,
  found: Found,
  monitor: Patience & { inMaintenance: boolean },
  at: string,
): MonitorState {
  const failures =
    found.status === "unknown"
      ? before.failures
      : found.status === "down"
        ? before.failures + 1
        : 0;
  const successes = successesAfter(before, found);
  const status = monitor.inMaintenance
    ? "maintenance"
    : judged(before, found, { failures, successes }, monitor);
  const after = { status, failures, successes: status === "down" ? successes : 0 };
  if (status !== before.status) return { ...after, since: at };
  const isSame = failures === before.failures && after.successes === before.successes;
  return isSame ? before : { ...after, since: before.since };
}

function successesAfter({ status, successes }: MonitorState, found: Found): number {
  if (found.status === "unknown") return successes;
  return found.status !== "down" && status === "down" ? successes + 1 : 0;
}

function judged(
  before: MonitorState,
  found: Found,
  { failures, successes }: Pick<MonitorState, "failures" | "successes">,
  { retries, successThreshold }: Patience,
): StoredStatus {
  const unmaintained = before.status === "maintenance" ? "pending" : before.status;
  if (found.status === "unknown") return unmaintained;
  if (found.status !== "down")
    return before.status === "down" && successes < successThreshold ? "down" : found.status;
  return found.final === true || failures > retries ? "down" : unmaintained;
}

/** Whether a check takes a monitor down. */
export const goesDown = (
  before: MonitorState,
  found: Found,
  monitor: Patience & { inMaintenance: boolean },
): boolean =>
  before.status !== "down" && stateAfter(before, found, monitor, before.since).status === "down";

/** Another node's result for a monitor. */
export type Probe = { by: string; status: Found["status"] };

/** Returns the contradiction if another node sees no failure; else null. */
export function contradiction(probes: readonly Probe[], message: string): string | null {
  const other = probes.find(({ status }) => status === "up" || status === "degraded");
  if (other === undefined) return null;
  return `${other.by} sees it ${other.status}, while here: ${message.replace(/\.$/, "")}`;
}

/** Whether the next check is a retry. */
function isRetried(state: MonitorState, found: Found): boolean {
  return (
    found.status === "unknown" ||
    (found.status === "down" && state.status !== "down" && state.status !== "maintenance")
  );
}

/** Seconds to the next check, which a scheduled result covers in uptime. */
export function secondsToNext(state: MonitorState, found: Found, pace: Pace): number {
  const { intervalSeconds, retryIntervalSeconds } = pace;
  return isRetried(state, found)
    ? Math.min(retryIntervalSeconds, intervalSeconds)
    : intervalSeconds;
}

/**
 * Seconds that a report, or the first result of all, stands for: the time since what the last one stood
 * for ended, at least one and at most what is still in time.
 */
export function secondsSince(endedAt: number | null, at: number, allowedSeconds: number): number {
  const passed = endedAt === null ? 1 : Math.round((at - endedAt) / 1000);
  return Math.min(Math.max(passed, 1), allowedSeconds);
}

/** Whether the result before this one still covers a second or more. */
export function isEarly(at: number, lastAt: number, standsUntil: number): boolean {
  return at > lastAt && standsUntil - at >= 500;
}

/** Offset of a monitor in its interval, in milliseconds; neighboring keys are far apart, which spreads all evenly. */
export function phaseOf(key: number, intervalMs: number): number {
  const goldenRatio = 0.618033988749895;
  return Math.floor(((key * goldenRatio) % 1) * intervalMs);
}

/** Returns the first slot after `after`, on the same clock. */
export function nextSlot(key: number, intervalMs: number, after: number): number {
  const phase = phaseOf(key, intervalMs);
  return phase + (Math.floor((after - phase) / intervalMs) + 1) * intervalMs;
}

/** No two heartbeats of a monitor share a millisecond; a clock that was set back is followed all the same. */
export function momentAfter(lastAt: number | null, now: number): number {
  return lastAt !== null && lastAt >= now && lastAt - now < 1_000 ? lastAt + 1 : now;
}
