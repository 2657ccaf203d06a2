import { ActionIcon, Button, Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { type AlertChannel, channelRoutes } from "../../data/alert-channels.ts";
import { CurlItem } from "../../components/curl-button.tsx";
import { Icon } from "../../components/icons.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { deleteChannel, setEnabled } from "./actions.ts";
import type { Test } from "./test-outcome.tsx";
import { BusyButton } from "../../components/busy-button.tsx";

type Props = { channel: AlertChannel; mayWrite: boolean; test: Test; onEdit: () => void };

export function ChannelActions({ channel, mayWrite, test, onEdit }: Props) {
  const { id, enabled } = channel;
  const navigate = useNavigate();
  useShortcuts(
    useMemo(
      () => (mayWrite ? { t: () => void test.run(), e: onEdit } : {}),
      [mayWrite, test, onEdit],
    ),
  );
  const route = channelRoutes(id);
  const curl = (
    <CurlItem
      action={() => (mayWrite ? { method: "POST", route: route.test } : { method: "GET", route })}
    />
  );
  return (
    <>
      {mayWrite && (
        <>
          <BusyButton onClick={() => void test.run()} loading={test.busy}>
            Send test
          </BusyButton>
          <Button onClick={() => void setEnabled(channel)}>{enabled ? "Disable" : "Enable"}</Button>
          <Button onClick={onEdit}>Edit</Button>
        </>
      )}
      <Menu position="bottom-end" width={190}>
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label="More actions">
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {curl}
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<Icon name="trash" />}
                onClick={() => {
                  deleteChannel(channel);
                  void navigate({ to: "/alert-channels" });
                }}
              >
                Delete
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
