/** Actions on incidents, which show their result at once. */
import { incidentAfter } from "../../../src/incidents/rules.ts";
import type { Incident, IncidentPatch } from "../../../src/incidents/schema.ts";
import { dataOf, ifMatch, v1, whenConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { provisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { deleteWithUndo, notify, notifyError, tellOfWaiting } from "../../components/toasts.tsx";
import { tellResolved } from "./resolve.ts";

/** Changes an incident. What the same rules make of it stands on the page at once, and is taken back where the server refuses. */
export async function changeIncident(
  incident: Incident,
  patch: IncidentPatch,
  /** As it was when somebody decided on this; undefined to overwrite whatever others did since. */
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

/** With one click, in the words that the API has for it. */
export function setStatus(incident: Incident, status: "resolved" | "investigating") {
  changeIncident(incident, { status }, incident)
    .then(() => (status === "resolved" ? tellResolved(incident) : notify("Reopened")))
    .catch(notifyError);
}

export const deleteIncident = (incident: Incident) =>
  deleteWithUndo(incident, () =>
    dataOf(v1.incidents({ id: incident.id }).delete(undefined, ifMatch(incident))),
  );

/** What an incident's postmortem is called while it is being deleted: another one may be written later. */
export const postmortemKey = ({ id, postmortem }: Incident) => `${id} ${postmortem?.updatedAt}`;

export const deletePostmortem = (incident: Incident) =>
  deleteWithUndo({ id: postmortemKey(incident), title: "the postmortem" }, () =>
    dataOf(v1.incidents({ id: incident.id }).postmortem.delete(undefined, ifMatch(incident))),
  );
