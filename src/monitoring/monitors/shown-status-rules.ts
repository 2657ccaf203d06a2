import { formatUtcMinute, formatTimestamp } from "../../core/time/clock.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { notJudgedPrefix } from "../../core/text/formatting.ts";

/** Displayed status: `unknown` if a fault of the appliance prevents a judgment. */
export type ShownStatus = MonitorStatus | "unknown";

type JudgedMonitor = {
  status: MonitorStatus;
  lastMessage: string | null;
  /** RFC 3339 time since which checks can't be judged; null if they can. */
  notJudgedSince: string | null;
};

/** Replaces a good status by `unknown` while the monitor can't be judged. `down` stays visible. */
export function determineShownStatus({
  status,
  lastMessage,
}: Pick<JudgedMonitor, "status" | "lastMessage">): ShownStatus {
  return canHide(status) && lastMessage?.startsWith(notJudgedPrefix) === true ? "unknown" : status;
}

const canHide = (status: MonitorStatus) =>
  status === "up" || status === "degraded" || status === "pending";

/**
 * Marks a stored state as outdated while results can't be stored: since `failingSince`, in Unix milliseconds. Null means
 * that results are stored.
 */
export function adjustToPresent<T extends JudgedMonitor>(
  stored: T,
  failingSince: number | null,
): T {
  if (stored.status === "paused") return { ...stored, notJudgedSince: null };
  if (failingSince === null) return stored;
  const since = formatTimestamp(failingSince);
  const { status, lastMessage, notJudgedSince } = stored;
  return {
    ...stored,
    lastMessage: canHide(status) ? formatUnstoredMessage(failingSince) : lastMessage,
    notJudgedSince: notJudgedSince !== null && notJudgedSince < since ? notJudgedSince : since,
  };
}

const formatUnstoredMessage = (failingSince: number) =>
  `${notJudgedPrefix}results have not been stored since ${formatUtcMinute(failingSince)}.`;
