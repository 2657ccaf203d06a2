/** The lines of held changes: “Sending in 10 s · Undo · Send now”, on every page and in every tab. */
import { useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { createChunk } from "../data/chunks.ts";
import { drafts, type DraftValues } from "../data/drafts.ts";
import {
  type HeldChange,
  holdSeconds,
  receiveHeld,
  undoHeld,
  useHeldChanges,
} from "../data/held-changes.ts";
import { type Result, retryUntilConnected } from "../data/client.ts";
import { createStore } from "../data/store.ts";
import { registerUndoable } from "../data/undoable.ts";
import { openDialog } from "./open-dialog.ts";
import { notifyError, notifyWaiting } from "./toasts.tsx";
import { t } from "../language/text.ts";

const HeldLine = lazy(createChunk(() => import("./held-line.tsx")));

/** IDs of held creations of this tab. Their records open when they are sent. */
const createdHere = new Set<string>();

/** Functions that open the form of a change of this tab again, by ID. */
const reopen = new Map<string, () => void>();

/**
 * Sends a request with `hold`, even after a lost connection. Ctrl Z undoes the change. `onUndo`
 * opens its form again.
 */
export async function hold(
  send: (query: { hold: number }) => Promise<Result<unknown>>,
  onUndo?: () => void,
): Promise<HeldChange> {
  const heldChange = await retryUntilConnected(
    () => receiveHeld(send({ hold: holdSeconds })),
    notifyWaiting,
  );
  if (heldChange.subjectId === null) createdHere.add(heldChange.id);
  if (onUndo !== undefined) reopen.set(heldChange.id, onUndo);
  const forget = registerUndoable({
    finish: () => {},
    undo: () => {
      forget();
      takeBack(heldChange).catch(notifyError);
    },
  });
  setTimeout(forget, heldChange.secondsLeft * 1000);
  return heldChange;
}

/** Counts undone changes by subject, so that the forms of their records show the draft again. */
const undoneCounts = createStore<ReadonlyMap<string, number>>(new Map());
export const useUndoneCount = (subjectId: string) => undoneCounts.use().get(subjectId) ?? 0;

/** Undoes a change, and restores the entered values in its form. */
async function takeBack(held: HeldChange) {
  await retryUntilConnected(() => undoHeld(held), notifyWaiting);
  const { operation, subjectId, change } = held;
  const values = change as DraftValues;
  if (operation === "openIncident") {
    drafts.write("incident", values);
    openDialog({ kind: "create-incident" });
  }
  reopen.get(held.id)?.();
  if (subjectId === null) return;
  if (operation === "updateIncident" && values["message"] !== undefined)
    drafts.write(`update ${subjectId}`, values);
  const counts = undoneCounts.get();
  undoneCounts.set(new Map([...counts, [subjectId, (counts.get(subjectId) ?? 0) + 1]]));
}

/** The changes that wait or failed: of one record, or of all records but the one of the current page. */
function usePending(subjectId: string | undefined): HeldChange[] {
  const { pathname } = useLocation();
  return useHeldChanges().filter(
    (held) =>
      held.state !== "sent" &&
      (subjectId === undefined
        ? held.subjectId === null || pathname !== `/incidents/${held.subjectId}`
        : held.subjectId === subjectId),
  );
}

/** Whether a resolution of this incident waits. */
export const useIsResolving = (subjectId: string) =>
  usePending(subjectId).some(
    ({ state, operation, change }) =>
      state === "waiting" && (operation === "resolveIncident" || change["status"] === "resolved"),
  );

/** The held changes to a record, on its page. */
export function HeldOfRecord({ subjectId }: { subjectId: string }) {
  const pending = usePending(subjectId);
  return (
    <Suspense>
      {pending.map((held) => (
        <HeldLine key={held.id} held={held} onUndo={() => takeBack(held)} isOnItsPage />
      ))}
    </Suspense>
  );
}

/** The held changes of all records that are not on the current page. */
export function HeldEverywhere() {
  const pending = usePending(undefined);
  useOpenWhenSent();
  if (pending.length === 0) return null;
  return (
    <section className="held-everywhere" aria-label={t("Held changes")}>
      <Suspense>
        {pending.map((held) => (
          <HeldLine key={held.id} held={held} onUndo={() => takeBack(held)} />
        ))}
      </Suspense>
    </section>
  );
}

/** Opens the page of a new record when it is sent, unless the person has left the list. */
function useOpenWhenSent() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const sent = useHeldChanges().find(({ id, state }) => state === "sent" && createdHere.has(id));
  useEffect(() => {
    if (sent === undefined) return;
    createdHere.delete(sent.id);
    const list = sent.operation === "openIncident" ? "/incidents" : "/maintenance";
    if (sent.subjectId !== null && pathname === list)
      void navigate({ href: `${list}/${sent.subjectId}` });
  }, [sent?.id]);
}
