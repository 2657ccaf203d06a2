import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { type SweepContext, sweepLog, sweepRows } from "../../database/backup/sweeping.ts";

/** Days for which alerts and their deliveries are stored. */
export const deliveryDays = 90;

const oldestDeliveriesSql = `select seq, created_at as at,
    1 + (select count(*) from delivery_alerts t
      where t.organization_id = d.organization_id and t.delivery_id = d.id) as rows
  from deliveries d where seq > ? order by seq limit ?`;

/** Removes old completed deliveries from the log, old messages without deliveries, and old alerts without messages. */
export async function sweepAlerts(context: SweepContext): Promise<void> {
  const retentionMs = deliveryDays * dayMs;
  await sweepLog(context, { name: "deliveries", retentionMs }, oldestDeliveriesSql, (from, to) => [
    {
      text: "delete from deliveries where seq > ? and seq <= ? and due_at is null",
      parameters: [from, to],
    },
  ]);
  await sweepLog(
    context,
    { name: "alerts", retentionMs },
    // Deleting an alert costs as much as deleting 40 rows: SQLite searches all rows of the
    // organization for references.
    "select rowid as seq, at, 40 as rows from alerts where rowid > ? order by rowid limit ?",
    (from, to) => [
      {
        text: `delete from alerts where rowid > ? and rowid <= ?
          and not exists (select 1 from delivery_alerts d
            where d.organization_id = alerts.organization_id and d.alert_id = alerts.id)
          and not exists (select 1 from open_cases c
            where c.organization_id = alerts.organization_id and c.alert_id = alerts.id)`,
        parameters: [from, to],
      },
    ],
  );
  await sweepRows(
    context,
    "alert_records",
    `resolved_at < ? and not exists (select 1 from alerts a
      where a.organization_id = alert_records.organization_id and a.record_id = alert_records.id)`,
    [formatTimestamp(context.now - retentionMs)],
  );
}
