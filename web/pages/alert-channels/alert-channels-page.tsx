/** The list of alert channels, and the dialog that creates one. */
import { useNavigate, useSearch, Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import type { ChannelUse } from "../../../src/dashboard/schema.ts";
import {
  useAlertChannels,
  useChannelUses,
  type AlertChannel,
  getChannelRoutes,
} from "../../data/alert-channels.ts";
import { createChunk } from "../../data/chunks.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { dot } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../components/menus.tsx";
import {
  CreateButton,
  Dash,
  EmptyState,
  LoadFailed,
  PageHeader,
  Panel,
} from "../../components/page.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useShortcuts } from "../../components/shortcuts.ts";
import { Time } from "../../components/display/time.tsx";
import { useDeleting } from "../../components/deletion.ts";
import { deleteChannel, setEnabled, testFromList } from "./actions.ts";
import { ChannelStateIcon } from "./channel-state.tsx";
import { ChannelGallery, ChannelMark, describeChannelType } from "./channel-types.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tCount } from "../../language/text.ts";

const CreateChannel = lazy(createChunk(() => import("./create-channel.tsx")));

export default function AlertChannelsPage() {
  const { data, error } = useAlertChannels();
  const deleting = useDeleting();
  const channels = data?.filter(({ id }) => !deleting.has(id));
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const { new: chosen } = useSearch({ strict: false });
  const open = (type?: string) =>
    void navigate({ to: "/alert-channels", search: type === undefined ? {} : { new: type } });
  useRowKeys();
  useShortcuts(mayWrite ? { n: () => open("") } : {});
  return (
    <>
      <PageHeader title={t("Alert channels")} facts={t("Where Signalbox sends alerts.")}>
        {mayWrite && channels !== undefined && channels.length > 0 && (
          <CreateButton onClick={() => open("")}>{t("Create alert channel")}</CreateButton>
        )}
      </PageHeader>
      {error !== null && channels === undefined && (
        <LoadFailed subject={t("The alert channels")} error={error} />
      )}
      {channels?.length === 0 && <NoChannels mayWrite={mayWrite} onChoose={open} />}
      {channels !== undefined && channels.length > 0 && (
        <ChannelList channels={channels} mayWrite={mayWrite} />
      )}
      <Suspense>
        {/* The first channel starts with other values, so the list must be known. */}
        {mayWrite && channels !== undefined && chosen !== undefined && (
          <CreateChannel
            chosen={chosen}
            onChoose={open}
            onClose={() => open()}
            onCreated={({ id }) => void navigate({ to: "/alert-channels/$id", params: { id } })}
          />
        )}
      </Suspense>
    </>
  );
}

const NoChannels = ({
  mayWrite,
  onChoose,
}: {
  mayWrite: boolean;
  onChoose: (type: string) => void;
}) => (
  <>
    <EmptyState icon={<Icon name="bell" size={28} />} title={t("No alert channels yet")}>
      {mayWrite
        ? t(
            "An alert channel is where alerts are sent. Choose a type, send a test, and add the channel to your monitors.",
          )
        : t("An alert channel is where alerts are sent.")}
    </EmptyState>
    {mayWrite && (
      <Panel className="gallery-panel">
        <ChannelGallery onChoose={onChoose} />
      </Panel>
    )}
  </>
);

function ChannelList({
  channels,
  mayWrite,
}: {
  channels: readonly AlertChannel[];
  mayWrite: boolean;
}) {
  const { data: uses } = useChannelUses();
  const usesById = useMemo(() => new Map(uses?.map((use) => [use.channelId, use])), [uses]);
  return (
    <>
      <div className="list-head channels-head faint" aria-hidden="true">
        <span>{t("Channel")}</span>
        <span>{t("Used by")}</span>
        <span>{t("Last delivery")}</span>
      </div>
      <Panel isFlush>
        <ul className="channels" aria-label={t("Alert channels")}>
          {orderChannels(channels).map((channel) => (
            <ChannelRow
              key={channel.id}
              channel={channel}
              use={usesById.get(channel.id)}
              mayWrite={mayWrite}
            />
          ))}
        </ul>
      </Panel>
    </>
  );
}

/** Failing channels first, disabled ones last, and within these by name. */
function orderChannels(channels: readonly AlertChannel[]) {
  const rankOf = ({ enabled, lastError }: AlertChannel) =>
    enabled ? (lastError === null ? 1 : 0) : 2;
  return channels.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || one.name.localeCompare(other.name),
  );
}

type Props = { channel: AlertChannel; use: ChannelUse | undefined; mayWrite: boolean };

/** The row of a channel, with its last error. */
function ChannelRow({ channel, use, mayWrite }: Props) {
  const { id, name, type, enabled, lastDeliveryAt, lastError } = channel;
  return (
    <li className="list-row channel" data-item>
      <ChannelStateIcon channel={channel} />
      <ChannelMark type={type} />
      <Link to="/alert-channels/$id" params={{ id }} className="row-link" data-item-focus={id}>
        <b>{name}</b>
        <span>
          {describeChannelType(type).name}
          {channel.default && dot + t("default")}
          {!enabled && dot + t("disabled")}
          {!channel.incidents && dot + t("no incident alerts")}
          {lastError !== null && (
            <>
              {dot}
              <span className="down">{translateServerText(lastError)}</span>
            </>
          )}
        </span>
      </Link>
      <span className="channel-uses num">{use === undefined ? <Dash /> : describeUse(use)}</span>
      <span className="channel-last">
        {lastDeliveryAt === null ? <Dash /> : <Time at={lastDeliveryAt} as="short" />}
      </span>
      <RowMenu label={t("Actions for {name}", { name })}>
        {() => <Actions channel={channel} mayWrite={mayWrite} />}
      </RowMenu>
    </li>
  );
}

/** Describes the use of a channel, such as `3 monitors`. */
const describeUse = ({ monitors, groups }: ChannelUse) =>
  monitors === 0
    ? tCount(groups, "{count} group", "{count} groups")
    : tCount(monitors, "{count} monitor", "{count} monitors");

function Actions({ channel, mayWrite }: Omit<Props, "use">) {
  const { id, enabled } = channel;
  const navigate = useNavigate();
  return (
    <>
      {mayWrite && (
        <>
          <MenuItem icon="bell" onClick={() => void testFromList(channel)}>
            {t("Send test")}
          </MenuItem>
          <MenuItem
            icon="edit"
            onClick={() =>
              void navigate({ to: "/alert-channels/$id", params: { id }, search: { edit: true } })
            }
          >
            {t("Edit")}
          </MenuItem>
          <MenuItem icon={enabled ? "pause" : "play"} onClick={() => void setEnabled(channel)}>
            {enabled ? t("Disable") : t("Enable")}
          </MenuItem>
        </>
      )}
      <RecordItems
        id={id}
        curl={() => ({ method: "POST", route: getChannelRoutes(id).test })}
        onDelete={mayWrite && (() => deleteChannel(channel))}
      />
    </>
  );
}
