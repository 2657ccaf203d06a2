/** Opens, changes and ends alerts within a decision, in the same write as its deliveries. */
import type { Severity } from "../../core/fields.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import type { Priority } from "../../core/statuses.ts";
import type { Alert } from "../alert.ts";
import type { AlertType } from "../schema.ts";
import { findPolicyOfIncident, findPolicyOfMonitor } from "../policies/rules.ts";
import type { PolicyRecord } from "../policies/store.ts";
import { type Ending, type Family, familyOf, isQuiet, type OpenRecord } from "../records/rules.ts";
import { type DropReason, dropHeldMessages } from "../records/held-messages.ts";
import { createLinkKey } from "../records/links.ts";
import { computeStageTime, findStage } from "./escalation-rules.ts";
import {
  addEntry,
  advanceRecord,
  changeRecord,
  endRecords,
  insertRecord,
  returnRecord,
  setPolicy,
} from "../records/store.ts";
import type { Outbox } from "../sending/outbox.ts";
import type { Snapshot, WatchedMonitor } from "./snapshot.ts";

type DecidingContext = { snapshot: Snapshot; out: Outbox; now: number };

/** A problem, described like its message. */
type NewProblem = {
  /** ID of the message. A new alert gets the same ID. */
  id: string;
  type: AlertType;
  at: string;
  data: object;
  subjectId: string;
  /** RFC 3339. Start of the problem. */
  since: string;
  /** Whether a monitor opened the incident. Then the policy of the monitor counts. */
  isAutomatic?: boolean;
  /** Unix milliseconds. From when a new alert escalates; absent if it does not yet. */
  escalatesFrom?: number;
};

export function createAlert(type: AlertType, at: string, data: object, now: number): Alert {
  return { id: createId(now), type, at, data } as Alert;
}

/** Returns the open alert about a subject, if there is one. */
export function findRecord(
  snapshot: Snapshot,
  subjectId: string,
  family: Family,
): OpenRecord | null {
  return snapshot.records.get(subjectId)?.find((one) => one.family === family) ?? null;
}

/** Opens an alert about a problem, or updates the open one. Returns it. */
export function openRecord(decision: DecidingContext, problem: NewProblem): OpenRecord {
  const family = familyOf(problem.type);
  if (family === null) throw new Error(`${problem.type} is no problem.`);
  const open = findRecord(decision.snapshot, problem.subjectId, family);
  return open === null
    ? addRecord(decision, family, problem)
    : updateRecord(decision, open, problem);
}

/** No one has taken care of the alert, and its escalation has not started. */
const untouchedState = {
  acknowledgedAt: null,
  acknowledgedBy: [],
  snoozedUntil: null,
  step: 0,
  round: 0,
  dueAt: null,
  escalatedFrom: null,
  runs: [],
} satisfies Partial<OpenRecord>;

function addRecord(
  { snapshot, out }: DecidingContext,
  family: Family,
  problem: NewProblem,
): OpenRecord {
  const { id, type, at, data, subjectId, since, escalatesFrom } = problem;
  const ownership = findOwnership(snapshot, family, problem);
  const policy = snapshot.policies.find((one) => one.id === ownership.policyId);
  const start =
    policy === undefined || escalatesFrom === undefined ? {} : planStart(policy, escalatesFrom);
  const record: OpenRecord = {
    id,
    family,
    subjectId,
    type,
    since,
    ...ownership,
    ...untouchedState,
    ...start,
    data: JSON.stringify(data),
    isReached: false,
    version: 1,
  };
  const { organizationId } = snapshot;
  const linkKey = createLinkKey();
  const { isReached: _isReached, ...stored } = record;
  const content = { at, data: JSON.stringify(data), runs: null };
  out.write(insertRecord({ ...stored, organizationId, ...content, linkKey }));
  replaceRecord(snapshot, record);
  return record;
}

/** Returns the priority that an alert gets from its monitor, incident or sender; null if it has none of them. */
export function priorityOf(
  { monitors, incidents, sourceAlerts }: Snapshot,
  { family, subjectId }: Pick<OpenRecord, "family" | "subjectId">,
): Priority | null {
  if (family === "source") return sourceAlerts.get(subjectId)?.priority ?? null;
  if (family === "state" || family === "certificate")
    return monitors.get(subjectId)?.priority ?? null;
  const incident = family === "incident" ? incidents.get(subjectId) : undefined;
  return incident === undefined ? null : incident.severity === "critical" ? "critical" : "normal";
}

