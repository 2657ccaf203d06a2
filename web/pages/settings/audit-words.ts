import type { AuditAction, NounOf, VerbOf } from "../../../src/events/catalogue.ts";
import type { AuditEntry } from "../../../src/operations/audit-log/schema.ts";

/** What needs words of its own; `#` stands for what it was done to. */
const phrases = {
  "invitation.created": "invited #",
  "invitation.accepted": "joined",
  "invitation.revoked": "took back the invitation of #",
  "group.reordered": "put the groups into another order",
  "settings.updated": "changed the settings",
  "incident.opened": "opened the incident #",
  "incident.updated": "posted an update on #",
  "incident.reopened": "reopened the incident #",
  "person.signed-in": "signed in",
  "person.signed-out": "signed out",
  "person.session-ended": "signed out another browser",
  "person.other-sessions-ended": "signed out everywhere else",
  "person.updated": "changed their profile",
  "person.password-changed": "changed their password",
  "person.password-reset": "reset the password of #",
  "person.two-factor-begun": "began to set up two-factor sign-in",
  "person.two-factor-on": "turned two-factor sign-in on",
  "person.two-factor-off": "turned two-factor sign-in off",
  "person.recovery-codes-renewed": "made new recovery codes",
  "person.added": "added #",
  "person.removed": "removed #",
  "person.role-changed": "gave # another role",
  "person.code-refused": "gave a wrong two-factor code for #",
  "person.administrator-granted": "made # an administrator of the appliance",
  "person.administrator-revoked": "took the administrator of the appliance from #",
  "organization.deleted": "deleted an organization",
  "subscriber.asked": "asked to get updates",
  "subscriber.confirmed": "confirmed to get updates",
  "subscriber.unsubscribed": "ended their updates",
  "backup.downloaded": "downloaded a backup of the whole appliance",
} satisfies Partial<Record<AuditAction, string>>;

/** The others are put together from noun and verb. */
type Composed = Exclude<AuditAction, keyof typeof phrases>;

const nouns: Record<NounOf<Composed>, [named: string, gone: string]> = {
  monitor: ["the monitor", "a monitor that is gone"],
  group: ["the group", "a group that is gone"],
  incident: ["the incident", "an incident that is gone"],
  maintenance: ["the maintenance", "maintenance that is gone"],
  "alert-channel": ["the alert channel", "an alert channel that is gone"],
  "status-page": ["the status page", "a status page that is gone"],
  subscriber: ["the subscriber", "a subscriber"],
  "api-key": ["the API key", "an API key"],
  organization: ["the organization", "the organization"],
};

const verbs: Record<VerbOf<Composed>, string> = {
  created: "made",
  updated: "changed",
  deleted: "deleted",
  revoked: "revoked",
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

/** Whose doing it was: a person by name, anything else with what it is. */
export function actorWords({ type, name }: AuditEntry["actor"]): string {
  if (type === "command-line") return "The command line";
  if (type === "visitor") return "A visitor";
  return actors[type] === undefined ? name : `${actors[type]} ${name}`;
}

/** What was done: the words before the name of what it was done to, that name, and the words after it. */
export function deedWords({
  action,
  subjectName: name,
}: Pick<AuditEntry, "action" | "subjectName">): [before: string, name: string, after: string] {
  const [noun = "", verb = ""] = action.split(".");
  const known = (phrases as Record<string, string>)[action];
  if (known !== undefined) {
    const [before = "", after] = known.split("#");
    if (after === undefined) return [before, "", ""];
    return name === null
      ? [`${before}${noun === "incident" ? "that is gone" : "somebody"}${after}`, "", ""]
      : [before, name, after];
  }
  const deed = (verbs as Record<string, string>)[verb] ?? verb.replaceAll("-", " ");
  const plain = noun.replaceAll("-", " ");
  const [named, gone] = (nouns as Record<string, [string, string]>)[noun] ?? [plain, plain];
  return name === null ? [`${deed} ${gone}`, "", ""] : [`${deed} ${named} `, name, ""];
}

/** Where what was changed can be looked at. */
export function pathOf({ action, subjectId, subjectName }: AuditEntry): string | null {
  const [noun = ""] = action.split(".");
  const list = { monitor: "monitors", incident: "incidents", "alert-channel": "alert-channels" }[
    noun
  ];
  return list === undefined || subjectName === null ? null : `/${list}/${subjectId}`;
}

/** `retryInterval` as `retry interval`. */
export const fieldWords = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
