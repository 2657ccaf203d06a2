import { commit, mustBeCurrent } from "../audit/commit.ts";
import type { Scope } from "../audit/scope.ts";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { page } from "../base/paging.ts";
import { mustExist, unknownReference } from "../database/references.ts";
import { retrying } from "../database/store.ts";
import { incidents, monitors } from "../database/tables.ts";
import { actionOf, incidentAfter } from "./rules.ts";
import type { IncidentPatch, IncidentQuery, NewIncident } from "./schema.ts";
import {
  changeIncident,
  findIncident,
  type IncidentRecord,
  insertIncident,
  insertUpdate,
  pageOfIncidents,
  removeIncident,
} from "./store.ts";

export async function listIncidents(scope: Scope, query: IncidentQuery) {
  const { incidents, total } = await pageOfIncidents(scope.store, scope.organizationId, query);
  return page(query, incidents, total);
}

/** Throws NOT_FOUND. */
export async function getIncident(scope: Scope, id: string): Promise<IncidentRecord> {
  const incident = await findIncident(scope.store, scope.organizationId, id);
  if (incident === null) throw new AppError("NOT_FOUND", "There is no such incident.");
  return incident;
}

/** Opens an incident with its first timeline entry. Throws NOT_FOUND for an unknown monitor. */
export async function openIncident(scope: Scope, input: NewIncident): Promise<IncidentRecord> {
  const { organizationId } = scope;
  const now = scope.clock();
  const at = timestamp(now);
  const { message, ...fields } = input;
  const update = { id: newId(now), status: "investigating" as const, message, createdAt: at };
  const incident: IncidentRecord = {
    ...fields,
    id: newId(now),
    status: "investigating",
    origin: "manual",
    resolvedAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
    updates: [update],
  };
  const monitorIds = input.monitorId === null ? [] : [input.monitorId];
  return commit(
    scope,
    [
      ...mustExist(monitors, organizationId, monitorIds, () =>
        unknownReference("monitorId", "monitor"),
      ),
      insertIncident(organizationId, incident),
      insertUpdate(organizationId, incident, update),
    ],
    { action: "incident.opened", subjectId: incident.id, data: { updateId: update.id } },
    incident,
  );
}

/** Corrects an incident and posts to its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function updateIncident(
  scope: Scope,
  id: string,
  patch: IncidentPatch,
): Promise<IncidentRecord> {
  const { organizationId } = scope;
  return retrying(async () => {
    const before = await getIncident(scope, id);
    const now = scope.clock();
    const at = timestamp(now);
    const { change, update } = incidentAfter(before, patch, at);
    const posted = update === null ? [] : [{ id: newId(now), ...update, createdAt: at }];
    const after: IncidentRecord = {
      ...before,
      ...change,
      version: before.version + 1,
      updatedAt: at,
      updates: [...before.updates, ...posted],
    };
    return commit(
      scope,
      [
        ...mustBeCurrent(scope, incidents, before),
        changeIncident(organizationId, after),
        ...posted.map((entry) => insertUpdate(organizationId, after, entry)),
      ],
      {
        action: actionOf(before.status, after.status),
        subjectId: id,
        fields: Object.keys(patch),
        data: { updateId: posted[0]?.id ?? null },
      },
      after,
    );
  });
}

/** The same as a patch to `resolved` with its default message. */
export function resolveIncident(scope: Scope, id: string): Promise<IncidentRecord> {
  return updateIncident(scope, id, { status: "resolved" });
}

/** Removes an incident with its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteIncident(scope: Scope, id: string): Promise<object> {
  const { store, organizationId } = scope;
  return retrying(async () => {
    const incident = await getIncident(scope, id);
    return commit(
      scope,
      [...mustBeCurrent(scope, incidents, incident), removeIncident(store, organizationId, id)],
      { action: "incident.deleted", subjectId: id },
      {},
    );
  });
}