/** Returns the priority of a new alert, and its escalation policy. */
function findOwnership(
  snapshot: Snapshot,
  family: Family,
  { subjectId, isAutomatic = false }: NewProblem,
): Pick<OpenRecord, "priority" | "policyId"> {
  const { monitors, incidents, sourceAlerts, policies } = snapshot;
  const priority = priorityOf(snapshot, { family, subjectId }) ?? "normal";
  const monitor = monitors.get(subjectId);
  const incident = incidents.get(subjectId);
  if (family === "source") {
    const policyId = sourceAlerts.get(subjectId)?.escalationPolicyId ?? null;
    return { priority, policyId: idOf(policies.find(({ id }) => id === policyId) ?? null) };
  }
  if (family === "incident" && incident !== undefined)
    return {
      priority,
      policyId: isAutomatic ? null : findIncidentPolicyId(policies, incident.severity),
    };
  if (monitor === undefined) return { priority, policyId: null };
  return { priority, policyId: family === "state" ? findPolicyId(policies, monitor) : null };
}

const findIncidentPolicyId = (policies: Snapshot["policies"], severity: Severity) =>
  idOf(findPolicyOfIncident(policies, severity));

/** Returns the escalation policy of a monitor's outages; null for none. */
export const findPolicyId = (policies: Snapshot["policies"], monitor: WatchedMonitor) =>
  idOf(findPolicyOfMonitor(policies, monitor));

/** A policy without steps exempts from the default one. */
const idOf = (policy: PolicyRecord | null) =>
  policy === null || policy.steps.length === 0 ? null : policy.id;

/**
 * Starts the escalation of an alert, unless it has no policy, has started, or someone takes care of it. The drill of a
 * person has no policy, and starts at once.
 */
export function startEscalation(decision: DecidingContext, record: OpenRecord, from: number) {
  const policy = decision.snapshot.policies.find(({ id }) => id === record.policyId);
  const isOfPerson = record.family === "drill" && record.policyId === null;
  if (policy === undefined && !isOfPerson) return;
  if (record.escalatedFrom !== null || isQuiet(record)) return;
  storeNextStep(decision, record, { ...firstStep, ...planStart(policy, from), runs: [] });
}

const firstStep = { step: 0, round: 0 };

/** Returns when the first step of a policy runs, or of the drill of a person, which has none. */
const planStart = (policy: PolicyRecord | undefined, from: number) => ({
  dueAt: policy === undefined ? from : computeStageTime(policy, findStage(policy, firstStep), from),
  escalatedFrom: from,
});

/**
 * Starts the policy of an incident whose severity was changed to one of another policy. Without a policy of its new
 * severity, the escalation continues. The policy of its monitor counts for an incident that a monitor opened.
 */
export function changeIncidentPolicy(decision: DecidingContext, record: OpenRecord) {
  const { snapshot, out, now } = decision;
  const incident = snapshot.incidents.get(record.subjectId);
  if (record.family !== "incident" || incident === undefined || incident.origin === "monitor")
    return;
  const policyId = findIncidentPolicyId(snapshot.policies, incident.severity);
  if (policyId === null || policyId === record.policyId) return;
  for (const statement of setPolicy(snapshot.organizationId, record.id, policyId))
    out.write(statement);
  const { step, round, dueAt, escalatedFrom, runs } = untouchedState;
  const progress = { step, round, dueAt, escalatedFrom, runs };
  const changed = { ...record, policyId, ...progress, version: record.version + 1 };
  replaceRecord(snapshot, changed);
  startEscalation(decision, changed, now);
}

type Progress = Pick<OpenRecord, "step" | "round" | "dueAt" | "escalatedFrom" | "runs">;

/** Stores which step runs next, and when. */
export function storeNextStep(
  { snapshot, out }: DecidingContext,
  record: OpenRecord,
  progress: Progress,
) {
  out.write(advanceRecord(snapshot.organizationId, record.id, progress));
  replaceRecord(snapshot, { ...record, ...progress, version: record.version + 1 });
}

