/** The hints that guide a new organization to its first alert. */
import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ChannelType } from "../../../../src/alerting/channels/kinds-schema.ts";
import type { AlertChannel } from "../../../data/alert-channels.ts";
import { type OverviewMonitor, useOverview } from "../../../data/overview.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { openDialog } from "../../../components/open-dialog.ts";
import { Icon, type IconName } from "../../../components/display/icons.tsx";
import { useAction } from "../../../components/toasts.tsx";
import { attachToMonitors, testFromList } from "../../alert-channels/actions.ts";
import { useLacksMailServer } from "../../settings/data.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tCount } from "../../../language/text.ts";

/** The next step to the first alert: create a channel, test it, or attach it to monitors. */
export type FirstAlertStep =
  { up: OverviewMonitor } | { untested: AlertChannel } | { unattached: AlertChannel };

/** The strip of the next step. */
export function FirstAlertStrip({ step }: { step: FirstAlertStep }) {
  if ("up" in step) return <NoChannel up={step.up} />;
  return "untested" in step ? (
    <UntestedChannelStrip channel={step.untested} />
  ) : (
    <UnattachedChannelStrip channel={step.unattached} />
  );
}

const offeredChannels: { type: ChannelType; label: string; icon: IconName }[] = [
  { type: "slack", label: "Slack", icon: "hash" },
  { type: "email", label: t("E-mail"), icon: "mail" },
  { type: "webhook", label: "Webhook", icon: "webhook" },
  { type: "ntfy", label: t("Phone push"), icon: "phone" },
];

function NoChannel({ up }: { up: OverviewMonitor }) {
  return (
    <Strip
      title={t("Alerts are not set up yet")}
      words={t("{name} is up. Where should alerts go when it is down?", { name: up.name })}
    >
      {offeredChannels.map(({ type, label, icon }) => (
        <Button
          key={type}
          leftSection={<Icon name={icon} size={15} />}
          onClick={() => openDialog({ kind: "create-channel", type })}
        >
          {label}
        </Button>
      ))}
      <Button
        variant="subtle"
        color="gray"
        onClick={() => openDialog({ kind: "create-channel", type: "" })}
      >
        {t("All types")}
      </Button>
    </Strip>
  );
}

function UntestedChannelStrip({ channel }: { channel: AlertChannel }) {
  const { id, name, type, lastError } = channel;
  const navigate = useNavigate();
  const lacksMailServer = useLacksMailServer(type);
  const test = useAction(() => testFromList(channel));
  return (
    <Strip
      title={
        lastError === null
          ? t("No alert has been delivered yet")
          : t("{name} is not working yet", { name })
      }
      words={
        lastError === null
          ? t("Send a test to {name} to see that it arrives.", { name })
          : translateServerText(lastError)
      }
      isBad={lastError !== null}
    >
      <Button
        onClick={() =>
          void navigate({ to: "/alert-channels/$id", params: { id }, search: { edit: true } })
        }
      >
        {t("Edit")}
      </Button>
      {lacksMailServer ? (
        <Button
          variant="filled"
          onClick={() =>
            void navigate({ to: "/settings/$section", params: { section: "mail-server" } })
          }
        >
          {t("Set up the mail server")}
        </Button>
      ) : (
        <BusyButton variant="filled" loading={test.isPending} onClick={test.run}>
          {t("Send test")}
        </BusyButton>
      )}
    </Strip>
  );
}

function UnattachedChannelStrip({ channel }: { channel: AlertChannel }) {
  const { data: overview } = useOverview();
  const monitorIds = overview?.monitors.map(({ id }) => id) ?? [];
  const attach = useAction(() => attachToMonitors(channel, monitorIds));
  return (
    <Strip
      title={t("No monitor sends alerts yet")}
      words={t("{name} works, but no monitor uses it.", { name: channel.name })}
    >
      <BusyButton variant="filled" loading={attach.isPending} onClick={attach.run}>
        {tCount(monitorIds.length, "Attach to the monitor", "Attach to all {count} monitors")}
      </BusyButton>
    </Strip>
  );
}

function Strip({
  title,
  words,
  isBad = false,
  children,
}: {
  title: string;
  words: string;
  isBad?: boolean;
  children: ReactNode;
}) {
  return (
    <section className="panel strip" aria-label={title}>
      <span className={`strip-icon ${isBad ? "strip-bad" : ""}`}>
        <Icon name={isBad ? "warning" : "bell"} size={18} />
      </span>
      <p role="status">
        <b>{title}</b>
        <span>{words}</span>
      </p>
      <div className="strip-options flex flex-wrap gap-8">{children}</div>
    </section>
  );
}
