import type { Store } from "../database/store.ts";
import type { ChannelUse, SubscriberCount, UsersOfChannel } from "./schema.ts";

const signatureText = `select c.id, coalesce(c.last_delivery_at, '') || '/' || coalesce(c.last_error, '')
    || '/' || coalesce((select max(d.seq) from deliveries d
      where d.organization_id = c.organization_id and d.receiver_id = c.id), 0)
    || '/' || (select count(*) || '/' || total(w.due_at) from deliveries w
      where w.organization_id = c.organization_id and w.receiver_type = 'channel'
        and w.receiver_id = c.id and w.due_at is not null) as signature
  from alert_channels c where c.organization_id = ?`;

type Signature = { id: string; signature: string };

/** Of a channel to which nothing was ever to be sent. */
export const neverUsed = "//0/0/0.0";

/** What differs as soon as a channel's list of deliveries does. */
export function channelSignaturesOf(store: Store, organizationId: string): Promise<Signature[]> {
  return store.query<Signature>(signatureText, [organizationId]);
}

const usesText = `select channel_id as channelId, sum(monitor) as monitors, sum(1 - monitor) as groups
  from (
    select channel_id, 1 as monitor from monitor_channels where organization_id = ?
    union all
    select channel_id, 0 from monitor_group_channels where organization_id = ?)
  group by channel_id`;

export function usesOf(store: Store, organizationId: string): Promise<ChannelUse[]> {
  return store.query<ChannelUse>(usesText, [organizationId, organizationId]);
}

export async function usersOf(
  store: Store,
  organizationId: string,
  channelId: string,
): Promise<UsersOfChannel> {
  const read = async (text: string) =>
    (await store.query<{ id: string }>(text, [organizationId, channelId])).map(({ id }) => id);
  const [monitorIds, groupIds] = await Promise.all([
    read(
      "select monitor_id as id from monitor_channels where organization_id = ? and channel_id = ?",
    ),
    read(
      "select group_id as id from monitor_group_channels where organization_id = ? and channel_id = ?",
    ),
  ]);
  return { monitorIds, groupIds };
}

const countsText = `select page_id as pageId, count(confirmed_at) as confirmed,
    count(*) - count(confirmed_at) as pending
  from subscribers where organization_id = ? group by page_id`;

export function countsOfSubscribers(
  store: Store,
  organizationId: string,
): Promise<SubscriberCount[]> {
  return store.query<SubscriberCount>(countsText, [organizationId]);
}
