/** Use cases of incidents, timeline updates, notes and postmortems. */
import { removeRecords } from "../database/deleted-records.ts";
import { sql } from "drizzle-orm";
import { commit, commitUnchanged, guardCurrent, guardUnconditional } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { runInSearchTurn } from "../events/organization-turns.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { deletedBody } from "../core/paging.ts";
import { type StreamedList, appendEntry, replaceEntry } from "../core/text/streamed-list.ts";
import { guardExists } from "../database/references.ts";
import { invalidFieldError } from "../core/validation.ts";
import { noMonitorError } from "../database/group-limit.ts";
import { assertFound, matchValues, guardFieldExists, notFoundError } from "../database/rows.ts";
import { guard, retryOnStaleRead } from "../database/store.ts";
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
  findIncidentPage,
  streamRevisions,
} from "./store.ts";
import { applyPostmortemPatch, emptyToNull } from "./rules.ts";
import {
  reviseUpdate,
  guardTimelineFits,
  guardRoomForIncident,
  createNote,
  insertIncidentNote,
  insertIncident,
  patchIncident,
  replacePostmortem,
} from "./statements.ts";

/** Lists a page of incidents, newest first. */
export function listIncidents(scope: Scope, query: IncidentQuery) {
  const readIncidentPage = () => findIncidentPage(scope, query);
  return query.q === undefined ? readIncidentPage() : runInSearchTurn(scope, readIncidentPage);
}

/** Reads an incident with its timeline. Throws NOT_FOUND. */
export async function getIncident(scope: Scope, id: string): Promise<IncidentRecord> {
  return assertFound(await findIncident(scope, id), "incident");
}

/** Reads an incident without its timeline. Throws NOT_FOUND. */
async function getHead(scope: Scope, id: string): Promise<IncidentHead> {
  return assertFound(await findHead(scope, id), "incident");
}

/** Opens an incident with its first timeline entry. Throws NOT_FOUND for an unknown monitor. */
export async function openIncident(
  scope: Scope,
  { monitorId, monitorIds, ...input }: NewIncident,
): Promise<IncidentRecord> {
  const affected = monitorIds ?? (monitorId ? [monitorId] : []);
  assertNamesMonitor(scope, affected);
  assertImpactsAffected(input.impacts, affected);
  const monitorField = monitorIds === undefined ? "monitorId" : "monitorIds";
  const write = insertIncident(
    scope.organizationId,
    { ...input, monitorIds: affected },
    "manual",
    scope.clock(),
  );
  const known = guardFieldExists(scope, monitorField, monitors, affected);
  const after = { ...write.after, updates: [write.posted], notes: [] };
  const room = guardRoomForIncident(scope.organizationId);
  return commit(scope, [...known, ...write.statements, room], write.audited, after);
}

/**
 * Corrects an incident and adds to its timeline. Throws NOT_FOUND, CONFLICT if the timeline is
 * full, PRECONDITION_FAILED, VALIDATION_ERROR.
 */
export function updateIncident(scope: Scope, id: string, patch: IncidentPatch) {
  return retryOnStaleRead(async () => {
    const before = await getIncident(scope, id);
    assertOpenerRemains(before, patch);
    assertNamesMonitor(scope, patch.monitorIds);
    assertImpactsAffected(patch.impacts, patch.monitorIds ?? before.monitorIds);
    const write = patchIncident(scope.organizationId, before, patch, scope.clock());
    const current = guardCurrent(scope, incidents, before);
    const known = guardFieldExists(scope, "monitorIds", monitors, patch.monitorIds);
    const { posted } = write;
    const updates = posted === null ? before.updates : appendEntry(before.updates, posted);
    const after = { ...before, ...write.after, updates };
    return commit(scope, [...current, ...known, ...write.statements], write.audited, after);
  });
}

/** Throws FORBIDDEN if a limited caller names no monitor. They could not see such an incident. */
function assertNamesMonitor({ groupIds }: Scope, monitorIds: readonly string[] | undefined) {
  if (groupIds !== null && monitorIds?.length === 0) throw noMonitorError();
}

