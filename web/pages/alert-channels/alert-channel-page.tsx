import { Modal } from "@mantine/core";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { type AlertChannel, channelRoutes, useAlertChannel } from "../../data/alert-channels.ts";
import { dataOf } from "../../data/client.ts";
import { useRecordToEdit } from "../../data/record-to-edit.ts";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";
import { EmptyState, PageHeader } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { notify } from "../../components/toasts.tsx";
import { ChannelEditor } from "./channel-editor.tsx";
import { ChannelStateIcon, stateOf } from "./channel-state.tsx";
import { channelTypeOf } from "./channel-types.tsx";
import { ChannelActions } from "./channel-actions.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { TestOutcome, useTest } from "./test-outcome.tsx";
import { UsersOfChannel } from "./users-of-channel.tsx";

export function AlertChannelPage() {
  const { id = "" } = useParams({ strict: false });
  const { data: channel, error } = useAlertChannel(id);
  if (channel === undefined && error !== null)
    return (
      <EmptyState icon={<Icon name="warning" size={28} />} title="Alert channel not found">
        {error.message}
      </EmptyState>
    );
  return channel === undefined ? null : <Loaded key={id} channel={channel} />;
}

function Loaded({ channel }: { channel: AlertChannel }) {
  const { id, name } = channel;
  const { mayWrite } = useSignedIn();
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
        crumbs={[{ to: "/alert-channels", label: "Alert channels" }]}
        below={<Facts channel={channel} />}
      >
        <ChannelActions
          channel={channel}
          mayWrite={mayWrite}
          test={test}
          onEdit={() => setEdit(true)}
        />
      </PageHeader>
      <TestOutcome test={test} />
      <div className="columns">
        <DeliveryLog id={id} onTest={mayWrite ? test.run : null} />
        <UsersOfChannel channel={channel} />
      </div>
      {mayWrite && edit && <EditDialog id={id} onClose={() => setEdit(false)} />}
    </>
  );
}

/** What the channel is and how it is, in one line; what goes wrong on a line of its own. */
function Facts({ channel }: { channel: AlertChannel }) {
  const { type, lastDeliveryAt, lastError } = channel;
  const target = [channel["url"], channel["server"], channel["topic"], channel["chatId"]].filter(
    (text) => typeof text === "string",
  );
  const to = channel["to"];
  return (
    <p>
      {channelTypeOf(type).name} {Array.isArray(to) && `to ${to.join(", ")} `}
      {target.length > 0 && <code>{target.join(" ")}</code>} ·{" "}
      {stateOf(channel).words.toLowerCase()}
      {lastDeliveryAt !== null && (
        <>
          {" "}
          · last delivery <Time at={lastDeliveryAt} />
        </>
      )}
      {channel.default && " · added to new monitors"}
      {!channel.incidents && " · no incident alerts"}
      {lastError !== null && <span className="fact-trouble down">{lastError}</span>}
    </p>
  );
}

const readChannel = (id: string) => dataOf(channelRoutes(id).get());

function EditDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { record, generation, error, reload } = useRecordToEdit(id, readChannel);
  return (
    <Modal
      opened
      onClose={onClose}
      title="Edit alert channel"
      size={560}
      closeOnClickOutside={false}
    >
      {error !== null && <p className="down">{error.message}</p>}
      {record !== undefined && (
        <ChannelEditor
          key={generation}
          type={record.type as ChannelType}
          channel={record}
          onCancel={onClose}
          onSaved={({ name }) => {
            notify(`Saved ${name}`);
            onClose();
          }}
          onTheirs={reload}
        />
      )}
    </Modal>
  );
}
