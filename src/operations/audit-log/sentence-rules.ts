/** Renders audit entries as sentences. */
import type { AuditAction, NounOf, VerbOf } from "../../events/catalog.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { t } from "../../core/text/texts.ts";
import type { AuditEntry } from "./schema.ts";

/** Phrases of actions that need their own wording. `#` is replaced by the subject. */
const fixedPhrases = {
  "invitation.created": t("invited #"),
  "invitation.accepted": t("joined"),
  "invitation.revoked": t("revoked the invitation of #"),
  "group.reordered": t("reordered the groups"),
  "settings.updated": t("changed the settings"),
  "settings.report-sent": t("sent a report by mail"),
  "incident.opened": t("opened the incident #"),
  "incident.updated": t("posted an update on #"),
  "incident.corrected": t("edited the incident #"),
  "incident.edited": t("edited an update of #"),
  "incident.reopened": t("reopened the incident #"),
  "incident.postmortem-updated": t("wrote the postmortem of #"),
  "incident.postmortem-published": t("published the postmortem of #"),
  "incident.postmortem-deleted": t("deleted the postmortem of #"),
  "incident.noted": t("added an internal note to #"),
  "incident.note-deleted": t("deleted an internal note of #"),
  "person.signed-in": t("signed in"),
  "person.signed-out": t("signed out"),
  "person.session-ended": t("signed out another browser"),
  "person.other-sessions-ended": t("signed out everywhere else"),
  "person.updated": t("changed their profile"),
  "person.password-changed": t("changed their password"),
  "person.password-reset": t("reset the password of #"),
  "person.two-factor-begun": t("started to set up two-factor sign-in"),
  "person.two-factor-on": t("turned two-factor sign-in on"),
  "person.two-factor-off": t("turned two-factor sign-in off"),
  "person.recovery-codes-renewed": t("created new recovery codes"),
  "person.sign-in-link-created": t("created a sign-in link for #"),
  "person.passkey-added": t("added a passkey"),
  "person.passkey-renamed": t("renamed a passkey"),
  "person.passkey-removed": t("removed a passkey"),
  "person.passkey-refused": t("used a passkey of # with a sign counter that went back"),
  "person.added": t("added #"),
  "person.removed": t("removed #"),
  "person.role-changed": t("changed the role of #"),
  "api-key.groups-changed": t("changed the monitor groups of #"),
  "person.groups-changed": t("changed the monitor groups of #"),
  "person.code-refused": t("entered a wrong two-factor code for #"),
  "person.administrator-granted": t("made # an administrator of the appliance"),
  "person.administrator-revoked": t("removed # as administrator of the appliance"),
  "person.identity-linked": t("linked an account at a sign-in provider"),
  "person.identity-unlinked": t("unlinked an account at a sign-in provider"),
  "person.drilled": t("started a drill of #"),
  "person.drill-changed": t("changed the monthly drill of #"),
  "escalation-policy.drilled": t("started a drill of the escalation policy #"),
  "organization.deleted": t("deleted an organization"),
  "status-page.token-created": t("created an access token of #"),
  "status-page.token-revoked": t("revoked an access token of #"),
  "status-page.publishing-changed": t("changed the publication of #"),
  "subscriber.added": t("added a subscriber"),
  "subscriber.invited": t("sent someone a link to confirm"),
  "subscriber.asked": t("requested a subscription"),
  "subscriber.confirmed": t("confirmed a subscription"),
  "subscriber.released": t("released the address of a subscriber"),
  "subscriber.updated": t("changed what a subscriber gets"),
  "subscriber.unsubscribed": t("unsubscribed"),
  "alert.acknowledged": t("acknowledged the alert about #"),
  "alert.unacknowledged": t("opened the alert about # again"),
  "alert.snoozed": t("snoozed the alert about #"),
  "alert.noted": t("added a note to the alert about #"),
  "alert.links-revoked": t("revoked the links in messages about #"),
  "alert-source.address-renewed": t("renewed the address of the alert source #"),
  "alert-source.replayed": t("replayed a request to the alert source #"),
  "schedule.overridden": t("overrode the schedule #"),
  "schedule.swapped": t("swapped two shifts of the schedule #"),
  "schedule.override-removed": t("removed an override of the schedule #"),
  "schedule.calendar-renewed": t("renewed the calendar address of the schedule #"),
  "backup.downloaded": t("downloaded a backup of the whole appliance"),
  "backup.scheduled": t("changed the scheduled backups of the appliance"),
  "backup.restored": t("restored the whole appliance from a backup"),
} satisfies Partial<Record<AuditAction | "incident.corrected" | "incident.edited", string>>;

/** Actions whose phrases consist of a verb and a noun. */
type ComposedAction = Exclude<AuditAction, keyof typeof fixedPhrases>;

