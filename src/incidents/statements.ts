/** Creates the statements that write incidents, updates and revisions. */
import type { AuditedChange } from "../events/commit.ts";
import type { Actor } from "../events/scope.ts";
import { listChangedFields } from "../core/field-changes.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import { formatBound, incidentBounds } from "../core/limits.ts";
import {
  createInsert,
  guardCondition,
  type Statement,
  type Store,
  createUpdate,
} from "../database/store.ts";
import {
  incidentNotes,
  incidentPostmortems,
  incidents,
  incidentUpdateRevisions,
  incidentUpdates,
} from "../database/tables/incidents.ts";
import {
  appendImpactChanges,
  actionOf,
  type AutomaticUpdate,
  type IncidentAction,
  applyPatch,
  emptyToNull,
} from "./rules.ts";
import type {
  Author,
  Incident,
  IncidentNote,
  IncidentPatch,
  NewIncident,
  Postmortem,
  Translations,
} from "./schema.ts";
import type { IncidentHead, UpdateRecord } from "./store.ts";
import { buildFirstVersion, buildNextVersion } from "../database/rows.ts";

const insertRow = createInsert(incidents);
const changeRow = createUpdate(incidents, [
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
  "impacts",
  "impactChanges",
]);
const insertUpdate = createInsert(incidentUpdates);

/** Serializes the facts of an incident or update for storage. */
function serializeFacts<T extends { automatic: object | null }>(record: T) {
  return { ...record, automatic: record.automatic && JSON.stringify(record.automatic) };
}

const serializeIncident = (record: IncidentHead) => ({
  ...serializeFacts(record),
  monitorIds: record.monitorIds.length > 1 ? JSON.stringify(record.monitorIds) : null,
  impacts: record.impacts.length > 0 ? JSON.stringify(record.impacts) : null,
  impactChanges: record.impactChanges && JSON.stringify(record.impactChanges),
});

const linkSql = `insert into incident_monitors (organization_id, incident_id, monitor_id, position)
  select ?, ?, value, key from json_each(?)`;
const unlinkSql = "delete from incident_monitors where organization_id = ? and incident_id = ?";

/** Returns statements that replace the monitors of an incident. `before` are the previous monitors. */
function replaceMonitors(
  organizationId: string,
  { id, monitorIds }: IncidentHead,
  before: readonly string[],
): Statement[] {
  if (Bun.deepEquals(before, monitorIds)) return [];
  const link = [organizationId, id, JSON.stringify(monitorIds)];
  return [
    ...(before.length === 0 ? [] : [{ text: unlinkSql, parameters: [organizationId, id] }]),
    ...(monitorIds.length === 0 ? [] : [{ text: linkSql, parameters: link }]),
  ];
}

/** Returns a statement that adds the next entry to the incident's timeline. */
const insertTimelineEntry = (
  organizationId: string,
  { id, version }: IncidentHead,
  update: UpdateRecord,
) =>
  insertUpdate({
    organizationId,
    incidentId: id,
    seq: version,
    ...serializeFacts(update),
    translations: serializeTranslations(update.translations),
  });

const serializeTranslations = (translations: Translations | null) =>
  translations && JSON.stringify(translations);

const incidentCountSql =
  "(select coalesce(sum(count), 0) from incident_counts where organization_id = ?)";

/** Guards the limit of incidents per organization. Append it to statements that add an incident. */
export const guardRoomForIncident = (organizationId: string): Statement =>
  guardCondition(
    `${incidentCountSql} <= ?`,
    [organizationId, maxIncidents],
    () =>
      new AppError(
        "CONFLICT",
        `An organization can have at most ${maxIncidents} incidents. Delete old ones.`,
      ),
  );

/** Whether the organization is below its limit of incidents. */
export async function hasRoomForIncident(store: Store, organizationId: string): Promise<boolean> {
  const [row] = await store.query<{ count: number }>(`select ${incidentCountSql} as count`, [
    organizationId,
  ]);
  return (row?.count ?? 0) < maxIncidents;
}

const maxIncidents = incidentBounds.incidents.value;

/** Guards the limits of a timeline. Append it to statements that add to the timeline. */
export const guardTimelineFits = (organizationId: string, incidentId: string): Statement =>
  guardCondition(
    `exists (select 1 from incidents where organization_id = ? and id = ? and entries <= ? and text_bytes <= ?)`,
    [organizationId, incidentId, maxEntries, maxTextBytes],
    () => new AppError("CONFLICT", timelineFull),
  );

