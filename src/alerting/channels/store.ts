import { and, desc, eq, sql } from "drizzle-orm";
import type { Statement, Store } from "../../database/store.ts";
import {
  alertChannels,
  deliveries,
  monitorChannels,
  monitorGroupChannels,
} from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";

export type ChannelRow = typeof alertChannels.$inferSelect;

export function findChannels(store: Store, organizationId: string): Promise<ChannelRow[]> {
  return store.db
    .select()
    .from(alertChannels)
    .where(eq(alertChannels.organizationId, organizationId))
    .orderBy(desc(alertChannels.id));
}

export async function findChannel(
  store: Store,
  organizationId: string,
  id: string,
): Promise<ChannelRow | null> {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(and(eq(alertChannels.organizationId, organizationId), eq(alertChannels.id, id)));
  return row ?? null;
}

export function insertChannel(store: Store, row: ChannelRow): Statement {
  return store.db.insert(alertChannels).values(row);
}

export function changeChannel(store: Store, { organizationId, id, ...row }: ChannelRow): Statement {
  return store.db
    .update(alertChannels)
    .set(row)
    .where(and(eq(alertChannels.organizationId, organizationId), eq(alertChannels.id, id)));
}

/** Detaches the channel from its monitors and groups, whose records show it, and removes it with its deliveries. */
export function removeChannel(
  store: Store,
  organizationId: string,
  id: string,
  at: string,
): Statement[] {
  const users = [
    [monitors, monitorChannels, monitorChannels.monitorId] as const,
    [monitorGroups, monitorGroupChannels, monitorGroupChannels.groupId] as const,
  ];
  return [
    ...users.map(
      ([user, attached, userId]) => sql`update ${user} set version = version + 1, updated_at = ${at}
        where organization_id = ${organizationId} and id in (select ${userId} from ${attached}
          where ${attached.organizationId} = ${organizationId} and ${attached.channelId} = ${id})`,
    ),
    store.db
      .delete(deliveries)
      .where(and(eq(deliveries.organizationId, organizationId), eq(deliveries.receiverId, id))),
    store.db
      .delete(alertChannels)
      .where(and(eq(alertChannels.organizationId, organizationId), eq(alertChannels.id, id))),
  ];
}