const nouns: Record<NounOf<ComposedAction>, [named: string, nameless: string]> = {
  monitor: [t("the monitor"), t("a monitor")],
  group: [t("the group"), t("a group")],
  incident: [t("the incident"), t("an incident")],
  "incident-template": [t("the incident template"), t("an incident template")],
  maintenance: [t("the maintenance"), t("a maintenance window")],
  "alert-channel": [t("the alert channel"), t("an alert channel")],
  "alert-source": [t("the alert source"), t("an alert source")],
  schedule: [t("the schedule"), t("a schedule")],
  "escalation-policy": [t("the escalation policy"), t("an escalation policy")],
  "contact-method": [t("the contact method"), t("a contact method")],
  "status-page": [t("the status page"), t("a status page")],
  subscriber: [t("the subscriber"), t("a subscriber")],
  "api-key": [t("the API key"), t("an API key")],
  organization: [t("the organization"), t("the organization")],
  "identity-provider": [t("the sign-in provider"), t("a sign-in provider")],
};

/** Nouns whose subjects have no name, even if they still exist. */
const neverNamed = new Set(["subscriber", "api-key", "organization"]);

const verbs: Record<VerbOf<ComposedAction>, string> = {
  created: t("created"),
  updated: t("changed"),
  deleted: t("deleted"),
  restored: t("restored"),
  purged: t("removed permanently"),
  revoked: t("revoked"),
  verified: t("verified"),
  resolved: t("resolved"),
  paused: t("paused"),
  resumed: t("resumed"),
  muted: t("muted"),
  unmuted: t("unmuted"),
};

/** Renders the actor: people by name, other actors with their type. */
export function describeActor({ type, name }: AuditEntry["actor"]): string {
  if (type === "command-line") return t("The command line");
  if (type === "visitor") return t("A visitor");
  if (type === "link") return t("{name} (link in a message)", { name });
  if (type === "api-key") return t("The API key {name}", { name });
  return type === "monitor" ? t("The monitor {name}", { name }) : name;
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
  "subscriber.added": (count) => t("added {count} subscribers", { count }),
  "subscriber.invited": (count) => t("sent {count} people a link to confirm", { count }),
  "subscriber.deleted": (count) => t("deleted {count} subscribers", { count }),
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
      ? t(" and {count} more", { count: formatCount(repeated.subjects - 1) })
      : t(", {count} times", { count: formatCount(repeated.count) });
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
      return [`${before}${noun === "incident" ? t("(deleted)") : t("someone")}${after}`, "", ""];
    return [
      before,
      name,
      isGone && noun === "incident" ? `${after}${t(", since deleted")}` : after,
    ];
  }
  const deed = (verbs as Record<string, string>)[verb] ?? verb.replaceAll("-", " ");
  const nounWords = noun.replaceAll("-", " ");
  const [namedPhrase, nameless] = (nouns as Record<string, [string, string]>)[noun] ?? [
    nounWords,
    nounWords,
  ];
  const since = isGone && !neverNamed.has(noun) ? t(", since deleted") : "";
  if (name === null)
    return [`${t("{verb} {noun}", { verb: deed, noun: nameless })}${since}`, "", ""];
  const [before = "", after = ""] = t("{verb} {noun} #", { verb: deed, noun: namedPhrase }).split(
    "#",
  );
  return [before, name, `${after}${since}`];
}

/** Lists the changed fields in words, without fields that an incident's verb implies. */
export function describeFields(
  { action, fields }: Pick<AuditEntry, "action" | "fields">,
  describe = describeField,
): string {
  const isMentioned = (field: string) =>
    action.startsWith("incident.") && ["status", "message", "updates"].includes(field);
  return fields
    .filter((field) => !isMentioned(field))
    .map(describe)
    .join(", ");
}

/**
 * Renders a field name as words: `retryInterval` as `retry interval`, `proxyUrl` as `proxy URL`,
 * `monitorIds` as `monitors`.
 */
export const describeField = (field: string) =>
  field === "smtp"
    ? t("mail server")
    : field
        .replace(/(?<=Channel|group|monitor)Id(?=s?$)|Ms$/, "")
        .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
        .replace(/\b(api|css|dns|id|ip|json|sla|snmp|tls|url)\b/g, (word) => word.toUpperCase());

/** An audit entry as stored. `fields` is a JSON list. */
type StoredEntry = Readonly<Record<"actorType" | "actorName" | "action", string>> &
  Readonly<Record<"subjectName" | "fields" | "changes", string | null>>;

/**
 * Creates a test of whether an entry's sentence or action contains these words. The current name of
 * the subject is searched elsewhere.
 */
export function createTextFilter(words: string): (entry: StoredEntry) => boolean {
  const searchedWords = words.toLowerCase();
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
    const isMentioned = `${sentence}: ${describeFields(entry)}\n${action}\n${changes ?? ""}`
      .toLowerCase()
      .includes(searchedWords);
    judged.set(key, isMentioned);
    return isMentioned;
  };
}
