import { useQuery } from "@tanstack/react-query";
import type { AlertChannel } from "../../src/alerting/channels/schema.ts";
import type { Delivery } from "../../src/alerting/schema.ts";
import { dashboard, v1 } from "./client.ts";
import { listKey, recordKey } from "./keys.ts";
import { createDataQuery, createPageQuery } from "./query.ts";
import { useRecord } from "./record.ts";

export type { AlertChannel, Delivery };

export const getChannelRoutes = (id: string) => v1["alert-channels"]({ id });

export const channelsQuery = createDataQuery(listKey("alert-channel"), (options) =>
  v1["alert-channels"].get(options),
);

/** All channels, newest first. */
export const useAlertChannels = (enabled = true) => useQuery({ ...channelsQuery, enabled });

export const useAlertChannel = (id: string) =>
  useRecord(
    "alert-channel",
    id,
    createDataQuery(recordKey("alert-channel", id), (options) => getChannelRoutes(id).get(options)),
  );

export const useDeliveries = (id: string, page: number) =>
  useQuery(
    createPageQuery([...recordKey("alert-channel", id), "deliveries", page], (options) =>
      getChannelRoutes(id).deliveries.get({ query: { page, per_page: 20 }, ...options }),
    ),
  );

export const channelUsesQuery = createDataQuery(
  [...listKey("monitor"), "channel-uses"],
  (options) => dashboard["alert-channel-uses"].get(options),
);

/** Number of monitors and groups that use each channel. Refetched when a monitor changes. */
export const useChannelUses = () => useQuery(channelUsesQuery);

export const useUsersOfChannel = (id: string) =>
  useQuery(
    createDataQuery([...listKey("monitor"), "users-of-channel", id], (options) =>
      dashboard["alert-channels"]({ id }).users.get(options),
    ),
  );
