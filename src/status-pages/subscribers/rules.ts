/** Rules for subscribing to a status page: limits of confirmation mails, and how addresses are compared. */
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { signUpBounds } from "../../core/limits.ts";
import type { Severity } from "../../core/fields.ts";
import { severities } from "../../core/statuses.ts";
import type { EventType, LoggedEvent } from "../../events/catalog.ts";

export type SubscriberType = "email" | "webhook" | "slack" | "teams" | "discord";

/** Maximum confirmation mails to an unconfirmed address. */
const maxConfirmationMails = 3;
/** Minimum time between two confirmation mails to the same address. */
const confirmationIntervalMs = 10 * minuteMs;
/** Lifetime of a confirmation link. Unconfirmed subscribers are deleted after it. */
export const pendingMs = 7 * dayMs;
/** Days after which notices are deleted, as are their deliveries. */
export const noticeDays = 90;
/** Maximum unconfirmed sign-ups per page. */
export const maxPending = signUpBounds.unconfirmed.value;
/** With more unconfirmed sign-ups than `size`, a page deletes them after `pendingMs`. */
export const crowdedSignUps = {
  size: signUpBounds.unconfirmedForOneDay.value,
  pendingMs: dayMs,
};

/** Whether a subscriber has confirmed the address, and the mail server has not rejected it since. */
export const isListening = ({
  confirmedAt,
  quarantinedAt,
}: {
  confirmedAt: string | null;
  quarantinedAt: string | null;
}) => confirmedAt !== null && quarantinedAt === null;

type ConfirmationRequests = { asked: number; askedAt: number | null };

/** Whether an address can get another confirmation mail. Prevents flooding a mailbox through our form. */
export function canAskAgain({ asked, askedAt }: ConfirmationRequests, now: number): boolean {
  return (
    asked < maxConfirmationMails &&
    (askedAt === null || Math.abs(now - askedAt) >= confirmationIntervalMs)
  );
}

/** Returns the questions that still count: none once the link of the last one has expired. */
export const countQuestions = (
  { asked, askedAt }: ConfirmationRequests,
  now: number,
): ConfirmationRequests =>
  askedAt === null || now - askedAt > pendingMs ? { asked: 0, askedAt: null } : { asked, askedAt };

/** Returns the key by which addresses are compared: mailboxes without case, URLs exactly. */
export function addressKeyOf(type: SubscriberType, address: string): string {
  return type === "email" ? address.toLowerCase() : address;
}

/** Returns the mailbox of an address without its `+` tag, which only sorts incoming mail. */
export function mailboxOf(email: string): string {
  return addressKeyOf("email", email).replace(/\+.*(?=@)/, "");
}

export function receiverTypeOf(type: SubscriberType): "mailbox" | "webhook" {
  return type === "email" ? "mailbox" : "webhook";
}

/** Recipients that a notice concerns: the worst severity so far, and all components that were affected so far. */
export type NoticeScope = {
  /** Null for maintenance. */
  severity: Severity | null;
  /** Affected monitors and their groups; null for the whole page. */
  componentIds: string[] | null;
};

/** Widens the scope of a notice by that of the last notice of its subject, whose recipients must hear of its end. */
export function widenScope(scope: NoticeScope, last: NoticeScope | null): NoticeScope {
  if (last === null) return scope;
  const rank = ({ severity }: NoticeScope) =>
    severity === null ? -1 : severities.indexOf(severity);
  return {
    severity: rank(last) > rank(scope) ? last.severity : scope.severity,
    componentIds:
      scope.componentIds === null || last.componentIds === null
        ? null
        : [...new Set([...last.componentIds, ...scope.componentIds])],
  };
}

/** Events that can cause a notice or start a subscription. */
const eventsWithNotices = [
  "incident.opened",
  "incident.updated",
  "incident.reopened",
  "incident.resolved",
  "incident.postmortem-published",
  "maintenance.created",
  "maintenance.updated",
  "maintenance.reminded",
  "maintenance.started",
  "maintenance.ended",
  "maintenance.deleted",
  "maintenance.restored",
  "status-page.digest-due",
  "subscriber.added",
  "subscriber.confirmed",
] as const satisfies EventType[];

export type NoticedEvent = LoggedEvent<(typeof eventsWithNotices)[number]>;

export function concernsSubscribers(event: LoggedEvent): event is NoticedEvent {
  return (eventsWithNotices as readonly EventType[]).includes(event.type);
}
