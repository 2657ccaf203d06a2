import type { AuditedChange } from "../events/commit.ts";
import type { Actor } from "../events/scope.ts";
import { timestamp } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import { insertInto, type Statement, updateOf } from "../database/store.ts";
import {
  incidentNotes,
  incidentPostmortems,
  incidents,
  incidentUpdateRevisions,
  incidentUpdates,
} from "../database/tables/incidents.ts";
import { actionOf, type AutomaticUpdate, type IncidentAction, incidentAfter } from "./rules.ts";
import type { Author, Incident, IncidentNote, IncidentPatch, Postmortem } from "./schema.ts";
import type { IncidentRecord, UpdateRecord } from "./store.ts";
import { firstVersion, nextVersion } from "../database/rows.ts";

const insertRow = insertInto(incidents);
const changeRow = updateOf(incidents, [
  "title",
  "status",
  "severity",
  "public",
  "monitorId",
  "resolvedAt",
  "version",
  "updatedAt",
  "automatic",
  "monitorIds",
]);
const insertUpdate = insertInto(incidentUpdates);

/** With the facts as they are stored. */
function stored<T extends { automatic: object | null }>(record: T) {
  return { ...record, automatic: record.automatic && JSON.stringify(record.automatic) };
}

const storedIncident = (record: IncidentRecord) => ({
  ...stored(record),
  monitorIds: record.monitorIds.length > 1 ? JSON.stringify(record.monitorIds) : null,
});

const linkText = `insert into incident_monitors (organization_id, incident_id, monitor_id, position)
  select ?, ?, value, key from json_each(?)`;
const unlinkText = "delete from incident_monitors where organization_id = ? and incident_id = ?";

/** Has an incident name its monitors; `before` are those that it named. */
function naming(
  organizationId: string,
  { id, monitorIds }: IncidentRecord,
  before: readonly string[],
): Statement[] {
  if (Bun.deepEquals(before, monitorIds)) return [];
  const link = [organizationId, id, JSON.stringify(monitorIds)];
  return [
    ...(before.length === 0 ? [] : [{ text: unlinkText, parameters: [organizationId, id] }]),
    ...(monitorIds.length === 0 ? [] : [{ text: linkText, parameters: link }]),
  ];
}

/** The next entry of the incident's timeline. */
const posting = (organizationId: string, { id, version }: IncidentRecord, update: UpdateRecord) =>
  insertUpdate({ organizationId, incidentId: id, seq: version, ...stored(update) });

const insertNote = insertInto(incidentNotes);

/** A note that is about to be posted. */
export function newNote(message: string, { type, id, name }: Actor, now: number): IncidentNote {
  return { id: newId(now), message, createdAt: timestamp(now), author: { type, id, name } };
}

export const noting = (
  organizationId: string,
  incidentId: string,
  { author, ...note }: IncidentNote,
) => insertNote({ organizationId, incidentId, ...note, ...authored(author) });

const authored = ({ type, id, name }: Author) => ({
  authorType: type,
  authorId: id,
  authorName: name,
});

const putPostmortem = insertInto(incidentPostmortems, "insert or replace");
const removeText = "delete from incident_postmortems where organization_id = ? and incident_id = ?";

/** Gives an incident this postmortem, or none. Only what is public changes when the incident was changed last. */
export function reviewing(
  organizationId: string,
  before: IncidentRecord,
  postmortem: Postmortem | null,
  at: string,
): Pick<Write, "after" | "statements"> {
  const isPublic = [before.postmortem, postmortem].some(
    (one) => (one?.publishedAt ?? null) !== null,
  );
  const { id: incidentId } = before;
  const after: IncidentRecord = {
    ...before,
    version: before.version + 1,
    updatedAt: isPublic ? at : before.updatedAt,
    postmortem,
  };
  return {
    after,
    statements: [
      changeRow(organizationId, storedIncident(after)),
      postmortem === null
        ? { text: removeText, parameters: [organizationId, incidentId] }
        : putPostmortem({ organizationId, incidentId, ...postmortem }),
    ],
  };
}