/** Throws VALIDATION_ERROR for an impact on a monitor that the incident does not affect. */
function assertImpactsAffected(impacts: NewIncident["impacts"], monitorIds: readonly string[]) {
  const index = impacts?.findIndex(({ monitorId }) => !monitorIds.includes(monitorId)) ?? -1;
  if (index !== -1)
    throw invalidFieldError(`impacts[${index}].monitorId`, "must be one of the affected monitors");
}

/**
 * Throws VALIDATION_ERROR unless the monitor that opened the incident stays the first one. That
 * monitor resolves the incident.
 */
function assertOpenerRemains({ origin, monitorId }: IncidentHead, { monitorIds }: IncidentPatch) {
  if (origin === "monitor" && monitorId !== null && monitorIds && monitorIds[0] !== monitorId)
    throw invalidFieldError("monitorIds", "must begin with the monitor that opened the incident");
}

/**
 * Changes the text of an update without another notification. The same text changes nothing. Throws
 * NOT_FOUND, CONFLICT if the timeline is full, PRECONDITION_FAILED.
 */
export function editUpdate(
  scope: Scope,
  id: string,
  updateId: string,
  patch: IncidentUpdatePatch,
): Promise<IncidentRecord> {
  const { organizationId, actor } = scope;
  const { message } = patch;
  return retryOnStaleRead(async () => {
    const before = await getIncident(scope, id);
    const update = assertFound(await findUpdate(scope, id, updateId), "update");
    const current = guardCurrent(scope, incidents, before);
    const translations = patch.translations ? emptyToNull(patch.translations) : update.translations;
    const isSame = message === update.message && Bun.deepEquals(translations, update.translations);
    if (isSame) return commitUnchanged(scope, current, before);
    const text = { message, translations };
    const write = reviseUpdate(organizationId, before, update, text, actor, scope.clock());
    const updates = replaceEntry(before.updates, write.posted);
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
  assertFound(await findUpdate(scope, id, updateId), "update");
  return streamRevisions(scope, id, updateId);
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
  return retryOnStaleRead(async () => {
    const before = await getIncident(scope, id);
    const at = formatTimestamp(scope.clock());
    const postmortem = applyPostmortemPatch(before.postmortem, patch, at);
    if (postmortem === null)
      throw new AppError("CONFLICT", "There is no postmortem to publish yet.");
    const publishes = patch.published === true;
    if (publishes && before.status !== "resolved")
      throw new AppError("CONFLICT", "A postmortem is published once its incident is resolved.");
    const { after, statements } = replacePostmortem(scope.organizationId, before, postmortem, at);
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
export function deletePostmortem(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const before = await getHead(scope, id);
    assertFound(before.postmortem, "postmortem");
    const at = formatTimestamp(scope.clock());
    const { statements } = replacePostmortem(scope.organizationId, before, null, at);
    return commit(
      scope,
      [...guardCurrent(scope, incidents, before), ...statements],
      { action: "incident.postmortem-deleted", subjectId: id },
      { ...deletedBody, title: before.title },
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
  const note = createNote(message, scope.actor, scope.clock());
  return commit(
    scope,
    [
      ...guardExists(incidents, organizationId, [incidentId], () => notFoundError("incident")),
      insertIncidentNote(organizationId, incidentId, note),
      guardTimelineFits(organizationId, incidentId),
    ],
    { action: "incident.noted", subjectId: incidentId },
    note,
  );
}

/** Deletes an internal note. Throws NOT_FOUND. */
export function deleteNote(
  scope: Scope,
  incidentId: string,
  id: string,
): Promise<typeof deletedBody> {
  const { organizationId } = scope;
  const note = matchValues(incidentNotes, { organizationId, incidentId, id });
  return commit(
    scope,
    [
      guard(sql`exists (select 1 from ${incidentNotes} where ${note})`, () =>
        notFoundError("note"),
      ),
      ...guardUnconditional(scope),
      scope.store.db.delete(incidentNotes).where(note),
    ],
    { action: "incident.note-deleted", subjectId: incidentId },
    deletedBody,
  );
}

/** Deletes an incident with its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteIncident(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const incident = await getHead(scope, id);
    return commit(
      scope,
      [
        ...guardCurrent(scope, incidents, incident),
        ...removeRecords(scope, "incident", [id], formatTimestamp(scope.clock())),
      ],
      { action: "incident.deleted", subjectId: id },
      { ...deletedBody, title: incident.title },
    );
  });
}
