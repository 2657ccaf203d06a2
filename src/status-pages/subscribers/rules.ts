import { signUpBounds } from "../../core/limits.ts";
import type { EventType, LoggedEvent } from "../../events/catalogue.ts";

/** An address that has not said yes is asked so often at most … */
const maxAsked = 3;
/** … and not again within so long. */
const askAgainMs = 10 * 60_000;
/** The link that confirms works for so long; who has not used it then is forgotten. */
export const pendingMs = 7 * 86_400_000;
/** Days that notices are kept: as long as their deliveries. */
export const noticeDays = 90;
export const maxPending = signUpBounds.unconfirmed.value;
export const manyPending = {
  size: signUpBounds.unconfirmedForOneDay.value,
  pendingMs: 86_400_000,
};

/** Whether an address is sent the question once more: nobody's mailbox is flooded through our form. */
export function mayAskAgain(
  { asked, askedAt }: { asked: number; askedAt: number | null },
  now: number,
): boolean {
  return asked < maxAsked && (askedAt === null || Math.abs(now - askedAt) >= askAgainMs);
}

/** What makes two addresses the same: mailboxes in any case, URLs as they are. */
export function addressKeyOf(type: "email" | "webhook", address: string): string {
  return type === "email" ? address.toLowerCase() : address;
}

/** The mailbox behind an address: what follows a `+` only sorts what arrives there. */
export function mailboxOf(email: string): string {
  return addressKeyOf("email", email).replace(/\+.*(?=@)/, "");
}

export function receiverTypeOf(type: "email" | "webhook"): "mailbox" | "webhook" {
  return type === "email" ? "mailbox" : type;
}

/** Events that can lead to a notice, or that begin a subscription. */
const noticed = [
  "incident.opened",
  "incident.updated",
  "incident.reopened",
  "incident.resolved",
  "incident.postmortem-published",
  "maintenance.created",
  "subscriber.added",
  "subscriber.confirmed",
] as const satisfies EventType[];

export type NoticedEvent = LoggedEvent<(typeof noticed)[number]>;

export function concernsSubscribers(event: LoggedEvent): event is NoticedEvent {
  return (noticed as readonly EventType[]).includes(event.type);
}
