/** Decides whether the alert of an outage is held, because a monitor on which it depends is the cause. */
import type { StoredStatus } from "../../core/statuses.ts";

/** A monitor with a problem. Times are Unix milliseconds. */
export type Outage = {
  since: number;
  lastCheckedAt: number;
  successes: number;
  patienceMs: number;
  /** The monitor behind which its alert is held so far; null for none. */
  behind: string | null;
};

/** A monitor on which the one with a problem depends, directly or through others. Times are Unix milliseconds. */
export type Ancestor = {
  id: string;
  name: string;
  status: StoredStatus;
  since: number;
  /** 0 if it was never checked. */
  lastCheckedAt: number;
  /** Number of consecutive failed checks. */
  failures: number;
  /** Longest time until its checks show a change. */
  patienceMs: number;
  /** Whether someone is notified of its outages. Otherwise, nobody would hear of those behind it. */
  notifies: boolean;
};

/** A held alert. */
export type AlertHold = {
  /** The monitor that is down; null while its checks are awaited. */
  behind: string | null;
  /** When to decide again. */
  until: number;
};

/** Longest wait for the checks of another monitor, and for the monitor's own checks after the other is up again. */
const maxWaitMs = 300_000;
/** Time between two decisions while checks are awaited. */
const pollMs = 2_000;
/** Time between two decisions while another monitor is down. Its recovery triggers one at once. */
export const idlePollMs = 300_000;
/** Time between two decisions while another monitor is in maintenance, because no event reports its recovery. */
const maintenancePollMs = 30_000;

/** Whether a monitor is down, also during maintenance. */
const isFailing = ({ status, failures }: Ancestor) =>
  status === "down" || (status === "maintenance" && failures > 0);

/**
 * Returns how an alert is held: behind the ancestor that went down first, also during its maintenance. If all ancestors
 * seem up, the alert waits until each had a successful check since the outage began. After the ancestors recovered, the
 * outage gets the time of one check to end, too. Null if the alert is sent.
 */
export function decideHold(
  outage: Outage,
  ancestors: readonly Ancestor[],
  now: number,
): AlertHold | null {
  const notifying = ancestors.filter(({ notifies }) => notifies);
  const cause = notifying.filter(isFailing).toSorted((a, b) => a.since - b.since)[0];
  if (cause !== undefined) {
    const waitMs = cause.status === "down" ? idlePollMs : maintenancePollMs;
    return { behind: cause.id, until: now + waitMs };
  }
  const isBackInMaintenance = ({ id, status }: Ancestor) =>
    id === outage.behind && status === "maintenance";
  if (notifying.some(isBackInMaintenance))
    return { behind: null, until: now + Math.min(outage.patienceMs, maxWaitMs) };
  for (const ancestor of notifying) {
    const end = findWaitEnd(outage, ancestor);
    // A wait that ends later was decided before the clock went back.
    if (end !== null && now < end && end <= now + maxWaitMs)
      return { behind: null, until: Math.min(end, now + pollMs) };
  }
  return null;
}

/** Returns the end of the wait for checks; null if checks show that the other monitor is not the cause. */
function findWaitEnd(outage: Outage, ancestor: Ancestor): number | null {
  const { status, since, lastCheckedAt, failures, patienceMs } = ancestor;
  if (status !== "up" && status !== "degraded" && status !== "maintenance") return null;
  if (lastCheckedAt <= outage.since || failures > 0)
    return outage.since + Math.min(patienceMs, maxWaitMs);
  if (status === "maintenance") return null;
  const isBack = since > outage.since;
  const isJudged = outage.lastCheckedAt > since && outage.successes === 0;
  return isBack && !isJudged ? since + Math.min(outage.patienceMs, maxWaitMs) : null;
}