const maxEntries = incidentBounds.entries.value;
const maxTextBytes = incidentBounds.text.value;
const timelineFull = `The timeline of an incident can have at most ${maxEntries} updates, edits and notes with ${formatBound(incidentBounds.text)} of text. Resolve this incident and open another one.`;

/** Whether the timeline has room for an automatic update and its note. */
export const hasRoom = ({ entries, textBytes }: IncidentHead) =>
  entries + 2 <= maxEntries && textBytes + automaticBytes <= maxTextBytes;

/** Maximum bytes of an automatic update and its note. */
const automaticBytes = 16 * 1024;

const insertNote = createInsert(incidentNotes);

/** Creates an internal note. */
export function createNote(message: string, { type, id, name }: Actor, now: number): IncidentNote {
  return {
    id: createId(now),
    message,
    createdAt: formatTimestamp(now),
    author: { type, id, name },
  };
}

export const insertIncidentNote = (
  organizationId: string,
  incidentId: string,
  { author, ...note }: IncidentNote,
) => insertNote({ organizationId, incidentId, ...note, ...toAuthorColumns(author) });

const toAuthorColumns = ({ type, id, name }: Author) => ({
  authorType: type,
  authorId: id,
  authorName: name,
});

const insertPostmortem = createInsert(incidentPostmortems);
// "insert or replace" would skip the trigger that counts the bytes of the replaced text.
const onConflictSql = ` on conflict (organization_id, incident_id) do update set
  message = excluded.message, published_at = excluded.published_at, updated_at = excluded.updated_at`;
const removePostmortemSql =
  "delete from incident_postmortems where organization_id = ? and incident_id = ?";

/** Returns the write that sets or removes the postmortem. Only a public change affects `updatedAt`. */
export function replacePostmortem(
  organizationId: string,
  before: IncidentHead,
  postmortem: Postmortem | null,
  at: string,
): Pick<Write, "after" | "statements"> {
  const isPublic = [before.postmortem, postmortem].some(
    (one) => (one?.publishedAt ?? null) !== null,
  );
  const { id: incidentId } = before;
  const after: IncidentHead = {
    ...before,
    version: before.version + 1,
    updatedAt: isPublic ? at : before.updatedAt,
    postmortem,
  };
  const isLonger = (postmortem?.message.length ?? 0) > (before.postmortem?.message.length ?? 0);
  return {
    after,
    statements: [
      changeRow(organizationId, serializeIncident(after)),
      postmortem === null
        ? { text: removePostmortemSql, parameters: [organizationId, incidentId] }
        : putPostmortem({ organizationId, incidentId, ...postmortem }),
      ...(isLonger ? [guardTimelineFits(organizationId, incidentId)] : []),
    ],
  };
}

function putPostmortem(row: Parameters<typeof insertPostmortem>[0]): Statement {
  const { text, parameters } = insertPostmortem(row);
  return { text: text + onConflictSql, parameters };
}

const insertRevision = createInsert(incidentUpdateRevisions);
const editUpdateSql = `update incident_updates set message = ?, translations = ?, edited_at = ?, automatic = null
  where organization_id = ? and incident_id = ? and id = ?`;

/**
 * Returns the write that replaces the text of an update and stores the old text as a revision. A
 * monitor's update becomes the editor's.
 */
export function reviseUpdate(
  organizationId: string,
  before: IncidentHead,
  update: UpdateRecord,
  { message, translations }: Pick<UpdateRecord, "message" | "translations">,
  author: Actor,
  now: number,
): Write & { posted: UpdateRecord } {
  const at = formatTimestamp(now);
  const { id: incidentId } = before;
  const after: IncidentHead = { ...before, ...buildNextVersion(before, at) };
  const revision = {
    id: createId(now),
    updateId: update.id,
    message: update.message,
    editedAt: at,
  };
  return {
    after,
    posted: { ...update, message, translations, editedAt: at, automatic: null },
    statements: [
      changeRow(organizationId, serializeIncident(after)),
      {
        text: editUpdateSql,
        parameters: [
          message,
          serializeTranslations(translations),
          at,
          organizationId,
          incidentId,
          update.id,
        ],
      },
      insertRevision({ organizationId, incidentId, ...revision, ...toAuthorColumns(author) }),
      guardTimelineFits(organizationId, incidentId),
    ],
    audited: {
      action: "incident.updated",
      subjectId: incidentId,
      fields: ["updates"],
      data: { updateId: null },
    },
  };
}

