import { minuteInUtc, timestamp } from "../../core/time/clock.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import { notJudged } from "../../core/text/words.ts";

/** Status to show: `unknown` if trouble of the appliance keeps the monitor from being judged. */
export type ShownStatus = MonitorStatus | "unknown";

type Judged = {
  status: MonitorStatus;
  lastMessage: string | null;
  /** Time since which its checks can't be judged, as RFC 3339; null if they can. */
  notJudgedSince: string | null;
};

/** Hides a good status while the monitor can't be judged; `down` stays visible. */
export function shownStatus({
  status,
  lastMessage,
}: Pick<Judged, "status" | "lastMessage">): ShownStatus {
  return mayHide(status) && lastMessage?.startsWith(notJudged) === true ? "unknown" : status;
}

const mayHide = (status: MonitorStatus) =>
  status === "up" || status === "degraded" || status === "pending";

/**
 * Adjusts a stored monitor to the present. `failingSince` is the time since which results can't be stored, in
 * Unix milliseconds; the stored state is then the last known one.
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
