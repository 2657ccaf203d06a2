import { desc, sql } from "drizzle-orm";
import { matching, removeRow, type Tenant } from "../../database/rows.ts";
import type { Statement } from "../../database/store.ts";
import {
  alertChannels,
  deliveries,
  monitorChannels,
  monitorGroupChannels,
} from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";

export type ChannelRow = typeof alertChannels.$inferSelect;

export function findChannels({ store, organizationId }: Tenant): Promise<ChannelRow[]> {
  return store.db
    .select()
    .from(alertChannels)
    .where(matching(alertChannels, { organizationId }))
    .orderBy(desc(alertChannels.id));
}

export async function findChannel({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(matching(alertChannels, { organizationId, id }));
  return row ?? null;
}

export function changeChannel({ store }: Tenant, row: ChannelRow): Statement {
  const { organizationId, id, ...change } = row;
  return store.db
    .update(alertChannels)
    .set(change)
    .where(matching(alertChannels, { organizationId, id }));
}

/** Detaches the channel from its monitors and groups, whose records show it, and removes it with its deliveries. */
export function removeChannel(tenant: Tenant, id: string, at: string): Statement[] {
  const { store, organizationId } = tenant;
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
    store.db.delete(deliveries).where(matching(deliveries, { organizationId, receiverId: id })),
    removeRow(tenant, alertChannels, id),
  ];
}
