import { queryOptions, useQuery } from "@tanstack/react-query";
import type { AlertChannel } from "../../src/alerting/channels/schema.ts";
import type { Delivery } from "../../src/alerting/schema.ts";
import { dashboard, dataOf, pageOf, v1 } from "./client.ts";
import { useOrganizationRedirect } from "./organization-redirect.ts";
import { listKey, recordKey } from "./keys.ts";

export type { AlertChannel, Delivery };

/** The routes of a channel. */
export const channelRoutes = (id: string) => v1["alert-channels"]({ id });

export const channelsQuery = queryOptions({
  queryKey: listKey("alert-channel"),
  queryFn: ({ signal }) => dataOf(v1["alert-channels"].get({ fetch: { signal } })),
});

/** All channels, newest first. */
export const useAlertChannels = (enabled = true) => useQuery({ ...channelsQuery, enabled });

export function useAlertChannel(id: string) {
  const channel = useQuery({
    queryKey: recordKey("alert-channel", id),
    queryFn: ({ signal }) => dataOf(channelRoutes(id).get({ fetch: { signal } })),
  });
  useOrganizationRedirect("alert-channel", id, channel.error);
  return channel;
}

export const useDeliveries = (id: string, page: number) =>
  useQuery({
    queryKey: [...recordKey("alert-channel", id), "deliveries", page],
    queryFn: ({ signal }) =>
      pageOf(
        channelRoutes(id).deliveries.get({ query: { page, per_page: 20 }, fetch: { signal } }),
      ),
    placeholderData: (before) => before,
  });

/** How many monitors and groups each channel belongs to; follows what happens to monitors. */
export const useChannelUses = () =>
  useQuery({
    queryKey: [...listKey("monitor"), "channel-uses"],
    queryFn: ({ signal }) => dataOf(dashboard["alert-channel-uses"].get({ fetch: { signal } })),
  });

export const useUsersOfChannel = (id: string) =>
  useQuery({
    queryKey: [...listKey("monitor"), "users-of-channel", id],
    queryFn: ({ signal }) =>
      dataOf(dashboard["alert-channels"]({ id }).users.get({ fetch: { signal } })),
  });
