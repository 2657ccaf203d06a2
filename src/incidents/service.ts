/** Use cases of incidents, timeline updates, notes and postmortems. */
import { sql } from "drizzle-orm";
import { commit, commitUnchanged, guardCurrent, guardUnconditional } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { inSearchTurn } from "../events/turns.ts";
import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { deleted } from "../core/paging.ts";
import { type StreamedList, withEntry, withReplaced } from "../core/text/streamed-list.ts";
import { mustExist } from "../database/references.ts";
import { invalid } from "../core/validation.ts";
import { found, matching, mustName, noSuch, removeRow } from "../database/rows.ts";
import { must, retrying } from "../database/store.ts";
import { incidentNotes, incidents } from "../database/tables/incidents.ts";
import { monitors } from "../database/tables/monitoring.ts";
import type {
  IncidentNote,
  IncidentPatch,
  IncidentQuery,
  IncidentUpdatePatch,
  IncidentUpdateRevision,
  NewIncident,
  NewIncidentNote,
  PostmortemPatch,
} from "./schema.ts";
import {
  findHead,
  findIncident,
  findUpdate,
  type IncidentHead,
  type IncidentRecord,
  pageOfIncidents,
  revisionsOf,
} from "./store.ts";
import { postmortemAfter } from "./rules.ts";
import {
  editing,
  mustFitTimeline,
  mustHaveRoomForIncident,
  newNote,
  noting,
  opening,
  patching,
  reviewing,
} from "./statements.ts";

/** Lists a page of incidents, newest first. */
export function listIncidents(scope: Scope, query: IncidentQuery) {
  const read = () => pageOfIncidents(scope, query);
  return query.q === undefined ? read() : inSearchTurn(scope, read);
}

/** Reads an incident with its timeline. Throws NOT_FOUND. */
export async function getIncident(scope: Scope, id: string): Promise<IncidentRecord> {
  return found(await findIncident(scope, id), "incident");
}

/** Reads an incident without its timeline. Throws NOT_FOUND. */
async function getHead(scope: Scope, id: string): Promise<IncidentHead> {
  return found(await findHead(scope, id), "incident");
}

/** Opens an incident with its first timeline entry. Throws NOT_FOUND for an unknown monitor. */
export async function openIncident(
  scope: Scope,
  { monitorId, monitorIds, ...input }: NewIncident,
): Promise<IncidentRecord> {
  const affected = monitorIds ?? (monitorId ? [monitorId] : []);
  const named = monitorIds === undefined ? "monitorId" : "monitorIds";
  const write = opening(
    scope.organizationId,
    { ...input, monitorIds: affected },
    "manual",
    scope.clock(),
  );
  const known = mustName(scope, named, monitors, affected);
  const after = { ...write.after, updates: [write.posted], notes: [] };
  const room = mustHaveRoomForIncident(scope.organizationId);
  return commit(scope, [...known, ...write.statements, room], write.audited, after);
}

/**
 * Corrects an incident and adds to its timeline. Throws NOT_FOUND, CONFLICT if the timeline is
 * full, PRECONDITION_FAILED, VALIDATION_ERROR.
 */
export function updateIncident(scope: Scope, id: string, patch: IncidentPatch) {
  return retrying(async () => {
    const before = await getIncident(scope, id);
    mustKeepOpener(before, patch);
    const write = patching(scope.organizationId, before, patch, scope.clock());
    const current = guardCurrent(scope, incidents, before);
    const known = mustName(scope, "monitorIds", monitors, patch.monitorIds);
    const { posted } = write;
    const updates = posted === null ? before.updates : withEntry(before.updates, posted);
    const after = { ...before, ...write.after, updates };
    return commit(scope, [...current, ...known, ...write.statements], write.audited, after);
  });
}

/**
 * Throws VALIDATION_ERROR unless the monitor that opened the incident stays the first one. That
 * monitor resolves the incident.
 */
function mustKeepOpener({ origin, monitorId }: IncidentHead, { monitorIds }: IncidentPatch) {
  if (origin === "monitor" && monitorId !== null && monitorIds && monitorIds[0] !== monitorId)
    throw invalid("monitorIds", "must begin with the monitor that opened the incident");
}

/**
 * Changes the text of an update without another notification. The same text changes nothing. Throws
 * NOT_FOUND, CONFLICT if the timeline is full, PRECONDITION_FAILED.
 */
