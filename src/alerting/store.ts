/** Queries of alerts and deliveries for the API. */
import { formatTimestamp } from "../core/time/clock.ts";
import { buildPage } from "../core/paging.ts";
import { matchValues, selectPage, matchReference, type Tenant } from "../database/rows.ts";
import {
  alerts,
  deliveries,
  deliveryAlerts,
  deliveryAttempts,
} from "../database/tables/alerting.ts";
import type { Delivery, PageQuery } from "./schema.ts";
import { createInsert, type Prepared } from "../database/store.ts";

/** SQL for the longest time in milliseconds until the checks of the monitor `m` show a change. */
export const patienceSql = `(m.timeout_seconds * (1 + max(m.retries, m.success_threshold - 1))
    + m.retry_interval_seconds * max(m.retries, m.success_threshold - 1) + 10
    + iif(m.type = 'push', m.interval_seconds, 0)) * 1000`;

export const insertAlert = createInsert(alerts);
export const insertDelivery = createInsert(deliveries);
export const insertDeliveryAlert = createInsert(deliveryAlerts);
export const insertAttempt = createInsert(deliveryAttempts);

/** Returns a page of a channel's deliveries, newest first. */
export async function findDeliveryPage(tenant: Tenant, channelId: string, query: PageQuery) {
  const { store, organizationId } = tenant;
  const where = matchValues(deliveries, { organizationId, receiverId: channelId });
  const { rows, total } = await selectPage(store, deliveries, deliveries.seq, where, query);
  return buildPage(query, await addAttempts(tenant, rows), total);
}

/** Adds the attempts and alerts of each delivery. */
export async function addAttempts(
  { store, organizationId }: Tenant,
  rows: readonly (typeof deliveries.$inferSelect)[],
): Promise<Delivery[]> {
  const ids = rows.map(({ id }) => id);
  const [contents, attempts] = await Promise.all([
    store.db
      .select({
        deliveryId: deliveryAlerts.deliveryId,
        alertId: deliveryAlerts.alertId,
        type: alerts.type,
        withheld: deliveryAlerts.withheld,
      })
      .from(deliveryAlerts)
      .innerJoin(alerts, matchReference(deliveryAlerts, deliveryAlerts.alertId, alerts))
      .where(matchValues(deliveryAlerts, { organizationId, deliveryId: ids }))
      .orderBy(deliveryAlerts.position),
    store.db
      .select()
      .from(deliveryAttempts)
      .where(matchValues(deliveryAttempts, { organizationId, deliveryId: ids }))
      .orderBy(deliveryAttempts.number),
  ]);
  const contentsOf = Map.groupBy(contents, ({ deliveryId }) => deliveryId);
  const attemptsOf = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return rows.map((row) => {
    const all = contentsOf.get(row.id) ?? [];
    const sent = all.filter(({ withheld }) => !withheld);
    const shownDeliveries = sent.length === 0 ? all : sent;
    const isPending = row.status === "gathering" || row.status === "sending";
    return {
      id: row.id,
      channelId: row.receiverId,
      type: shownDeliveries.length === 1 ? (shownDeliveries[0]?.type ?? "digest") : "digest",
      caseChange: row.caseChange,
      status: isPending ? "pending" : row.status,
      alertIds: shownDeliveries.map(({ alertId }) => alertId),
      attempts: (attemptsOf.get(row.id) ?? []).map(({ at, delivered, message, durationMs }) => ({
        at,
        outcome: delivered ? "delivered" : "failed",
        message,
        durationMs,
      })),
      error: row.error,
      nextAttemptAt: isPending && row.dueAt !== null ? formatTimestamp(row.dueAt) : null,
      createdAt: row.createdAt,
      deliveredAt: row.deliveredAt,
      receipt: row.receipt,
      receiptAt: row.receiptAt,
    } as Delivery;
  });
}

/** Immediately examines the messages that quiet hours of a channel hold. */
export const wakeDigests = (organizationId: string, channelId: string, now: number): Prepared => ({
  text: `update deliveries set due_at = min(due_at, ?)
    where organization_id = ? and receiver_id = ? and due_at is not null and quiet`,
  parameters: [now, organizationId, channelId],
});

/** Makes the alerts due that are held behind a monitor. */
export const wakeHeldAlerts = (
  organizationId: string,
  monitorId: string,
  now: number,
): Prepared => ({
  text: `update alert_memory set held_until = ?, due_at = ?
    where organization_id = ? and held_behind = ?`,
  parameters: [now, now, organizationId, monitorId],
});