/** A monitor's state is news only if it changed. The steps of a certificate and of an incident share a type. */
function updateRecord(
  { snapshot, out }: DecidingContext,
  open: OpenRecord,
  { type, at, data }: NewProblem,
): OpenRecord {
  const { organizationId } = snapshot;
  if (open.family === "state" && open.type === type) return open;
  if (open.family === "state")
    out.write(addEntry(organizationId, open.id, { at, type: "changed", message: type }));
  return changeContent({ snapshot, out }, open, { type, at, data });
}

/** Stores the type and content of a newer message about an open alert. Returns the alert. */
export function changeContent(
  { snapshot, out }: Pick<DecidingContext, "snapshot" | "out">,
  open: OpenRecord,
  { type, at, data }: Pick<NewProblem, "type" | "at" | "data">,
): OpenRecord {
  const content = { type, at, data: JSON.stringify(data) };
  out.write(changeRecord(snapshot.organizationId, open.id, content));
  const changed = { ...open, type, data: content.data, version: open.version + 1 };
  replaceRecord(snapshot, changed);
  return changed;
}

/** Ends the open alert about a subject, unless its last message continues in the next write. */
export function resolveRecord(
  { snapshot, out }: DecidingContext,
  subjectId: string,
  family: Family,
  { because, at }: { because: Ending; at: string },
) {
  const open = findRecord(snapshot, subjectId, family);
  if (open === null || out.getRest() !== null) return;
  const [ending, canceling] = endRecords(snapshot.organizationId, [open.id], because, at);
  if (ending !== undefined) out.write(ending);
  const canNotifyLater = open.policyId !== null || family === "drill";
  if (canNotifyLater && canceling !== undefined) out.write(canceling);
  if (snapshot.quietIds.size > 0) dropHeld({ snapshot, out }, open, because, at);
  const others = snapshot.records.get(subjectId)?.filter((one) => one !== open) ?? [];
  snapshot.records.set(subjectId, others);
}

/** Drops the messages about an alert that quiet hours hold, or only some of them to a channel. */
export function dropHeld(
  { snapshot, out }: Pick<DecidingContext, "snapshot" | "out">,
  { id, subjectId }: OpenRecord,
  because: DropReason,
  at: string,
  portion: { messageIds: readonly string[]; channelId: string } | null = null,
) {
  const { organizationId, notified, quietIds } = snapshot;
  const statements = dropHeldMessages(organizationId, [id], because, at, portion ?? {});
  for (const statement of statements) out.write(statement);
  const known = notified.get(subjectId);
  for (const [channelId, { notifications, ...one }] of known ?? []) {
    if (portion !== null && channelId !== portion.channelId) continue;
    const sent = notifications.filter(([deliveryId]) => !quietIds.has(deliveryId));
    const state = sent.at(-1)?.[1];
    if (state === undefined) known?.delete(channelId);
    else known?.set(channelId, { ...one, state, notifications: sent });
  }
}

/** Ends the snooze of an alert, unless its message continues in the next write. Its acknowledgments end, too. */
export function endSnooze(decision: DecidingContext, record: OpenRecord) {
  const { snapshot, out, now } = decision;
  if (out.getRest() !== null) return;
  const { organizationId } = snapshot;
  for (const statement of returnRecord(organizationId, record.id)) out.write(statement);
  out.write(addEntry(organizationId, record.id, { at: formatTimestamp(now), type: "returned" }));
  const returned = { ...record, ...untouchedState, version: record.version + 1 };
  replaceRecord(snapshot, returned);
  if (record.type !== "monitor.degraded" && !isHeldBack(snapshot, record))
    startEscalation(decision, returned, now);
}

/** Whether the alert of another monitor, which is the cause, is sent instead. */
export const isHeldBack = (
  { memories }: Snapshot,
  { family, subjectId }: Pick<OpenRecord, "family" | "subjectId">,
): boolean => family === "state" && (memories.get(subjectId)?.held ?? null) !== null;

export function replaceRecord({ records }: Snapshot, record: OpenRecord) {
  const others = records.get(record.subjectId)?.filter((one) => one.id !== record.id) ?? [];
  records.set(record.subjectId, [...others, record]);
}