const insertRevision = insertInto(incidentUpdateRevisions);
const editText = `update incident_updates set message = ?, edited_at = ?, automatic = null
  where organization_id = ? and incident_id = ? and id = ?`;

/** Another text for an update, which keeps the one it had. What a monitor wrote is the editor's from then on. */
export function editing(
  organizationId: string,
  before: IncidentRecord,
  update: UpdateRecord,
  message: string,
  author: Actor,
  now: number,
): Write {
  const at = timestamp(now);
  const { id: incidentId } = before;
  const edited = { ...update, message, editedAt: at, automatic: null };
  const after: IncidentRecord = {
    ...before,
    ...nextVersion(before, at),
    updates: before.updates.map((one) => (one.id === update.id ? edited : one)),
  };
  const revision = { id: newId(now), updateId: update.id, message: update.message, editedAt: at };
  return {
    after,
    statements: [
      changeRow(organizationId, storedIncident(after)),
      { text: editText, parameters: [message, at, organizationId, incidentId, update.id] },
      insertRevision({ organizationId, incidentId, ...revision, ...authored(author) }),
    ],
    audited: {
      action: "incident.updated",
      subjectId: incidentId,
      fields: ["updates"],
      data: { updateId: null },
    },
  };
}

/** What people and monitors do to what stands on an incident's timeline. */
type IncidentChange = AuditedChange<IncidentAction | "incident.opened">;

/** How the incident is afterwards, how it gets there, what that is for the audit log and the events. */
export type Write = { after: IncidentRecord; statements: Statement[]; audited: IncidentChange };

/** A new incident with its first timeline entry. What a monitor says has its facts beside the words. */
export function opening(
  organizationId: string,
  {
    message,
    ...input
  }: Pick<Incident, "title" | "severity" | "public" | "monitorIds"> & {
    message: string;
  },
  origin: Incident["origin"],
  now: number,
): Write {
  const at = timestamp(now);
  const automatic = origin === "monitor" ? { kind: "down" as const } : null;
  const status = "investigating" as const;
  const update = { id: newId(now), status, message, createdAt: at, editedAt: null, automatic };
  const after: IncidentRecord = {
    ...input,
    monitorId: input.monitorIds[0] ?? null,
    id: newId(now),
    status,
    origin,
    resolvedAt: null,
    ...firstVersion(at),
    automatic,
    updates: [update],
    notes: [],
    postmortem: null,
  };
  return {
    after,
    statements: [
      insertRow({ organizationId, ...storedIncident(after) }),
      ...naming(organizationId, after, []),
      posting(organizationId, after, update),
    ],
    audited: {
      action: "incident.opened",
      subjectId: after.id,
      data: { updateId: update.id },
    },
  };
}

/**
 * A patch of an incident, with the timeline entry it posts, if any; `automatic` is what a monitor's
 * entry says. A title that somebody changes is theirs from then on.
 */
export function patching(
  organizationId: string,
  before: IncidentRecord,
  patch: IncidentPatch,
  now: number,
  automatic: AutomaticUpdate | null = null,
): Write {
  const at = timestamp(now);
  const { change, update } = incidentAfter(before, patch, at);
  const post =
    update === null
      ? []
      : [{ id: newId(now), ...update, createdAt: at, editedAt: null, automatic }];
  const after: IncidentRecord = {
    ...before,
    ...change,
    ...nextVersion(before, at),
    automatic: change.title === before.title ? before.automatic : null,
    updates: [...before.updates, ...post],
  };
  return {
    after,
    statements: [
      changeRow(organizationId, storedIncident(after)),
      ...naming(organizationId, after, before.monitorIds),
      ...post.map((entry) => posting(organizationId, after, entry)),
    ],
    audited: {
      action: actionOf(before.status, after.status),
      subjectId: before.id,
      fields: Object.keys(patch),
      data: { updateId: post[0]?.id ?? null },
    },
  };
}
