/** Use cases of people: acknowledge, open again, snooze, and note. Each is in the audit log and on the timelines. */
import { formatTimestamp, formatUtcMinute } from "../../core/time/clock.ts";
import { findMembership } from "../../accounts/people/store.ts";
import { AppError } from "../../core/errors.ts";
import { alertBounds } from "../../core/limits.ts";
import { isAtLeast } from "../../core/roles.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { assertFound } from "../../database/rows.ts";
import { retryOnStaleRead, type Statement } from "../../database/store.ts";
import type { AuditAction } from "../../events/catalog.ts";
import { commit, commitUnchanged, guardUnconditional } from "../../events/commit.ts";
import { buildScope, type Scope, type ScopeServices } from "../../events/scope.ts";
import { createNote, hasRoom, insertIncidentNote } from "../../incidents/statements.ts";
import { findHead } from "../../incidents/store.ts";
import { planPersonDrill, resumeEscalation } from "../deciding/escalation-rules.ts";
import { loadEscalation } from "../deciding/snapshot.ts";
import { listPolicies } from "../policies/store.ts";
import { dropHeldMessages } from "./held-messages.ts";
import { createLinkKey } from "./links.ts";
import type { LinkTarget } from "./rules.ts";
import { titleOf, toSummary, findRecord } from "./service.ts";
import type { AlertSummary, NewAlertNote, NewSnooze, TimelineEntry } from "./schema.ts";
import {
  addEntry,
  changeLinkKey,
  changeOwnership,
  endRecords,
  findAcknowledgments,
  findNotifiedPeople,
  findOpenIncident,
  guardRecord,
  guardRoomForNote,
  insertAcknowledgment,
  type NewEntry,
  type Ownership,
  parseRuns,
  planUnlessSent,
  type RecordRow,
  removeAcknowledgments,
} from "./store.ts";

type Acknowledgment = Awaited<ReturnType<typeof findAcknowledgments>>[number];

/** A change to an alert by a person. */
type PersonAction = {
  action: Extract<AuditAction, `alert.${string}`>;
  entry: Pick<NewEntry, "type" | "message">;
  /** Text of the incident's internal note; null for none. */
  note: string | null;
  statements: readonly Statement[];
};

/**
 * Takes care of an alert: reminders and escalation stop. A drill is over. Throws NOT_FOUND, FORBIDDEN for a viewer whom no
 * message notified, CONFLICT if it has ended.
 */
export function acknowledgeAlert(scope: Scope, id: string): Promise<AlertSummary> {
  return retryOnStaleRead(async () => {
    const record = await getOpenRecord(scope, id);
    await assertMayAcknowledge(scope, record);
    const acknowledgments = await findAcknowledgments(scope, [record.id]);
    const { organizationId, actor } = scope;
    const isOwn = ({ actorType, actorId }: Acknowledgment) =>
      actorType === actor.type && actorId === (actor.id ?? "");
    if (record.snoozedUntil === null && acknowledgments.some(isOwn))
      return commitUnchanged(scope, guardUnconditional(scope), toSummary(record, acknowledgments));
    const at = formatTimestamp(scope.clock());
    const acknowledgedAt = record.acknowledgedAt ?? at;
    const ownership = { acknowledgedAt, snoozedUntil: null, dueAt: null };
    const ended =
      record.family === "drill" ? { resolvedAt: at, resolvedBecause: "acknowledged" as const } : {};
    const added = {
      organizationId,
      recordId: record.id,
      actorType: actor.type,
      actorId: actor.id ?? "",
      actorName: actor.name,
      at,
    };
    const all = acknowledgments.some(isOwn) ? acknowledgments : [...acknowledgments, added];
    return writeAction(scope, record, toSummary({ ...record, ...ownership, ...ended }, all), {
      action: "alert.acknowledged",
      entry: { type: "acknowledged" },
      note: `Acknowledged the alert “${titleOf(record)}”.`,
      statements: [
        ...changeOwnership(organizationId, record.id, ownership),
        insertAcknowledgment(organizationId, record.id, actor, at),
        ...(record.family === "drill"
          ? endRecords(organizationId, [record.id], "acknowledged", at)
          : []),
        ...dropHeldMessages(organizationId, [record.id], "acknowledged", at),
      ],
    });
  });
}

