/** Decides whether an outage belongs to the alert of another one, because both have the same cause. */
import { type Cause, type CauseKind, causeKinds } from "../../core/causes.ts";
import { type Priority, priorities } from "../../core/statuses.ts";

/** Maximum time between the starts of two outages with the same cause. */
const joinWindowMs = 60_000;
/** Time from the start of an outage to the update about the outages that belong to it. */
export const joinedNoticeMs = joinWindowMs + 5_000;

/** Whether the time of the joined notice is reached. A time further ahead was set before the clock was set back. */
export const isJoinedDue = (dueAt: number, now: number): boolean =>
  dueAt <= now || dueAt > now + joinedNoticeMs;

/** An outage and the people whom its alert reaches. Times are Unix milliseconds. */
export type JoinedOutage = {
  since: number;
  priority: Priority;
  /** The channels that the alert reaches. */
  channels: readonly string[];
  /** The escalation policy; null for none. */
  policyId: string | null;
  /** The interval of its reminders; null for none. */
  reminderMs: number | null;
};

/** Whether two outages started within a minute of each other. */
export const isTogether = (own: JoinedOutage, other: JoinedOutage): boolean =>
  Math.abs(own.since - other.since) <= joinWindowMs;

/**
 * Whether the alert of the other outage reaches all recipients of this one: as urgently, by the same policy, and with
 * reminders that are at least as frequent.
 */
export function isCovered(own: JoinedOutage, other: JoinedOutage): boolean {
  const { priority, channels, policyId, reminderMs } = own;
  return (
    (other.channels.length > 0 || other.policyId !== null) &&
    channels.every((id) => other.channels.includes(id)) &&
    policyId === other.policyId &&
    priorities.indexOf(priority) <= priorities.indexOf(other.priority) &&
    (reminderMs === null || (other.reminderMs !== null && other.reminderMs <= reminderMs))
  );
}

/**
 * Returns the cause that several outages have in common with one other: the least specific of their causes. Null
 * without any.
 */
export function pickCommonCause(causes: readonly Cause[]): Cause | null {
  const rankOf = ({ kind }: Cause) => causeKinds.indexOf(kind);
  const [first = null, ...others] = causes;
  return others.reduce(
    (widest, one) => (widest === null || rankOf(one) > rankOf(widest) ? one : widest),
    first,
  );
}

const describers: Record<CauseKind, (value: string) => string> = {
  certificate: () => "with the same certificate",
  "container-host": (value) => `on the container host ${value}`,
  resolver: (value) => `behind the name server ${value}`,
  host: (value) => `on ${value}`,
  address: (value) => `on ${value}`,
};

/** Describes what monitors have in common, such as “on db1.lan”. */
export const describeCause = ({ kind, value }: Cause): string => describers[kind](value);
