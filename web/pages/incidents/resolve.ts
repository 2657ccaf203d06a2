import type { Incident } from "../../../src/incidents/schema.ts";
import { dataOf, onceUnder, v1, whenConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { provisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { notifyDone, notifyError, tellOfWaiting } from "../../components/toasts.tsx";

type Resolvable = Pick<Incident, "id" | "title" | "status">;

/** Resolves an incident from a list or the command palette, and offers to undo it. */
export function resolveIncident(incident: Resolvable) {
  const { id } = incident;
  const once = onceUnder(provisionalId());
  whenConnected(() => dataOf(v1.incidents({ id }).resolve.post(undefined, once)), tellOfWaiting)
    .then((after) => {
      queryClient.setQueryData(recordKey("incident", id), after);
      tellResolved(incident);
    })
    .catch(notifyError);
}

/** Confirms the resolution. Undo restores the previous status. */
export function tellResolved({ id, title, status }: Resolvable) {
  const once = onceUnder(provisionalId());
  notifyDone(`Resolved ${title}`, async () => {
    const after = await dataOf(v1.incidents({ id }).patch({ status }, once));
    queryClient.setQueryData(recordKey("incident", id), after);
  });
}
