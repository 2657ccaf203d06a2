import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { useAlertChannels, useChannelUses } from "../../data/alert-channels.ts";
import { useSignedIn } from "../../data/session.ts";
import { useDeleting } from "../../components/deleting.ts";
import { Icon } from "../../components/icons.tsx";
import { EmptyState, PageHeader, Panel } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { ChannelGallery } from "./channel-types.tsx";
import { ChannelRow } from "./channel-row.tsx";

const NewChannel = lazy(() => import("./new-channel.tsx"));

export function AlertChannelsPage() {
  const { data, error } = useAlertChannels();
  const deleting = useDeleting();
  const channels = data?.filter(({ id }) => !deleting.has(id));
  const { data: uses } = useChannelUses();
  const { mayWrite } = useSignedIn();
  const navigate = useNavigate();
  const { new: chosen } = useSearch({ strict: false });
  const usesById = useMemo(() => new Map(uses?.map((use) => [use.channelId, use])), [uses]);
  const open = useMemo(
    () => (type?: string) =>
      void navigate({ to: "/alert-channels", search: type === undefined ? {} : { new: type } }),
    [navigate],
  );
  useShortcuts(mayWrite ? { n: () => open("") } : {});
  return (
    <>
      <PageHeader title="Alert channels" below="Where Signalbox sends alerts.">
        {mayWrite && channels !== undefined && channels.length > 0 && (
          <Button
            variant="filled"
            leftSection={<Icon name="plus" size={15} />}
            onClick={() => open("")}
          >
            Create alert channel
          </Button>
        )}
      </PageHeader>
      {error !== null && channels === undefined && (
        <EmptyState
          icon={<Icon name="warning" size={28} />}
          title="The alert channels could not be loaded"
        >
          {error.message}
        </EmptyState>
      )}
      {channels?.length === 0 && (
        <EmptyState icon={<Icon name="bell" size={28} />} title="No alert channels yet">
          {mayWrite
            ? "An alert channel is where alerts are sent. Choose a type, send a test, and add the channel to your monitors."
            : "An alert channel is where alerts are sent."}
        </EmptyState>
      )}
      {channels?.length === 0 && mayWrite && (
        <Panel className="gallery-panel">
          <ChannelGallery onChoose={open} />
        </Panel>
      )}
      {channels !== undefined && channels.length > 0 && (
        <>
          <div className="channels-head faint" aria-hidden="true">
            <span>Channel</span>
            <span>Used by</span>
            <span>Last delivery</span>
          </div>
          <Panel flush>
            <ul className="channels" aria-label="Alert channels">
              {channels.map((channel) => (
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
      )}
      <Suspense>
        {mayWrite && chosen !== undefined && (
          <NewChannel chosen={chosen} onChoose={open} onClose={() => open()} />
        )}
      </Suspense>
    </>
  );
}