/** Throws FORBIDDEN for a viewer, unless a message about the alert notified them, or it is their own drill. */
async function assertMayAcknowledge(scope: Scope, { id, family, policyId, subjectId }: RecordRow) {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === null) return;
  const membership = await findMembership(scope, actor.id);
  if (membership !== null && isAtLeast(membership.role, "member")) return;
  const isOwnDrill = family === "drill" && policyId === null && subjectId === actor.id;
  const notified = isOwnDrill ? [] : await findNotifiedPeople(scope, id);
  if (isOwnDrill || notified.some((person) => person.id === actor.id)) return;
  throw new AppError("FORBIDDEN", "Viewers can acknowledge only alerts that notified them.");
}

/**
 * Acknowledges an alert as a channel, or as the person whose contact method it is. Returns null if
 * the alert has ended.
 */
export async function acknowledgeAsChannel(
  services: ScopeServices,
  { organizationId, recordId, channelId }: LinkTarget,
  name: string,
): Promise<AlertSummary | null> {
  const actor = { type: "link" as const, id: channelId, name };
  try {
    return await acknowledgeAlert(buildScope(services, organizationId, actor), recordId);
  } catch (error) {
    if (error instanceof AppError && ["CONFLICT", "NOT_FOUND"].includes(error.code)) return null;
    throw error;
  }
}

/** Removes all acknowledgments and the snooze of an alert. Throws NOT_FOUND, CONFLICT if it has ended. */
export function unacknowledgeAlert(scope: Scope, id: string): Promise<AlertSummary> {
  return retryOnStaleRead(async () => {
    const record = await getOpenRecord(scope, id);
    if (record.acknowledgedAt === null && record.snoozedUntil === null)
      return commitUnchanged(scope, guardUnconditional(scope), toSummary(record, []));
    const { organizationId } = scope;
    const { dueAt, waiting } = await findContinuation(scope, record);
    const ownership: Ownership = { acknowledgedAt: null, snoozedUntil: null, dueAt };
    return writeAction(scope, record, toSummary({ ...record, ...ownership }, []), {
      action: "alert.unacknowledged",
      entry: { type: "unacknowledged" },
      note: `Opened the alert “${titleOf(record)}” again.`,
      statements: [
        ...changeOwnership(organizationId, record.id, ownership),
        removeAcknowledgments(organizationId, record.id),
        ...waiting.map((one) => planUnlessSent(organizationId, record.id, one)),
      ],
    });
  });
}

/** Returns when the next step of an alert runs, and which notifications of its earlier steps wait. */
async function findContinuation(scope: Scope, record: RecordRow) {
  const { subjectId, priority, policyId, escalatedFrom } = record;
  if (escalatedFrom === null) return { dueAt: null, waiting: [] };
  const now = scope.clock();
  const policies = policyId === null ? [] : await listPolicies(scope, policyId);
  const facts = (await loadEscalation(scope, policies, now))(now);
  // Only the drill of a person escalates without a policy.
  const plan = policyId === null ? planPersonDrill(subjectId, priority, facts) : policies[0];
  const progress = { ...record, runs: parseRuns(record.runs) };
  return plan === undefined
    ? { dueAt: now, waiting: [] }
    : resumeEscalation(plan, progress, escalatedFrom, facts);
}

/**
 * Silences an alert until a time. Then it is sent again, and its policy starts again. Throws
 * NOT_FOUND, VALIDATION_ERROR, CONFLICT if it has ended.
 */
