import { commit, mustBeCurrent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { deleted } from "../core/paging.ts";
import { found, mustName, removeRow } from "../database/rows.ts";
import { retrying } from "../database/store.ts";
import { incidents } from "../database/tables/incidents.ts";
import { monitors } from "../database/tables/monitoring.ts";
import type { IncidentPatch, NewIncident } from "./schema.ts";
import { findIncident, type IncidentRecord } from "./store.ts";
import { opening, patching } from "./statements.ts";

export { listIncidents } from "./store.ts";

/** Throws NOT_FOUND. */
export async function getIncident(scope: Scope, id: string): Promise<IncidentRecord> {
  return found(await findIncident(scope, id), "incident");
}

/** Opens an incident with its first timeline entry. Throws NOT_FOUND for an unknown monitor. */
export async function openIncident(scope: Scope, input: NewIncident): Promise<IncidentRecord> {
  const { organizationId } = scope;
  const { after, statements, audited } = opening(organizationId, input, "manual", scope.clock());
  const monitorIds = input.monitorId === null ? [] : [input.monitorId];
  const known = mustName(scope, "monitorId", monitors, monitorIds);
  return commit(scope, [...known, ...statements], audited, after);
}

/** Corrects an incident and posts to its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function updateIncident(scope: Scope, id: string, patch: IncidentPatch) {
  return retrying(async () => {
    const before = await getIncident(scope, id);
    const write = patching(scope.organizationId, before, patch, scope.clock());
    const current = mustBeCurrent(scope, incidents, before);
    return commit(scope, [...current, ...write.statements], write.audited, write.after);
  });
}

/** Removes an incident with its timeline. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteIncident(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const incident = await getIncident(scope, id);
    return commit(
      scope,
      [...mustBeCurrent(scope, incidents, incident), removeRow(scope, incidents, id)],
      { action: "incident.deleted", subjectId: id },
      deleted,
    );
  });
}
