/** Actions on incidents. They appear at once, before the server responds. */
import { applyPatch } from "../../../src/incidents/rules.ts";
import type { Incident, IncidentPatch } from "../../../src/incidents/schema.ts";
import { unwrapData, addIfMatch, v1, retryUntilConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { createProvisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { hold } from "../../components/held-changes.tsx";
import { deleteRecord, holdDeletion } from "../../components/deletion.ts";
import { nameIncident } from "../../language/server-text.ts";
import { notifyError, notifyWaiting } from "../../components/toasts.tsx";

/**
 * Changes an incident after the hold, in which the person can undo it. Until then the page shows the
 * incident unchanged.
 */
export const holdUpdate = (
  incident: Pick<Incident, "id">,
  patch: IncidentPatch,
  /** The incident as the person saw it. Undefined overwrites later changes by others. */
  known: Incident | undefined,
  idempotencyKey = createProvisionalId(),
) =>
  hold((query) =>
    v1.incidents({ id: incident.id }).patch(patch, { query, ...addIfMatch(known, idempotencyKey) }),
  );

/**
 * Changes an incident. Shows the result at once, computed by the server's rules, and reverts it on
 * failure.
 */
export async function changeIncident(
  incident: Incident,
  patch: IncidentPatch,
  /** The incident as the person saw it. Undefined overwrites later changes by others. */
  known: Incident | undefined,
  idempotencyKey = createProvisionalId(),
) {
  const key = recordKey("incident", incident.id);
  const at = new Date().toISOString();
  const { change, update } = applyPatch(incident, patch, at);
  const posted =
    update === null
      ? []
      : [{ id: createProvisionalId(), ...update, createdAt: at, editedAt: null }];
  await queryClient.cancelQueries({ queryKey: key, exact: true });
  queryClient.setQueryData(key, {
    ...incident,
    ...change,
    updates: [...incident.updates, ...posted],
  });
  try {
    const route = v1.incidents({ id: incident.id });
    const after = await retryUntilConnected(
      () => unwrapData(route.patch(patch, addIfMatch(known, idempotencyKey))),
      notifyWaiting,
    );
    queryClient.setQueryData(key, after);
  } catch (error) {
    queryClient.setQueryData(key, incident);
    void queryClient.invalidateQueries({ queryKey: key });
    throw error;
  }
}

/** Resolves or reopens an incident without a message, so that the API uses its default text. */
export function setStatus(incident: Incident, status: "resolved" | "investigating") {
  holdUpdate(incident, { status }, incident).catch(notifyError);
}

/** Deletes an incident. Holds it if customers can see it or channels were notified of it. */
export function deleteIncident(incident: Incident) {
  const { id } = incident;
  const title = nameIncident(incident);
  const route = v1.incidents({ id });
  if (incident.public || incident.status !== "resolved")
    holdDeletion((query) => route.delete(undefined, { query, ...addIfMatch(incident) }));
  else
    void deleteRecord({ noun: "incident", id, title }, () =>
      route.delete(undefined, addIfMatch(incident)),
    );
}

export const deletePostmortem = (incident: Incident) =>
  holdDeletion((query) =>
    v1
      .incidents({ id: incident.id })
      .postmortem.delete(undefined, { query, ...addIfMatch(incident) }),
  );
