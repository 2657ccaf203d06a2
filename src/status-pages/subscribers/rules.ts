import { dayMs } from "../../core/time/clock.ts";
import { signUpBounds } from "../../core/limits.ts";
import type { EventType, LoggedEvent } from "../../events/catalogue.ts";

/** Maximum confirmation mails to an unconfirmed address. */
const maxQuestions = 3;
/** Minimum time between two confirmation mails to the same address. */
const questionIntervalMs = 10 * 60_000;
/** Lifetime of a confirmation link. Unconfirmed subscribers are deleted after it. */
export const pendingMs = 7 * dayMs;
/** Days after which notices are deleted, as are their deliveries. */
export const noticeDays = 90;
/** Maximum unconfirmed sign-ups per page. */
export const maxPending = signUpBounds.unconfirmed.value;
/** With more unconfirmed sign-ups than `size`, a page deletes them after `pendingMs`. */
export const manyPending = {
  size: signUpBounds.unconfirmedForOneDay.value,
  pendingMs: dayMs,
};

/** Whether an address can get another confirmation mail. Prevents flooding a mailbox through our form. */
export function canAskAgain(
  { asked, askedAt }: { asked: number; askedAt: number | null },
  now: number,
): boolean {
  return (
    asked < maxQuestions && (askedAt === null || Math.abs(now - askedAt) >= questionIntervalMs)
  );
}

/** Returns the key by which addresses are compared: mailboxes without case, URLs exactly. */
export function addressKeyOf(type: "email" | "webhook", address: string): string {
  return type === "email" ? address.toLowerCase() : address;
}

/** Returns the mailbox of an address without its `+` tag, which only sorts incoming mail. */
export function mailboxOf(email: string): string {
  return addressKeyOf("email", email).replace(/\+.*(?=@)/, "");
}

export function receiverTypeOf(type: "email" | "webhook"): "mailbox" | "webhook" {
  return type === "email" ? "mailbox" : type;
}

/** Events that can lead to a notice or start a subscription. */
const noticedEvents = [
  "incident.opened",
  "incident.updated",
  "incident.reopened",
  "incident.resolved",
  "incident.postmortem-published",
  "maintenance.created",
  "subscriber.added",
  "subscriber.confirmed",
] as const satisfies EventType[];

export type NoticedEvent = LoggedEvent<(typeof noticedEvents)[number]>;

export function concernsSubscribers(event: LoggedEvent): event is NoticedEvent {
  return (noticedEvents as readonly EventType[]).includes(event.type);
}
