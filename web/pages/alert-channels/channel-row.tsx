import { Menu } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ChannelUse } from "../../../src/dashboard/schema.ts";
import { type AlertChannel, channelRoutes } from "../../data/alert-channels.ts";
import { CurlItem } from "../../components/curl-button.tsx";
import { plural } from "../../components/figures.ts";
import { Icon } from "../../components/icons.tsx";
import { LazyMenu } from "../../components/lazy-menu.tsx";
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
      <LazyMenu label={`Actions for ${name}`} tabbed>
        {() => <Actions channel={channel} mayWrite={mayWrite} />}
      </LazyMenu>
    </li>
  );
}

/** `3 monitors`, or what else takes it. */
const usedBy = ({ monitors, groups }: ChannelUse) =>
  monitors === 0 ? plural(groups, "group") : plural(monitors, "monitor");

function Actions({ channel, mayWrite }: Omit<Props, "use">) {
  const { id, enabled } = channel;
  const navigate = useNavigate();
  const curl = <CurlItem action={() => ({ method: "POST", route: channelRoutes(id).test })} />;
  if (!mayWrite) return curl;
  return (
    <>
      <Menu.Item leftSection={<Icon name="bell" />} onClick={() => void testFromList(channel)}>
        Send test
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="edit" />}
        onClick={() =>
          void navigate({ to: "/alert-channels/$id", params: { id }, search: { edit: true } })
        }
      >
        Edit
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name={enabled ? "pause" : "play"} />}
        onClick={() => void setEnabled(channel)}
      >
        {enabled ? "Disable" : "Enable"}
      </Menu.Item>
      {curl}
      <Menu.Divider />
      <Menu.Item
        color="red"
        leftSection={<Icon name="trash" />}
        onClick={() => deleteChannel(channel)}
      >
        Delete
      </Menu.Item>
    </>
  );
}
