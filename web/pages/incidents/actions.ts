/** Actions on incidents. They appear at once, before the server responds. */
import { applyPatch } from "../../../src/incidents/rules.ts";
import type { Incident, IncidentPatch } from "../../../src/incidents/schema.ts";
import { unwrapData, withIfMatch, v1, retryUntilConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { createProvisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { hold } from "../../components/held-changes.tsx";
import { deleteWithUndo, notifyError, notifyWaiting } from "../../components/toasts.tsx";

/**
 * Changes an incident after the hold, in which the person can undo it. Until then the page shows the
 * incident unchanged.
 */
export const holdUpdate = (
  incident: Pick<Incident, "id">,
  patch: IncidentPatch,
  /** The incident as the person saw it. Undefined overwrites later changes by others. */
  known: Incident | undefined,
  once = createProvisionalId(),
) =>
  hold((query) =>
    v1.incidents({ id: incident.id }).patch(patch, { query, ...withIfMatch(known, once) }),
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
  once = createProvisionalId(),
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
      () => unwrapData(route.patch(patch, withIfMatch(known, once))),
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

export const deleteIncident = (incident: Incident) =>
  deleteWithUndo(incident, () =>
    unwrapData(v1.incidents({ id: incident.id }).delete(undefined, withIfMatch(incident))),
  );

/**
 * Identifies a postmortem during its deletion. A later postmortem of the incident has another key.
 */
export const postmortemKeyOf = ({ id, postmortem }: Incident) => `${id} ${postmortem?.updatedAt}`;

export const deletePostmortem = (incident: Incident) =>
  deleteWithUndo({ id: postmortemKeyOf(incident), title: "the postmortem" }, () =>
    unwrapData(
      v1.incidents({ id: incident.id }).postmortem.delete(undefined, withIfMatch(incident)),
    ),
  );
