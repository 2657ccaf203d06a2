/** Renders audit entries as sentences. */
import type { AuditAction, NounOf, VerbOf } from "../../events/catalogue.ts";
import { formatCount } from "../../core/text/formatting.ts";
import type { AuditEntry } from "./schema.ts";

/** Phrases of actions that need their own wording. `#` stands for the subject. */
const fixedPhrases = {
  "invitation.created": "invited #",
  "invitation.accepted": "joined",
  "invitation.revoked": "revoked the invitation of #",
  "group.reordered": "reordered the groups",
  "settings.updated": "changed the settings",
  "settings.report-sent": "sent a report by mail",
  "incident.opened": "opened the incident #",
  "incident.updated": "posted an update on #",
  "incident.corrected": "edited the incident #",
  "incident.edited": "edited an update of #",
  "incident.reopened": "reopened the incident #",
  "incident.postmortem-updated": "wrote the postmortem of #",
  "incident.postmortem-published": "published the postmortem of #",
  "incident.postmortem-deleted": "deleted the postmortem of #",
  "incident.noted": "added an internal note to #",
  "incident.note-deleted": "deleted an internal note of #",
  "person.signed-in": "signed in",
  "person.signed-out": "signed out",
  "person.session-ended": "signed out another browser",
  "person.other-sessions-ended": "signed out everywhere else",
  "person.updated": "changed their profile",
  "person.password-changed": "changed their password",
  "person.password-reset": "reset the password of #",
  "person.two-factor-begun": "started to set up two-factor sign-in",
  "person.two-factor-on": "turned two-factor sign-in on",
  "person.two-factor-off": "turned two-factor sign-in off",
  "person.recovery-codes-renewed": "created new recovery codes",
  "person.sign-in-link-created": "created a sign-in link for #",
  "person.passkey-added": "added a passkey",
  "person.passkey-renamed": "renamed a passkey",
  "person.passkey-removed": "removed a passkey",
  "person.passkey-refused": "used a passkey of # with a sign counter that went back",
  "person.added": "added #",
  "person.removed": "removed #",
  "person.role-changed": "changed the role of #",
  "api-key.groups-changed": "changed the monitor groups of #",
  "person.groups-changed": "changed the monitor groups of #",
  "person.code-refused": "entered a wrong two-factor code for #",
  "person.administrator-granted": "made # an administrator of the appliance",
  "person.administrator-revoked": "removed # as administrator of the appliance",
  "person.identity-linked": "linked an account at a sign-in provider",
  "person.identity-unlinked": "unlinked an account at a sign-in provider",
  "person.drilled": "started a drill of #",
  "escalation-policy.drilled": "started a drill of the escalation policy #",
  "organization.deleted": "deleted an organization",
  "status-page.token-created": "created an access token of #",
  "status-page.token-revoked": "revoked an access token of #",
  "status-page.publishing-changed": "changed the publication of #",
  "subscriber.added": "added a subscriber",
  "subscriber.invited": "sent someone a link to confirm",
  "subscriber.asked": "requested a subscription",
  "subscriber.confirmed": "confirmed a subscription",
  "subscriber.released": "released the address of a subscriber",
  "subscriber.updated": "changed what a subscriber gets",
  "subscriber.unsubscribed": "unsubscribed",
  "alert.acknowledged": "acknowledged the alert about #",
  "alert.unacknowledged": "opened the alert about # again",
  "alert.snoozed": "snoozed the alert about #",
  "alert.noted": "added a note to the alert about #",
  "alert.links-revoked": "revoked the links in messages about #",
  "alert-source.address-renewed": "renewed the address of the alert source #",
  "alert-source.replayed": "replayed a request to the alert source #",
  "schedule.overridden": "overrode the schedule #",
  "schedule.swapped": "swapped two shifts of the schedule #",
  "schedule.override-removed": "removed an override of the schedule #",
  "schedule.calendar-renewed": "renewed the calendar address of the schedule #",
  "backup.downloaded": "downloaded a backup of the whole appliance",
  "backup.scheduled": "changed the scheduled backups of the appliance",
  "backup.restored": "restored the whole appliance from a backup",
} satisfies Partial<Record<AuditAction | "incident.corrected" | "incident.edited", string>>;

