import type { Incident } from "../../../src/incidents/schema.ts";
import { withIdempotencyKey, v1 } from "../../data/client.ts";
import { createProvisionalId } from "../../data/record.ts";
import { hold } from "../../components/held-changes.tsx";
import { notifyError } from "../../components/toasts.tsx";

/** Resolves an incident from a list or the command palette, after the hold. */
export function resolveIncident({ id }: Pick<Incident, "id">) {
  const once = withIdempotencyKey(createProvisionalId());
  hold((query) => v1.incidents({ id }).resolve.post(undefined, { query, ...once })).catch(
    notifyError,
  );
}
