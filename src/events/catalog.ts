/** Lists all event types with their data, and maps events to their effects on followers. */
import type { Cause, ResolvedChange } from "../core/causes.ts";
import type { ProblemName, ProblemSeverity } from "../core/problems.ts";
import type { Priority, StoredStatus } from "../core/statuses.ts";

const editVerbs = ["created", "updated", "deleted"] as const;
/** Edits of records that can be restored. A purged record no longer can. */
const restorableEdits = [...editVerbs, "restored", "purged"] as const;

/** Actions by subject. The audit log stores each action under the name of its event. */
export const auditVerbs = {
  monitor: restorableEdits,
  group: [...restorableEdits, "paused", "resumed", "muted", "unmuted", "reordered"],
  incident: [
    "opened",
    "updated",
    "resolved",
    "reopened",
    "deleted",
    "restored",
    "purged",
    "noted",
    "note-deleted",
    "postmortem-updated",
    "postmortem-published",
    "postmortem-deleted",
  ],
  "incident-template": editVerbs,
  maintenance: restorableEdits,
  alert: ["acknowledged", "unacknowledged", "snoozed", "noted", "links-revoked"],
  "alert-channel": restorableEdits,
  "alert-source": [...restorableEdits, "address-renewed", "replayed"],
  schedule: [...editVerbs, "overridden", "swapped", "override-removed", "calendar-renewed"],
  "escalation-policy": [...editVerbs, "drilled"],
  "contact-method": [...editVerbs, "verified"],
  "status-page": [...restorableEdits, "token-created", "token-revoked", "publishing-changed"],
  subscriber: [
    "added",
    "invited",
    "asked",
    "confirmed",
    "updated",
    "released",
    "unsubscribed",
    "deleted",
  ],
  person: [
    "added",
    "removed",
    "role-changed",
    "groups-changed",
    "updated",
    "password-changed",
    "password-reset",
    "signed-in",
    "signed-out",
    "session-ended",
    "other-sessions-ended",
    "code-refused",
    "two-factor-begun",
    "two-factor-on",
    "two-factor-off",
    "recovery-codes-renewed",
    "sign-in-link-created",
    "passkey-added",
    "passkey-renamed",
    "passkey-removed",
    "passkey-refused",
    "administrator-granted",
    "administrator-revoked",
    "identity-linked",
    "identity-unlinked",
    "drilled",
    "drill-changed",
  ],
  "identity-provider": editVerbs,
  invitation: ["created", "accepted", "revoked"],
  "api-key": ["created", "groups-changed", "revoked"],
  settings: ["updated", "report-sent"],
  organization: editVerbs,
  backup: ["downloaded", "restored", "scheduled"],
} as const;

type AuditVerbs = { [N in keyof typeof auditVerbs]: (typeof auditVerbs)[N][number] };

/** Events without an author, such as results of checks, effects of a pause, or points in time. */
type Occurrences = {
  appliance: "troubled" | "recovered";
  channel: "failed";
  "held-change": "held" | "hurried" | "undone" | "sent" | "failed";
  maintenance: "reminded" | "started" | "ended";
  monitor: StoredStatus | "paused" | "resumed";
  "source-alert": "opened" | "changed" | "acknowledged" | "resolved";
  "status-page": "digest-due";
  subscriber: "quarantined";
};

type TypesOf<Verbs extends Record<string, string>> = {
  [N in keyof Verbs & string]: `${N}.${Verbs[N]}`;
}[keyof Verbs & string];

export type AuditAction = TypesOf<AuditVerbs>;
export type EventType = AuditAction | TypesOf<Occurrences>;

/** Events that start a new state of a monitor. They are its history. */
export const stateTypes = [
  "monitor.pending",
  "monitor.up",
  "monitor.degraded",
  "monitor.down",
  "monitor.maintenance",
  "monitor.paused",
  "monitor.resumed",
] as const satisfies EventType[];

export type StateType = (typeof stateTypes)[number];