/** A change to an incident, with its audited action. */
type IncidentChange = AuditedChange<IncidentAction | "incident.opened">;

/**
 * The result of a change: the incident after it, its added or edited update, its statements, and
 * its audit row and event.
 */
export type Write = {
  after: IncidentHead;
  posted: UpdateRecord | null;
  statements: Statement[];
  audited: IncidentChange;
};

/**
 * Returns the write that opens an incident with its first timeline entry. A monitor's text is
 * stored with its facts.
 */
export function insertIncident(
  organizationId: string,
  {
    message,
    translations,
    notify,
    impacts = [],
    ...input
  }: Pick<Incident, "title" | "severity" | "public" | "monitorIds"> &
    Pick<NewIncident, "notify" | "translations" | "impacts"> & { message: string },
  origin: Incident["origin"],
  now: number,
): Write & { posted: UpdateRecord } {
  const at = formatTimestamp(now);
  const automatic = origin === "monitor" ? { kind: "down" as const } : null;
  const status = "investigating" as const;
  const update = {
    id: createId(now),
    status,
    message,
    translations: emptyToNull(translations),
    createdAt: at,
    editedAt: null,
    automatic,
  };
  const after: IncidentHead = {
    ...input,
    impacts,
    impactChanges: appendImpactChanges(
      { status, impacts: [], impactChanges: null },
      { status, impacts },
      now,
      now,
    ),
    monitorId: input.monitorIds[0] ?? null,
    id: createId(now),
    status,
    origin,
    resolvedAt: null,
    ...buildFirstVersion(at),
    automatic,
    postmortem: null,
    entries: 0,
    textBytes: 0,
  };
  return {
    after,
    posted: update,
    statements: [
      insertRow({ organizationId, ...serializeIncident(after) }),
      ...replaceMonitors(organizationId, after, []),
      insertTimelineEntry(organizationId, after, update),
    ],
    audited: {
      action: "incident.opened",
      subjectId: after.id,
      data: { updateId: update.id, ...(notify === false && { notify }) },
    },
  };
}

/**
 * Returns the write that patches an incident, with the update that it adds, if there is one. `automatic` contains the
 * facts of a monitor's update. A title that a person edits is no longer automatic. Resolving is possible even if the
 * timeline is full.
 */
export function patchIncident(
  organizationId: string,
  before: IncidentHead,
  patch: IncidentPatch,
  now: number,
  automatic: AutomaticUpdate | null = null,
): Write {
  const at = formatTimestamp(now);
  const { change, update } = applyPatch(before, patch, at);
  const posted =
    update === null
      ? null
      : { id: createId(now), ...update, createdAt: at, editedAt: null, automatic };
  const after: IncidentHead = {
    ...before,
    ...change,
    ...buildNextVersion(before, at),
    impactChanges: appendImpactChanges(before, change, Date.parse(before.createdAt), now),
    automatic: change.title === before.title ? before.automatic : null,
  };
  const resolves = after.status === "resolved" && before.status !== "resolved";
  const timelineGuards =
    posted === null || resolves ? [] : [guardTimelineFits(organizationId, before.id)];
  return {
    after,
    posted,
    statements: [
      changeRow(organizationId, serializeIncident(after)),
      ...replaceMonitors(organizationId, after, before.monitorIds),
      ...(posted === null ? [] : [insertTimelineEntry(organizationId, after, posted)]),
      ...timelineGuards,
    ],
    audited: {
      action: actionOf(before.status, after.status),
      subjectId: before.id,
      fields: [
        ...listChangedFields(before, after, [
          "title",
          "severity",
          "public",
          "monitorIds",
          "impacts",
        ]),
        // Every posted update is logged with its fields, even if the status stays the same.
        ...Object.keys(patch).filter((name) =>
          ["status", "message", "translations"].includes(name),
        ),
      ],
      data: { updateId: posted?.id ?? null, ...(patch.notify === false && { notify: false }) },
    },
  };
}