export function editUpdate(
  scope: Scope,
  id: string,
  updateId: string,
  { message }: IncidentUpdatePatch,
): Promise<IncidentRecord> {
  const { organizationId, actor } = scope;
  return retrying(async () => {
    const before = await getIncident(scope, id);
    const update = found(await findUpdate(scope, id, updateId), "update");
    const current = guardCurrent(scope, incidents, before);
    if (message === update.message) return commitUnchanged(scope, current, before);
    const write = editing(organizationId, before, update, message, actor, scope.clock());
    const updates = withReplaced(before.updates, write.posted);
    const after = { ...before, ...write.after, updates };
    return commit(scope, [...current, ...write.statements], write.audited, after);
  });
}

/** Lists the earlier texts of an update. Throws NOT_FOUND. */
export async function listRevisions(
  scope: Scope,
  id: string,
  updateId: string,
): Promise<StreamedList<IncidentUpdateRevision>> {
  await getHead(scope, id);
  found(await findUpdate(scope, id, updateId), "update");
  return revisionsOf(scope, id, updateId);
}

/**
 * Writes, publishes or withdraws a postmortem. Throws NOT_FOUND, CONFLICT if it can't be published
 * yet or the timeline is full, PRECONDITION_FAILED.
 */
export function updatePostmortem(
  scope: Scope,
  id: string,
  { notify = false, ...patch }: PostmortemPatch,
): Promise<IncidentRecord> {
  return retrying(async () => {
    const before = await getIncident(scope, id);
    const at = timestamp(scope.clock());
    const postmortem = postmortemAfter(before.postmortem, patch, at);
    if (postmortem === null)
      throw new AppError("CONFLICT", "There is no postmortem to publish yet.");
    const publishes = patch.published === true;
    if (publishes && before.status !== "resolved")
      throw new AppError("CONFLICT", "A postmortem is published once its incident is resolved.");
    const { after, statements } = reviewing(scope.organizationId, before, postmortem, at);
    const { updates, notes } = before;
    const change = { subjectId: id, fields: Object.keys(patch) };
    return commit(
      scope,
      [...guardCurrent(scope, incidents, before), ...statements],
      publishes
        ? { action: "incident.postmortem-published", ...change, data: { notify } }
        : { action: "incident.postmortem-updated", ...change },
      { ...after, updates, notes },
    );
  });
}

/** Deletes a postmortem. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deletePostmortem(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const before = await getHead(scope, id);
    found(before.postmortem, "postmortem");
    const at = timestamp(scope.clock());
    const { statements } = reviewing(scope.organizationId, before, null, at);
    return commit(
      scope,
      [...guardCurrent(scope, incidents, before), ...statements],
      { action: "incident.postmortem-deleted", subjectId: id },
      deleted,
    );
  });
}

/**
 * Adds an internal note. The incident's version and `updatedAt` stay unchanged, so nothing public
 * shows it. Throws NOT_FOUND, CONFLICT if the timeline is full.
 */
export function addNote(
  scope: Scope,
  incidentId: string,
  { message }: NewIncidentNote,
): Promise<IncidentNote> {
  const { organizationId } = scope;
  const note = newNote(message, scope.actor, scope.clock());
  return commit(
    scope,
    [
      ...mustExist(incidents, organizationId, [incidentId], () => noSuch("incident")),
      noting(organizationId, incidentId, note),
      mustFitTimeline(organizationId, incidentId),
    ],
    { action: "incident.noted", subjectId: incidentId },
    note,
  );
}

/** Deletes an internal note. Throws NOT_FOUND. */
export function deleteNote(scope: Scope, incidentId: string, id: string): Promise<typeof deleted> {
  const { organizationId } = scope;
  const note = matching(incidentNotes, { organizationId, incidentId, id });
  return commit(
    scope,
    [
      must(sql`exists (select 1 from ${incidentNotes} where ${note})`, () => noSuch("note")),
      ...guardUnconditional(scope),
      scope.store.db.delete(incidentNotes).where(note),
    ],
    { action: "incident.note-deleted", subjectId: incidentId },
    deleted,
  );
}

/** Deletes an incident with its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteIncident(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const incident = await getHead(scope, id);
    return commit(
      scope,
      [...guardCurrent(scope, incidents, incident), removeRow(scope, incidents, id)],
      { action: "incident.deleted", subjectId: id },
      deleted,
    );
  });
}
