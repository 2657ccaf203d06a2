import { minuteInUtc, timestamp } from "../../core/time/clock.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { notJudged } from "../../core/text/words.ts";

/** Displayed status: `unknown` if a fault of the appliance prevents a judgement. */
export type ShownStatus = MonitorStatus | "unknown";

type Judged = {
  status: MonitorStatus;
  lastMessage: string | null;
  /** RFC 3339 time since which checks can't be judged; null if they can. */
  notJudgedSince: string | null;
};

/** Replaces a good status by `unknown` while the monitor can't be judged. `down` stays visible. */
export function shownStatus({
  status,
  lastMessage,
}: Pick<Judged, "status" | "lastMessage">): ShownStatus {
  return mayHide(status) && lastMessage?.startsWith(notJudged) === true ? "unknown" : status;
}

const mayHide = (status: MonitorStatus) =>
  status === "up" || status === "degraded" || status === "pending";

/**
 * Marks a stored state as outdated while results can't be stored: since `failingSince`, in Unix milliseconds. Null means
 * that results are stored.
 */
export function asJudged<T extends Judged>(stored: T, failingSince: number | null): T {
  if (stored.status === "paused") return { ...stored, notJudgedSince: null };
  if (failingSince === null) return stored;
  const since = timestamp(failingSince);
  const { status, lastMessage, notJudgedSince } = stored;
  return {
    ...stored,
    lastMessage: mayHide(status) ? unstoredMessage(failingSince) : lastMessage,
    notJudgedSince: notJudgedSince !== null && notJudgedSince < since ? notJudgedSince : since,
  };
}

export const unstoredMessage = (failingSince: number) =>
  `${notJudged}results have not been stored since ${minuteInUtc(failingSince)}.`;
