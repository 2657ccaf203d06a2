import { queryOptions, useQuery } from "@tanstack/react-query";
import type { AlertChannel } from "../../src/alerting/channels/schema.ts";
import type { Delivery } from "../../src/alerting/schema.ts";
import type { ChannelUse, UsersOfChannel } from "../../src/dashboard/schema.ts";
import { get, getPage } from "./client.ts";
import { useElsewhere } from "./elsewhere.ts";
import { queryClient } from "./query.ts";

export type { AlertChannel, Delivery };

export const channelPath = (id: string, part = "") => `/api/v1/alert-channels/${id}${part}`;

const listQuery = queryOptions({
  queryKey: ["alert-channels"],
  queryFn: ({ signal }) => get<AlertChannel[]>("/api/v1/alert-channels", undefined, signal),
});

/** All channels, newest first. */
export const useAlertChannels = (enabled = true) => useQuery({ ...listQuery, enabled });

export function useAlertChannel(id: string) {
  const channel = useQuery({
    queryKey: ["alert-channel", id],
    queryFn: ({ signal }) => get<AlertChannel>(channelPath(id), undefined, signal),
  });
  useElsewhere("alert-channel", id, channel.error);
  return channel;
}

export const useDeliveries = (id: string, page: number) =>
  useQuery({
    queryKey: ["alert-channel", id, "deliveries", page],
    queryFn: ({ signal }) =>
      getPage<Delivery>(channelPath(id, "/deliveries"), { page, per_page: 20 }, signal),
    placeholderData: (before) => before,
  });

/** How many monitors and groups each channel belongs to; follows what happens to monitors. */
export const useChannelUses = () =>
  useQuery({
    queryKey: ["monitors", "channel-uses"],
    queryFn: ({ signal }) => get<ChannelUse[]>("/alert-channel-uses", undefined, signal),
  });

export const useUsersOfChannel = (id: string) =>
  useQuery({
    queryKey: ["monitors", "users-of-channel", id],
    queryFn: ({ signal }) => get<UsersOfChannel>(`/alert-channels/${id}/users`, undefined, signal),
  });

/** Something was sent to these channels, or tried. */
export function refreshChannels(ids: readonly string[]) {
  void queryClient.invalidateQueries({ queryKey: listQuery.queryKey });
  for (const id of ids) void queryClient.invalidateQueries({ queryKey: ["alert-channel", id] });
}