/** Actions whose phrases consist of a verb and a noun. */
type ComposedAction = Exclude<AuditAction, keyof typeof fixedPhrases>;

const nouns: Record<NounOf<ComposedAction>, [named: string, nameless: string]> = {
  monitor: ["the monitor", "a monitor"],
  group: ["the group", "a group"],
  incident: ["the incident", "an incident"],
  "incident-template": ["the incident template", "an incident template"],
  maintenance: ["the maintenance", "maintenance"],
  "alert-channel": ["the alert channel", "an alert channel"],
  "alert-source": ["the alert source", "an alert source"],
  schedule: ["the schedule", "a schedule"],
  "escalation-policy": ["the escalation policy", "an escalation policy"],
  "contact-method": ["the contact method", "a contact method"],
  "status-page": ["the status page", "a status page"],
  subscriber: ["the subscriber", "a subscriber"],
  "api-key": ["the API key", "an API key"],
  organization: ["the organization", "the organization"],
  "identity-provider": ["the sign-in provider", "a sign-in provider"],
};

/** Nouns whose subjects have no name, even if they still exist. */
const neverNamed = new Set(["subscriber", "api-key", "organization"]);

const verbs: Record<VerbOf<ComposedAction>, string> = {
  created: "created",
  updated: "changed",
  deleted: "deleted",
  restored: "restored",
  purged: "removed for good",
  revoked: "revoked",
  verified: "verified",
  resolved: "resolved",
  paused: "paused",
  resumed: "resumed",
  muted: "muted",
  unmuted: "unmuted",
};

const actors: Record<string, string> = {
  "api-key": "The API key",
  monitor: "The monitor",
};

/** Renders the actor: people by name, other actors with their type. */
export function describeActor({ type, name }: AuditEntry["actor"]): string {
  if (type === "command-line") return "The command line";
  if (type === "visitor") return "A visitor";
  if (type === "link") return `${name} (link in a message)`;
  return actors[type] === undefined ? name : `${actors[type]} ${name}`;
}

type ActionFacts = Pick<AuditEntry, "action" | "actor" | "fields">;

type SubjectFacts = Pick<AuditEntry, "subjectName"> &
  Partial<Pick<AuditEntry, "subjectExists" | "repeated">>;

/** Returns the action that the actor performed. Older versions named some actions by their result. */
function actualActionOf({ action, actor, fields }: ActionFacts): string {
  const byHand = actor.type !== "visitor";
  if (action === "subscriber.confirmed" && byHand) return "subscriber.added";
  if (action === "subscriber.asked" && byHand) return "subscriber.invited";
  const isUpdate = fields.length === 0 || fields.includes("status") || fields.includes("message");
  if (action !== "incident.updated" || isUpdate) return action;
  return fields.includes("updates") ? "incident.edited" : "incident.corrected";
}

/** Phrases for several subscribers. */
const severalSubscribers: Record<string, (count: string) => string> = {
  "subscriber.added": (count) => `added ${count} subscribers`,
  "subscriber.invited": (count) => `sent ${count} people a link to confirm`,
  "subscriber.deleted": (count) => `deleted ${count} subscribers`,
};

/** Returns the sentence in three parts: text before the subject's name, the name, and text after it. */
export function describeAction(
  entry: ActionFacts & SubjectFacts,
): [before: string, name: string, after: string] {
  const { repeated } = entry;
  const single = describeSingleAction(entry);
  if (repeated == null) return single;
  const [before, name, after] = single;
  const several = severalSubscribers[actualActionOf(entry)];
  if (several !== undefined && repeated.subjects > 1)
    return [several(formatCount(repeated.subjects)), "", ""];
  const repetition =
    repeated.subjects > 1 && name !== ""
      ? ` and ${formatCount(repeated.subjects - 1)} more`
      : `, ${formatCount(repeated.count)} times`;
  return name === "" ? [`${before}${repetition}`, "", ""] : [before, name, `${after}${repetition}`];
}

