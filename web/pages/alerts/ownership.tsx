/** Who takes care of an alert, and the buttons to acknowledge, snooze and open it again. */
import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import type { Ending } from "../../../src/alerting/records/rules.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { type State, StateIcon } from "../../components/display/state-icon.tsx";
import { Time, useZone } from "../../components/display/time.tsx";
import { useAction } from "../../components/toasts.tsx";
import { useSignedInPerson } from "../../data/session.ts";
import { acknowledgeAlert, type Alert, type AlertDetails, listSnoozes, openAgain } from "./data.ts";
import { nameAlert } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";
import { SnoozeDialog } from "./snooze-dialog.tsx";

const endStates: Record<string, State> = {
  recovered: "up",
  acknowledged: "up",
  unacknowledged: "down",
  unreached: "down",
};

/** Why an alert ended, within a sentence. */
const endingNames: Record<Ending, string> = {
  recovered: t("recovered"),
  muted: t("muted"),
  paused: t("paused"),
  maintenance: t("maintenance"),
  disabled: t("disabled"),
  deleted: t("deleted"),
  acknowledged: t("acknowledged"),
  unacknowledged: t("nobody acknowledged it"),
  unreached: t("no message arrived"),
};

/** Returns the icon of an alert: its problem while it lasts. */
export function stateOf({ type, priority, resolvedAt, resolvedBecause }: Alert): State {
  if (resolvedAt !== null) return endStates[resolvedBecause ?? ""] ?? "paused";
  const isDown =
    type === "monitor.down" ||
    type === "incident.opened" ||
    type === "incident.updated" ||
    (type === "source.opened" && priority !== "low");
  return isDown ? "down" : "degraded";
}

export const AlertIcon = ({ alert, size = 16 }: { alert: Alert; size?: number }) => (
  <StateIcon state={stateOf(alert)} size={size} />
);

/** The status of an alert in words, with the people who acknowledged it. */
export function Owner({ alert }: { alert: Alert }) {
  const { status, acknowledgments, snoozedUntil, resolvedBecause, secondsToAcknowledge } = alert;
  if (resolvedBecause === "unacknowledged" || resolvedBecause === "unreached")
    return <span className="down">{endingNames[resolvedBecause]}</span>;
  if (status === "resolved" && resolvedBecause !== "acknowledged")
    return <>{resolvedBecause === null ? t("over") : endingNames[resolvedBecause]}</>;
  if (status === "snoozed" && snoozedUntil !== null)
    return <>{tNode("snoozed until {time}", { time: <Time at={snoozedUntil} as="short" /> })}</>;
  if (acknowledgments.length > 0) {
    const names = acknowledgments.map(({ name }) => name).join(", ");
    if (secondsToAcknowledge === null) return t("acknowledged by {names}", { names });
    const duration = formatDuration(secondsToAcknowledge);
    return t("acknowledged by {names} after {duration}", { names, duration });
  }
  if (alert.coveredBy !== undefined) return <>{t("covered by an alert with the same cause")}</>;
  return <span className="down">{t("nobody has acknowledged it")}</span>;
}

/** Whether messages about an alert notified a person, or it is a drill of them. Lists of alerts don't name these people. */
const isNotified = (alert: Alert | AlertDetails, personId: string): boolean =>
  (alert.type === "drill" && alert.subject.id === personId) ||
  ("notifiedPeople" in alert && alert.notifiedPeople.some(({ id }) => id === personId));

/** The buttons of an alert that is not over. Viewers can only acknowledge alerts that notified them. */
export function AlertButtons({
  alert,
  size = "xs",
}: {
  alert: Alert | AlertDetails;
  size?: "xs" | "sm";
}) {
  const { person, mayWrite } = useSignedInPerson();
  const acknowledging = useAction(() => acknowledgeAlert(alert));
  const opening = useAction(() => openAgain(alert));
  const mayAcknowledge = mayWrite || isNotified(alert, person.id);
  if (!mayAcknowledge || alert.status === "resolved") return null;
  const isOwn = alert.acknowledgments.some(({ id }) => id === person.id);
  const isAcknowledged = isOwn && alert.status === "acknowledged";
  if (isAcknowledged && !mayWrite) return null;
  return (
    <span className="alert-buttons record-action">
      {isAcknowledged ? (
        <BusyButton
          size={size}
          loading={opening.isPending}
          onClick={opening.run}
          aria-label={t("Open {title} again", { title: nameAlert(alert) })}
        >
          {t("Open again")}
        </BusyButton>
      ) : (
        <BusyButton
          size={size}
          variant={size === "sm" ? "filled" : "default"}
          loading={acknowledging.isPending}
          onClick={acknowledging.run}
          aria-label={t("Acknowledge {title}", { title: nameAlert(alert) })}
        >
          {t("Acknowledge")}
        </BusyButton>
      )}
      {mayWrite && <SnoozeMenu alert={alert} size={size} />}
    </span>
  );
}

function SnoozeMenu({ alert, size }: { alert: Alert; size: "xs" | "sm" }) {
  const zone = useZone();
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      {isChoosing && <SnoozeDialog alert={alert} onClose={() => setChoosing(false)} />}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <Button size={size} aria-label={t("Snooze {title}", { title: nameAlert(alert) })}>
            {t("Snooze")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {listSnoozes(alert, zone).map(({ label, run }) => (
            <Menu.Item key={label} onClick={run}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setChoosing(true)}>{t("until a time…")}</Menu.Item>
          {alert.status === "snoozed" && (
            <Menu.Item onClick={() => void openAgain(alert)}>{t("End the snooze")}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