export function snoozeAlert(scope: Scope, id: string, { until }: NewSnooze): Promise<AlertSummary> {
  const { organizationId, clock } = scope;
  const longest = clock() + alertBounds.snooze.value * 1000;
  if (until <= clock()) throw invalidFieldError("until", "must be in the future");
  if (until > longest) throw invalidFieldError("until", "must be within the next 30 days");
  return retryOnStaleRead(async () => {
    const record = await getOpenRecord(scope, id);
    const { acknowledgedAt } = record;
    const ownership = { acknowledgedAt, snoozedUntil: until, dueAt: until };
    const acknowledgments = await findAcknowledgments(scope, [record.id]);
    return writeAction(scope, record, toSummary({ ...record, ...ownership }, acknowledgments), {
      action: "alert.snoozed",
      entry: { type: "snoozed", message: `Until ${formatUtcMinute(until)}.` },
      note: `Snoozed the alert “${titleOf(record)}” until ${formatUtcMinute(until)}.`,
      statements: [
        ...changeOwnership(organizationId, record.id, ownership),
        ...dropHeldMessages(organizationId, [record.id], "snoozed", formatTimestamp(clock())),
      ],
    });
  });
}

/** Adds a note to an alert, open or not. Throws NOT_FOUND, CONFLICT if its timeline is full. */
export function noteAlert(
  scope: Scope,
  id: string,
  { message }: NewAlertNote,
): Promise<TimelineEntry> {
  return retryOnStaleRead(async () => {
    const record = assertFound(await findRecord(scope, id), "alert");
    const { type, id: actorId, name } = scope.actor;
    const at = formatTimestamp(scope.clock());
    const actor = { type, id: actorId, name };
    return writeAction(
      scope,
      record,
      { at, type: "noted" as const, message, actor, channel: null },
      {
        action: "alert.noted",
        entry: { type: "noted", message },
        note: `Note on the alert “${titleOf(record)}”: ${message}`,
        statements: [guardRoomForNote(scope.organizationId, record.id)],
      },
    );
  });
}

/**
 * Revokes the links in all messages about an alert. Later messages have new ones. Throws NOT_FOUND,
 * CONFLICT if it has ended.
 */
export function revokeLinks(scope: Scope, id: string): Promise<AlertSummary> {
  return retryOnStaleRead(async () => {
    const record = await getOpenRecord(scope, id);
    const acknowledgments = await findAcknowledgments(scope, [record.id]);
    return writeAction(scope, record, toSummary(record, acknowledgments), {
      action: "alert.links-revoked",
      entry: { type: "links-revoked" },
      note: null,
      statements: [changeLinkKey(scope.organizationId, record.id, createLinkKey())],
    });
  });
}

async function getOpenRecord(scope: Scope, id: string): Promise<RecordRow> {
  const record = assertFound(await findRecord(scope, id), "alert");
  if (record.resolvedAt !== null) throw new AppError("CONFLICT", "This alert has ended.");
  return record;
}

/** Writes a change with its timeline entry, and a note to the open incident that names the monitor. */
async function writeAction<T extends object>(
  scope: Scope,
  record: RecordRow,
  response: T,
  { action, entry, note, statements }: PersonAction,
): Promise<T> {
  const { organizationId, actor } = scope;
  const at = formatTimestamp(scope.clock());
  return commit(
    scope,
    [
      ...guardUnconditional(scope),
      guardRecord(organizationId, record),
      ...statements,
      addEntry(organizationId, record.id, { at, actor, ...entry }),
      ...(note === null ? [] : await buildIncidentNote(scope, record, note)),
    ],
    { action, subjectId: record.id },
    response,
  );
}

/** A full timeline of an incident gets no note, and does not prevent the change. */
async function buildIncidentNote(scope: Scope, record: RecordRow, text: string) {
  if (record.resolvedAt !== null) return [];
  const { family, subjectId } = record;
  const incidentId =
    family === "incident"
      ? subjectId
      : family === "state" || family === "certificate"
        ? await findOpenIncident(scope, subjectId)
        : null;
  const incident = incidentId === null ? null : await findHead(scope, incidentId);
  if (incident === null || !hasRoom(incident)) return [];
  const note = createNote(text, scope.actor, scope.clock());
  return [insertIncidentNote(scope.organizationId, incident.id, note)];
}
