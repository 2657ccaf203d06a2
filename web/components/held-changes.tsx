/** The lines of held changes: “Sending in 10 s · Undo · Send now”, on every page and in every tab. */
import { Button } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { drafts, type DraftValues } from "../data/drafts.ts";
import {
  deadlineOf,
  type HeldChange,
  holdSeconds,
  isDeletion,
  receiveHeld,
  sendHeld,
  undoHeld,
  useHeldChanges,
} from "../data/held-changes.ts";
import { type Result, retryUntilConnected } from "../data/client.ts";
import { useSignedInPerson } from "../data/session.ts";
import { createStore } from "../data/store.ts";
import { registerUndoable } from "../data/undoable.ts";
import { Icon } from "./display/icons.tsx";
import { dot } from "./display/format.ts";
import { useNow } from "./display/time.tsx";
import { openDialog } from "./open-dialog.ts";
import { notifyError, notifyWaiting, useAction } from "./toasts.tsx";
import { t, tCount } from "../language/text.ts";

/** IDs of held creations of this tab. Their records open when they are sent. */
const createdHere = new Set<string>();

/** Functions that open the form of a change of this tab again, by ID. */
const reopen = new Map<string, () => void>();

/**
 * Sends a request with `hold`, also after a lost connection. Ctrl Z undoes the change. `onUndo`
 * opens its form again.
 */
export async function hold(
  send: (query: { hold: number }) => Promise<Result<unknown>>,
  onUndo?: () => void,
): Promise<HeldChange> {
  const held = await retryUntilConnected(
    () => receiveHeld(send({ hold: holdSeconds })),
    notifyWaiting,
  );
  if (held.subjectId === null) createdHere.add(held.id);
  if (onUndo !== undefined) reopen.set(held.id, onUndo);
  const forget = registerUndoable({
    finish: () => {},
    undo: () => {
      forget();
      takeBack(held).catch(notifyError);
    },
  });
  setTimeout(forget, held.secondsLeft * 1000);
  return held;
}

/** Counts undone changes by subject, so that the forms of their records show the draft again. */
const undoneCounts = createStore<ReadonlyMap<string, number>>(new Map());
export const useUndoneCount = (subjectId: string) => undoneCounts.use().get(subjectId) ?? 0;

/** Undoes a change, and puts what the person wrote back into its form. */
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

/** The held changes of a record, on its page. */
export function HeldOfRecord({ subjectId }: { subjectId: string }) {
  const pending = usePending(subjectId);
  return pending.map((held) => <HeldLine key={held.id} held={held} isOnItsPage />);
}

/** The held changes of all records that are not on the current page. */
export function HeldEverywhere() {
  const pending = usePending(undefined);
  useOpenWhenSent();
  if (pending.length === 0) return null;
  return (
    <section className="held-everywhere" aria-label={t("Held changes")}>
      {pending.map((held) => (
        <HeldLine key={held.id} held={held} />
      ))}
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
    if (pathname === list) void navigate({ href: `${list}/${sent.subjectId}` });
  }, [sent?.id]);
}

const verbs: Record<string, string> = {
  openIncident: t("New incident"),
  resolveIncident: t("Resolution"),
  updateIncidentPostmortem: t("Postmortem"),
  createMaintenanceWindow: t("Maintenance"),
  updateMaintenanceWindow: t("Maintenance"),
  deleteIncident: t("Incident"),
  deleteIncidentPostmortem: t("Postmortem"),
  deleteIncidentNote: t("Internal note"),
  deleteIncidentTemplate: t("Incident template"),
  deleteSchedule: t("Schedule"),
  deleteMaintenanceWindow: t("Maintenance"),
  deleteMonitor: t("Monitor"),
  deleteSubscriber: t("Subscriber"),
  revokeInvitation: t("Invitation"),
};

/** Maximum characters of a message in a line. */
const shownCharacters = 140;

/** Describes a held change by its title, such as `Resolution: Checkout fails`, or by its message. */
function describeHeld({ operation, title, change }: HeldChange, byMessage = false): string {
  if (operation === "changeMonitors") {
    const parts = (change["changes"] ?? [change]) as { monitorIds: string[] }[];
    return tCount(
      parts.flatMap(({ monitorIds }) => monitorIds).length,
      "{count} monitor",
      "{count} monitors",
    );
  }
  const status = change["status"];
  const verb = verbs[operation] ?? (status === "resolved" ? t("Resolution") : t("Update"));
  const message = typeof change["message"] === "string" ? change["message"] : "";
  const text = byMessage ? message : (title ?? "");
  if (text === "") return verb;
  return `${verb}: ${text.slice(0, shownCharacters)}${text.length > shownCharacters ? "…" : ""}`;
}

/** Texts of a held change, by what happens to it. */
const heldTexts = {
  delete: {
    now: t("Delete now"),
    running: t("Deleting…"),
    countDown: (seconds: number) => t("Deleting in {seconds} s", { seconds }),
    soon: (description: string) =>
      t("Deleting soon: {description}. You can undo it.", { description }),
    failed: (error: string) => t("Not deleted: {error}", { error }),
  },
  change: {
    now: t("Change now"),
    running: t("Changing…"),
    countDown: (seconds: number) => t("Changing in {seconds} s", { seconds }),
    soon: (description: string) =>
      t("Changing soon: {description}. You can undo it.", { description }),
    failed: (error: string) => t("Not changed: {error}", { error }),
  },
  send: {
    now: t("Send now"),
    running: t("Sending…"),
    countDown: (seconds: number) => t("Sending in {seconds} s", { seconds }),
    soon: (description: string) =>
      t("Sending soon: {description}. You can undo it.", { description }),
    failed: (error: string) => t("Not sent: {error}", { error }),
  },
};

function textsOf(held: HeldChange) {
  if (isDeletion(held)) return heldTexts.delete;
  return held.operation === "changeMonitors" ? heldTexts.change : heldTexts.send;
}

function HeldLine({ held, isOnItsPage = false }: { held: HeldChange; isOnItsPage?: boolean }) {
  const { mayWrite, person } = useSignedInPerson();
  const now = useNow();
  const undo = useAction(() => takeBack(held));
  const send = useAction(() => sendHeld(held));
  const left = Math.ceil((deadlineOf(held) - now) / 1000);
  const isFailed = held.state === "failed";
  const texts = textsOf(held);
  const state = isFailed
    ? texts.failed(held.error ?? "")
    : left > 0
      ? texts.countDown(Math.min(left, held.secondsLeft))
      : texts.running;
  const description = describeHeld(held, isOnItsPage);
  const by =
    held.author.id === person.id ? "" : `${dot}${t("by {name}", { name: held.author.name })}`;
  return (
    <div className={isFailed ? "held-line held-failed" : "held-line"}>
      <Icon name={isFailed ? "warning" : isDeletion(held) ? "trash" : "mail"} size={16} />
      <span className="held-text">
        <b className="num">{state}</b>
        <span>
          {description}
          {by}
        </span>
      </span>
      <span role="status" className="visually-hidden">
        {isFailed ? state : texts.soon(description)}
      </span>
      {mayWrite && (isFailed || left > 0) && (
        <span className="held-buttons">
          <Button size="compact-sm" disabled={undo.isPending} onClick={undo.run}>
            {isFailed ? t("Dismiss") : t("Undo")}
          </Button>
          {!isFailed && (
            <Button size="compact-sm" variant="subtle" disabled={send.isPending} onClick={send.run}>
              {texts.now}
            </Button>
          )}
        </span>
      )}
    </div>
  );
}