function describeSingleAction({
  subjectName: name,
  subjectExists = name !== null,
  ...entry
}: ActionFacts & SubjectFacts): [before: string, name: string, after: string] {
  const action = actualActionOf(entry);
  const [noun = "", verb = ""] = action.split(".");
  const isGone = !subjectExists && !/(deleted|removed|revoked)$/.test(verb);
  const known = (fixedPhrases as Record<string, string>)[action];
  if (known !== undefined) {
    const [before = "", after] = known.split("#");
    if (after === undefined) return [before, "", ""];
    if (name === null)
      return [`${before}${noun === "incident" ? "(deleted)" : "someone"}${after}`, "", ""];
    return [before, name, isGone && noun === "incident" ? `${after}, since deleted` : after];
  }
  const deed = (verbs as Record<string, string>)[verb] ?? verb.replaceAll("-", " ");
  const plain = noun.replaceAll("-", " ");
  const [namedPhrase, nameless] = (nouns as Record<string, [string, string]>)[noun] ?? [
    plain,
    plain,
  ];
  const since = isGone && !neverNamed.has(noun) ? ", since deleted" : "";
  if (name !== null) return [`${deed} ${namedPhrase} `, name, since];
  return [`${deed} ${nameless}${since}`, "", ""];
}

/** Lists the changed fields in words, without fields that an incident's verb implies. */
export function describeFields({ action, fields }: Pick<AuditEntry, "action" | "fields">): string {
  const isSaid = (field: string) =>
    action.startsWith("incident.") && ["status", "message", "updates"].includes(field);
  return fields
    .filter((field) => !isSaid(field))
    .map(describeField)
    .join(", ");
}

/**
 * Renders a field name as words: `retryInterval` as `retry interval`, `proxyUrl` as `proxy URL`,
 * `monitorIds` as `monitors`.
 */
export const describeField = (field: string) =>
  field === "smtp"
    ? "mail server"
    : field
        .replace(/(?<=Channel|group|monitor)Id(?=s?$)|Ms$/, "")
        .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
        .replace(/\b(api|dns|id|ip|json|snmp|tls|url)\b/g, (word) => word.toUpperCase());

/** An audit entry as stored. `fields` is a JSON list. */
type StoredEntry = Readonly<Record<"actorType" | "actorName" | "action", string>> &
  Readonly<Record<"subjectName" | "fields" | "changes", string | null>>;

/**
 * Creates a test of whether an entry's sentence or action contains these words. The current name of
 * the subject is searched elsewhere.
 */
export function createTextFilter(words: string): (entry: StoredEntry) => boolean {
  const wanted = words.toLowerCase();
  // Caches results, because many entries of a log have the same sentence.
  const judged = new Map<string, boolean>();
  return ({ actorType, actorName, action, subjectName, fields, changes }) => {
    const key = [actorType, actorName, action, subjectName, fields, changes].join("\n");
    const known = judged.get(key);
    if (known !== undefined) return known;
    const entry = {
      action,
      actor: { type: actorType, id: null, name: actorName },
      fields: fields === null ? [] : (JSON.parse(fields) as string[]),
      subjectName: subjectName ?? (action.endsWith(".deleted") ? null : ""),
    };
    const parts = [describeActor(entry.actor), ...describeAction(entry)].map((part) => part.trim());
    const sentence = parts.filter((part) => part !== "").join(" ");
    const isSaid = `${sentence}: ${describeFields(entry)}\n${action}\n${changes ?? ""}`
      .toLowerCase()
      .includes(wanted);
    judged.set(key, isSaid);
    return isSaid;
  };
}
