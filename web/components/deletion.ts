/** Deletes records. Undo stops a held deletion, or restores a record from the deleted ones. */
import type { DeletableNoun } from "../../src/core/deletable-nouns.ts";
import { type Result, retryUntilConnected, unwrapData } from "../data/client.ts";
import { deadlineOf, type HeldChange, isDeletion, useHeldChanges } from "../data/held-changes.ts";
import { restoreRecord } from "../data/restore.ts";
import { createStore } from "../data/store.ts";
import { hold } from "./held-changes.tsx";
import { notifyDone, notifyError, notifyWaiting } from "./toasts.tsx";
import { t } from "../language/text.ts";

/** How long lists hide a record after its deletion, until they are read again, in milliseconds. */
const hiddenMs = 5_000;

const deletedIds = createStore<ReadonlySet<string>>(new Set());

function markDeleted(id: string, isDeleted: boolean) {
  const next = new Set(deletedIds.get());
  if (isDeleted) next.add(id);
  else next.delete(id);
  deletedIds.set(next);
}

/** Key of a postmortem, which has no ID of its own. */
export const buildPostmortemKey = (incidentId: string) => `postmortem ${incidentId}`;

const keyOf = ({ operation, subjectId }: HeldChange) =>
  operation === "deleteIncidentPostmortem"
    ? buildPostmortemKey(subjectId ?? "")
    : (subjectId ?? "");

/** IDs of records that were just deleted, or whose deletion is held. Lists hide them. */
export function useDeleting(): ReadonlySet<string> {
  const heldDeletions = useHeldChanges().filter(
    (one) =>
      isDeletion(one) &&
      (one.state === "waiting" ||
        (one.state === "sent" && Date.now() < deadlineOf(one) + hiddenMs)),
  );
  return new Set([...deletedIds.use(), ...heldDeletions.map(keyOf)]);
}

/**
 * Deletes at the end of a hold. For deletions that customers or channels notice, and for records that can't be restored.
 */
export const holdDeletion = (send: (query: { hold: number }) => Promise<Result<unknown>>) =>
  void hold(send).catch(notifyError);

type Deleted = { noun: DeletableNoun; id: string; title: string };

/** Deletes a record at once. Undo restores it. */
export async function deleteRecord(
  { noun, id, title }: Deleted,
  send: () => Promise<Result<{ data: unknown }>>,
  /** Called after a restoration or a failure. */
  onReturn = () => {},
) {
  const show = () => {
    markDeleted(id, false);
    onReturn();
  };
  markDeleted(id, true);
  try {
    await retryUntilConnected(() => unwrapData(send()), notifyWaiting);
  } catch (error) {
    show();
    return notifyError(error);
  }
  setTimeout(() => markDeleted(id, false), hiddenMs);
  notifyDone(t("Deleted {title}", { title }), async () => {
    await unwrapData(restoreRecord(noun, id));
    show();
  });
}
