import type { Incident } from "../../../src/incidents/schema.ts";
import { unwrapData, withIdempotencyKey, v1, retryUntilConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { createProvisionalId } from "../../data/record.ts";
import { queryClient } from "../../data/query.ts";
import { notifyDone, notifyError, notifyWaiting } from "../../components/toasts.tsx";

type Resolvable = Pick<Incident, "id" | "title" | "status">;

/** Resolves an incident from a list or the command palette, and offers to undo it. */
export function resolveIncident(incident: Resolvable) {
  const { id } = incident;
  const once = withIdempotencyKey(createProvisionalId());
  retryUntilConnected(
    () => unwrapData(v1.incidents({ id }).resolve.post(undefined, once)),
    notifyWaiting,
  )
    .then((after) => {
      queryClient.setQueryData(recordKey("incident", id), after);
      notifyResolved(incident);
    })
    .catch(notifyError);
}

/** Confirms the resolution. Undo restores the previous status. */
export function notifyResolved({ id, title, status }: Resolvable) {
  const once = withIdempotencyKey(createProvisionalId());
  notifyDone(`Resolved ${title}`, async () => {
    const after = await unwrapData(v1.incidents({ id }).patch({ status }, once));
    queryClient.setQueryData(recordKey("incident", id), after);
  });
}
