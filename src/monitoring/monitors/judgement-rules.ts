import { minuteInUtc, timestamp } from "../../core/clock.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { notJudged } from "../../core/text.ts";

/** What a monitor shows: `unknown` where the appliance's own trouble keeps it from being judged. */
export type ShownStatus = MonitorStatus | "unknown";

type Judged = {
  status: MonitorStatus;
  lastMessage: string | null;
  /** RFC 3339; since when its checks can't be judged, null while they are. */
  notJudgedSince: string | null;
};

/** The status to show: a good one is hidden while the monitor can't be judged, a worse one stays. */
export function shownStatus({
  status,
  lastMessage,
}: Pick<Judged, "status" | "lastMessage">): ShownStatus {
  return mayHide(status) && lastMessage?.startsWith(notJudged) === true ? "unknown" : status;
}

const mayHide = (status: MonitorStatus) =>
  status === "up" || status === "degraded" || status === "pending";

/**
 * A stored monitor as of now. `failingSince` is when results ceased to be stored, in Unix milliseconds; what
 * is stored is then the last known state.
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
