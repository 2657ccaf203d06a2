import { Link, useNavigate } from "@tanstack/react-router";
import type { ChannelUse } from "../../../src/dashboard/schema.ts";
import { type AlertChannel, channelRoutes } from "../../data/alert-channels.ts";
import { plural } from "../../components/figures.ts";
import { MenuItem, RecordItems, RowMenu } from "../../components/menus.tsx";
import { Dash } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { deleteChannel, setEnabled, testFromList } from "./actions.ts";
import { ChannelMark, channelTypeOf } from "./channel-types.tsx";
import { ChannelStateIcon } from "./channel-state.tsx";

type Props = { channel: AlertChannel; use: ChannelUse | undefined; mayWrite: boolean };

/** One channel; what goes wrong with it stands below its name. */
export function ChannelRow({ channel, use, mayWrite }: Props) {
  const { id, name, type, enabled, lastDeliveryAt, lastError } = channel;
  return (
    <li className="channel">
      <ChannelStateIcon channel={channel} />
      <ChannelMark type={type} />
      <Link to="/alert-channels/$id" params={{ id }} className="channel-name">
        <b>{name}</b>
        <span>
          {channelTypeOf(type).name}
          {channel.default && " · default"}
          {!enabled && " · disabled"}
          {!channel.incidents && " · no incident alerts"}
        </span>
        {lastError !== null && <span className="channel-error down">{lastError}</span>}
      </Link>
      <span className="channel-uses num">{use === undefined ? <Dash /> : usedBy(use)}</span>
      <span className="channel-last">
        {lastDeliveryAt === null ? <Dash /> : <Time at={lastDeliveryAt} as="short" />}
      </span>
      <RowMenu label={`Actions for ${name}`}>
        {() => <Actions channel={channel} mayWrite={mayWrite} />}
      </RowMenu>
    </li>
  );
}

/** `3 monitors`, or what else takes it. */
const usedBy = ({ monitors, groups }: ChannelUse) =>
  monitors === 0 ? plural(groups, "group") : plural(monitors, "monitor");

function Actions({ channel, mayWrite }: Omit<Props, "use">) {
  const { id, enabled } = channel;
  const navigate = useNavigate();
  return (
    <>
      {mayWrite && (
        <>
          <MenuItem icon="bell" onClick={() => void testFromList(channel)}>
            Send test
          </MenuItem>
          <MenuItem
            icon="edit"
            onClick={() =>
              void navigate({ to: "/alert-channels/$id", params: { id }, search: { edit: true } })
            }
          >
            Edit
          </MenuItem>
          <MenuItem icon={enabled ? "pause" : "play"} onClick={() => void setEnabled(channel)}>
            {enabled ? "Disable" : "Enable"}
          </MenuItem>
        </>
      )}
      <RecordItems
        curl={() => ({ method: "POST", route: channelRoutes(id).test })}
        onDelete={mayWrite && (() => deleteChannel(channel))}
      />
    </>
  );
}
