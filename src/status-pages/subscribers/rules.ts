import { signUpBounds } from "../../core/limits.ts";
import {
  type EventTable,
  type TypesWith,
  valueIn,
  type LoggedEvent,
} from "../../events/catalogue.ts";

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

/** Whether an event may lead to a notice, or says that from here on somebody subscribes. */
const noticed = {
  "alert-channel": false,
  "api-key": false,
  appliance: false,
  backup: false,
  channel: false,
  group: false,
  incident: {
    opened: true,
    updated: true,
    reopened: true,
    resolved: true,
    noted: false,
    "note-deleted": false,
    "postmortem-updated": false,
    "postmortem-published": true,
    "postmortem-deleted": false,
    deleted: false,
  },
  "incident-template": false,
  invitation: false,
  maintenance: { created: true, updated: false, deleted: false, started: false, ended: false },
  monitor: false,
  organization: false,
  person: false,
  settings: false,
  "status-page": false,
  subscriber: {
    added: true,
    invited: false,
    asked: false,
    confirmed: true,
    unsubscribed: false,
    deleted: false,
  },
} as const satisfies EventTable<boolean>;

export type NoticedEvent = LoggedEvent<TypesWith<typeof noticed, true>>;

export function concernsSubscribers(event: LoggedEvent): event is NoticedEvent {
  return valueIn(noticed, event.type) === true;
}
