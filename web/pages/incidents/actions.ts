/** Actions on incidents. They appear at once, before the server responds. */
import { incidentAfter } from "../../../src/incidents/rules.ts";
import type { Incident, IncidentPatch } from "../../../src/incidents/schema.ts";
import { dataOf, ifMatch, v1, whenConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { provisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { deleteWithUndo, notify, notifyError, tellOfWaiting } from "../../components/toasts.tsx";
import { tellResolved } from "./resolve.ts";

/**
 * Changes an incident. Shows the result at once, computed by the server's rules, and reverts it on
 * failure.
 */
export async function changeIncident(
  incident: Incident,
  patch: IncidentPatch,
  /** The incident as the person saw it. Undefined overwrites later changes by others. */
  known: Incident | undefined,
  once = provisionalId(),
) {
  const key = recordKey("incident", incident.id);
  const at = new Date().toISOString();
  const { change, update } = incidentAfter(incident, patch, at);
  const posted =
    update === null ? [] : [{ id: provisionalId(), ...update, createdAt: at, editedAt: null }];
  await queryClient.cancelQueries({ queryKey: key, exact: true });
  queryClient.setQueryData(key, {
    ...incident,
    ...change,
    updates: [...incident.updates, ...posted],
  });
  try {
    const route = v1.incidents({ id: incident.id });
    const after = await whenConnected(
      () => dataOf(route.patch(patch, ifMatch(known, once))),
      tellOfWaiting,
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
  changeIncident(incident, { status }, incident)
    .then(() => (status === "resolved" ? tellResolved(incident) : notify("Reopened")))
    .catch(notifyError);
}

export const deleteIncident = (incident: Incident) =>
  deleteWithUndo(incident, () =>
    dataOf(v1.incidents({ id: incident.id }).delete(undefined, ifMatch(incident))),
  );

/**
 * Identifies a postmortem during its deletion. A later postmortem of the incident has another key.
 */
export const postmortemKey = ({ id, postmortem }: Incident) => `${id} ${postmortem?.updatedAt}`;

export const deletePostmortem = (incident: Incident) =>
  deleteWithUndo({ id: postmortemKey(incident), title: "the postmortem" }, () =>
    dataOf(v1.incidents({ id: incident.id }).postmortem.delete(undefined, ifMatch(incident))),
  );
