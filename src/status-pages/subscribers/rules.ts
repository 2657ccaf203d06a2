/** An address that has not said yes is asked so often at most … */
const maxAsked = 3;
/** … and not again within so long. */
const askAgainMs = 10 * 60_000;
/** The link that confirms works for so long; who has not used it then is forgotten. */
export const pendingMs = 7 * 86_400_000;
/** So many of one page may be waiting for their yes: of more, the oldest go. */
export const maxPending = 1_000;
/** Where more than so many wait, they do so for a day only. */
export const crowd = { size: 250, pendingMs: 86_400_000 };

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

const steps: Record<string, IncidentNoticeType> = {
  "incident.opened": "incident.opened",
  "incident.updated": "incident.updated",
  "incident.reopened": "incident.updated",
  "incident.resolved": "incident.resolved",
};

export type IncidentNoticeType = "incident.opened" | "incident.updated" | "incident.resolved";

/** What subscribers are told when this happens to an incident; null for nothing. */
export function incidentNoticeOf(eventType: string): IncidentNoticeType | null {
  return steps[eventType] ?? null;
}

/** Whether an event may lead to a notice, or says that from here on somebody subscribes. */
export function concernsSubscribers(eventType: string): boolean {
  return (
    incidentNoticeOf(eventType) !== null ||
    eventType === "maintenance.created" ||
    eventType === "subscriber.confirmed"
  );
}
