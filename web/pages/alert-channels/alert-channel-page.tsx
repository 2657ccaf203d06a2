/** The page of an alert channel: its state, monitors, deliveries and actions. */
import { Button } from "@mantine/core";
import { useNavigate, useParams, useSearch, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import {
  type AlertChannel,
  getChannelRoutes,
  useAlertChannel,
  useDeliveries,
  useUsersOfChannel,
} from "../../data/alert-channels.ts";
import { unwrapData } from "../../data/client.ts";
import { useManagedRecords } from "../../data/managed.ts";
import { useOverview } from "../../data/overview.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { dot } from "../../components/display/format.ts";
import { EditorDialog } from "../../components/forms/editor-dialog.tsx";
import { MoreActions, RecordItems } from "../../components/menus.tsx";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { notify, notifyDone, useAction } from "../../components/toasts.tsx";
import {
  formatAttachLabel,
  attachToMonitors,
  deleteChannel,
  detachFromMonitors,
  setEnabled,
} from "./actions.ts";
import { ChannelEditor } from "./channel-editor.tsx";
import { ChannelStateIcon, describeChannelState } from "./channel-state.tsx";
import { describeChannelType } from "./channel-types.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { describeKinds, describeQuietHours } from "./routing-fields.tsx";
import { type Test, TestOutcome, useTest } from "./test-outcome.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tCount, tNode } from "../../language/text.ts";

const crumbs = [{ to: "/alert-channels", label: t("Alert channels") }];

export default function AlertChannelPage() {
  const { id = "" } = useParams({ strict: false });
  return (
    <Loaded
      query={useAlertChannel(id)}
      otherQueries={[
        useManagedRecords("alertChannels"),
        useDeliveries(id, 1),
        useUsersOfChannel(id),
        useOverview(),
      ]}
      subject={t("The alert channel")}
      crumbs={crumbs}
    >
      {(channel) => <Channel key={id} channel={channel} />}
    </Loaded>
  );
}

function Channel({ channel }: { channel: AlertChannel }) {
  const { id, name } = channel;
  const { mayWriteAll: mayWrite, isLimited } = useSignedInPerson();
  const navigate = useNavigate();
  const { edit = false } = useSearch({ strict: false });
  const test = useTest(id);
  const setEdit = (edit: boolean) =>
    void navigate({ to: "/alert-channels/$id", params: { id }, search: edit ? { edit } : {} });
  return (
    <>
      <PageHeader
        title={name}
        icon={<ChannelStateIcon channel={channel} size={22} />}
        crumbs={crumbs}
        facts={<ChannelFacts channel={channel} />}
        managed={{ section: "alertChannels", id: channel.id }}
      >
        <Actions channel={channel} test={test} onEdit={() => setEdit(true)} />
      </PageHeader>
      <TestOutcome test={test} />
      <div className="columns">
        {!isLimited && <DeliveryLog id={id} onTest={mayWrite ? test.run : null} />}
        <UsersOfChannel channel={channel} />
      </div>
      {mayWrite && edit && <EditDialog id={id} onClose={() => setEdit(false)} />}
    </>
  );
}

type ActionProps = { channel: AlertChannel; test: Test; onEdit: () => void };

function Actions({ channel, test, onEdit }: ActionProps) {
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  useShortcuts(mayWrite ? { t: test.run, e: onEdit } : {});
  const route = getChannelRoutes(channel.id);
  return (
    <>
      {mayWrite && (
        <>
          <BusyButton onClick={test.run} loading={test.isPending}>
            {t("Send test")}
          </BusyButton>
          <Button onClick={() => void setEnabled(channel)}>
            {channel.enabled ? t("Disable") : t("Enable")}
          </Button>
          <Button onClick={onEdit}>{t("Edit")}</Button>
        </>
      )}
      <MoreActions>
        <RecordItems
          id={channel.id}
          curl={() => (mayWrite ? { method: "POST", route: route.test } : { method: "GET", route })}
          onDelete={
            mayWrite &&
            (() => {
              deleteChannel(channel);
              void navigate({ to: "/alert-channels" });
            })
          }
        />
      </MoreActions>
    </>
  );
}

/** Type, target and state of the channel in one line, with its last error below. */
function ChannelFacts({ channel }: { channel: AlertChannel }) {
  const { type, lastDeliveryAt, lastError, quietHours } = channel;
  const kinds = describeKinds(channel.notifyOn);
  const target = [channel["url"], channel["server"], channel["topic"], channel["chatId"]].filter(
    (text) => typeof text === "string",
  );
  const to = [channel["to"]].flat().filter((text) => typeof text === "string");
  return (
    <p>
      {describeChannelType(type).name}{" "}
      {to.length > 0 && `${t("to {recipients}", { recipients: to.join(", ") })} `}
      {target.length > 0 && <code>{target.join(" ")}</code>}
      {dot}
      {describeChannelState(channel).phrase}
      {lastDeliveryAt !== null && (
        <>
          {dot}
          {tNode("last delivery {time}", { time: <Time at={lastDeliveryAt} /> })}
        </>
      )}
      {channel.default && dot + t("added to new monitors")}
      {!channel.incidents && dot + t("no incident alerts")}
      {kinds !== null && dot + t("only {kinds}", { kinds })}
      {quietHours !== null && dot + t("quiet {hours}", { hours: describeQuietHours(quietHours) })}
      {lastError !== null && (
        <span className="fact-trouble down">{translateServerText(lastError)}</span>
      )}
    </p>
  );
}

const readChannel = (id: string) => unwrapData(getChannelRoutes(id).get());

function EditDialog({ id, onClose }: { id: string; onClose: () => void }) {
  return (
    <EditorDialog
      title={t("Edit alert channel")}
      size={560}
      id={id}
      read={readChannel}
      managed="alertChannels"
      onClose={onClose}
    >
      {(channel, reload) =>
        channel && (
          <ChannelEditor
            type={channel.type as ChannelType}
            channel={channel}
            submit={t("Save")}
            onCancel={onClose}
            onSaved={({ name }) => {
              notify(t("Saved {name}", { name }));
              onClose();
            }}
            onReload={reload}
          />
        )
      }
    </EditorDialog>
  );
}

const maxShownUsers = 12;

/** Monitors and groups that use this channel. New monitors of a group inherit it. */
function UsersOfChannel({ channel }: { channel: AlertChannel }) {
  const { data: users } = useUsersOfChannel(channel.id);
  const { data: overview } = useOverview();
  const [all, setAll] = useState(false);
  const ids = new Set(users?.monitorIds);
  const monitors = overview?.monitors.filter(({ id }) => ids.has(id)) ?? [];
  const groups = overview?.groups.filter(({ id }) => users?.groupIds.includes(id)) ?? [];
  const shownMonitors = all ? monitors : monitors.slice(0, maxShownUsers);
  const others = overview?.monitors.filter(({ id }) => !ids.has(id)).map(({ id }) => id) ?? [];
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  return (
    <Panel
      title={
        monitors.length > 0
          ? tCount(monitors.length, "Used by {count} monitor", "Used by {count} monitors")
          : t("Used by")
      }
      actions={
        monitors.length > maxShownUsers && (
          <button type="button" className="plain-button link" onClick={() => setAll(!all)}>
            {all ? t("Show less") : t("Show all")}
          </button>
        )
      }
    >
      {users !== undefined && monitors.length === 0 && (
        <p className="quiet panel-none">{t("No monitor uses this channel yet.")}</p>
      )}
      <ul className="lines">
        {shownMonitors.map(({ id, name, status, target }) => (
          <li key={id}>
            <StateIcon state={status} size={15} label />
            <Link to="/monitors/$id" params={{ id }} className="line-words line-link">
              <b>{name}</b> {target}
            </Link>
          </li>
        ))}
        {groups.map(({ id, name, color }) => (
          <li key={id}>
            <i className={`dot dot-${color}`} />
            <span className="line-words">
              {tNode("{group} new monitors of this group", { group: <b>{name}</b> })}
            </span>
          </li>
        ))}
      </ul>
      {mayWrite && users !== undefined && others.length > 0 && (
        <AttachButton channel={channel} others={others} isFirst={monitors.length === 0} />
      )}
    </Panel>
  );
}

type AttachProps = { channel: AlertChannel; others: readonly string[]; isFirst: boolean };

/** Attaches the channel to the monitors that don't use it. */
function AttachButton({ channel, others, isFirst }: AttachProps) {
  const attaching = useAction(async () => {
    await attachToMonitors(channel, others);
    const text = tCount(
      others.length,
      "Attached {name} to {count} monitor",
      "Attached {name} to {count} monitors",
      { name: channel.name },
    );
    notifyDone(text, () => detachFromMonitors(channel, others));
  });
  return (
    <div className="panel-action">
      <BusyButton loading={attaching.isPending} onClick={attaching.run}>
        {isFirst
          ? formatAttachLabel(others.length)
          : tCount(
              others.length,
              "Attach to the other monitor",
              "Attach to the other {count} monitors",
            )}
      </BusyButton>
    </div>
  );
}