/** SQL list of these types. It must equal the condition of their index. */
export const stateTypeList = stateTypes.map((type) => `'${type}'`).join(", ");

/** Data of events. Unlisted types have no data. */
type EventData = Record<CheckedType, StateChange> &
  Record<`incident.${"opened" | "updated" | "resolved" | "reopened"}`, TimelineChange> &
  Record<"incident.postmortem-published", { notify: boolean }> &
  Record<"channel.failed", { message: string }> &
  /** The span of a weekly digest; `to` is exclusive. */
  Record<"status-page.digest-due", { from: string; to: string }> &
  Record<
    "appliance.troubled",
    { problem: ProblemName; node?: string; severity: ProblemSeverity; message: string }
  > &
  Record<"appliance.recovered", { problem: ProblemName; node?: string; message: string }> &
  Record<`source-alert.${"opened" | "changed" | "acknowledged" | "resolved"}`, SourceReport> &
  Record<
    "maintenance.reminded" | "maintenance.started" | "maintenance.ended",
    { startsAt: string; endsAt: string }
  >;

type CheckedType = `monitor.${StoredStatus}`;

type StateChange = {
  before: StoredStatus;
  /** Start of the previous state. */
  since: string;
  message: string;
  latencyMs: number | null;
  /** Possible causes that an outage shares with others, the most specific first. Absent if none is known. */
  causes?: readonly Cause[];
  /** Change of addresses or DNS records in the hour before a failure. */
  resolved?: ResolvedChange;
};

/** A problem that another tool reported. */
type SourceReport = {
  key: string;
  title: string;
  text: string;
  link: string | null;
  priority: Priority;
  /** Start of the problem, as detected by this appliance. */
  since: string;
};

type TimelineChange = {
  /** ID of the posted update; null for a change to the title or severity. */
  updateId: string | null;
  /** Whether a monitor caused the change. */
  automatic?: true;
  /** Reason given by the monitor, visible only in the organization. */
  reason?: string;
  /** Whether the incident was resolved because its monitor was deleted. */
  monitorRemoved?: true;
  /** Set if subscribers of status pages are not notified. */
  notify?: false;
};

/** Data that some events of these types have. */
type OptionalEventData = {
  /** Set if subscribers of status pages are not notified. */
  "maintenance.created": { notify: false };
  "maintenance.updated": { notify: false };
  "maintenance.restored": { notify: false };
};

export type DataOf<T extends EventType> = T extends keyof EventData
  ? { data: EventData[T] }
  : T extends keyof OptionalEventData
    ? { data?: OptionalEventData[T] }
    : { data?: undefined };

/** An event. Each type has its own data. */
export type Event<T extends EventType = EventType> = {
  [K in T]: { organizationId: string; at: string; type: K; subjectId: string } & DataOf<K>;
}[T];

/** A stored event. `seq` orders all events of all organizations. */
export type LoggedEvent<T extends EventType = EventType> = Event<T> & { seq: number };

/** Subject of an event: the part before the dot. */
export type NounOf<T extends EventType> = T extends `${infer Noun}.${string}` ? Noun : never;
/** Verb of an event: the part after the dot. */
export type VerbOf<T extends EventType, N extends string = string> = T extends `${N}.${infer Verb}`
  ? Verb
  : never;
export type EventNoun = NounOf<EventType>;

/**
 * Effects of events on one follower, by type, or by `noun.*` for all other types of a noun. The default is no effect.
 */
export type EventEffects<V> = { readonly [K in EventType | `${EventNoun}.*`]?: V };

/** Returns the effect of an event; undefined for no effect, and for types that only other versions know. */
export function findEffect<V>(effects: EventEffects<V>, type: EventType): V | undefined {
  return type in effects ? effects[type] : effects[`${nounOf(type)}.*`];
}

export function nounOf(type: EventType): EventNoun {
  return type.slice(0, type.indexOf(".")) as EventNoun;
}
