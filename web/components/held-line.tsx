/** The line of a held change, which loads with the first one. */
import { Button } from "@mantine/core";
import { deadlineOf, type HeldChange, isDeletion, sendHeld } from "../data/held-changes.ts";
import { useSignedInPerson } from "../data/session.ts";
import { nameIncident, translateServerText } from "../language/server-text.ts";
import { t, tCount } from "../language/text.ts";
import { dot } from "./display/format.ts";
import { Icon } from "./display/icons.tsx";
import { useNow } from "./display/time.tsx";
import { useAction } from "./toasts.tsx";

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
  restoreMaintenanceWindow: t("Maintenance"),
  deleteMonitor: t("Monitor"),
  deleteSubscriber: t("Subscriber"),
  revokeInvitation: t("Invitation"),
  sendReportMail: t("Report"),
};

/** Maximum characters of a message in a line. */
const shownCharacters = 140;

/** Describes a held change by its title, such as `Resolution: Checkout fails`, or by its message. */
function describeHeld(
  { operation, title, origin, change }: HeldChange,
  byMessage: boolean,
): string {
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
  const text = byMessage ? message : nameIncident({ title: title ?? "", origin });
  if (text === "") return verb;
  return `${verb}: ${text.slice(0, shownCharacters)}${text.length > shownCharacters ? "…" : ""}`;
}

/** Texts of a held change, by its outcome. */
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

/** Shows a held change, and buttons to undo it and to send it now. */
export default function HeldLine({
  held,
  onUndo,
  isOnItsPage = false,
}: {
  held: HeldChange;
  onUndo: () => Promise<void>;
  isOnItsPage?: boolean;
}) {
  const { mayWrite, person } = useSignedInPerson();
  const now = useNow();
  const undo = useAction(onUndo);
  const send = useAction(() => sendHeld(held));
  const secondsLeft = Math.ceil((deadlineOf(held) - now) / 1000);
  const isFailed = held.state === "failed";
  const texts = textsOf(held);
  const state = isFailed
    ? texts.failed(translateServerText(held.error ?? ""))
    : secondsLeft > 0
      ? texts.countDown(Math.min(secondsLeft, held.secondsLeft))
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
      {mayWrite && (isFailed || secondsLeft > 0) && (
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
