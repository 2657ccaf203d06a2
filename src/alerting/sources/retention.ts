import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { type SweepContext, sweepLog, sweepRows } from "../../database/backup/sweeping.ts";

/** Days for which requests to alert sources are stored. */
export const sourceRequestDays = 7;

/** Time for which the end of a problem is remembered, so that a late report does not open it again. */
const endedAlertMs = dayMs;

/** Removes old requests from the log, and problems that ended long ago. */
export async function sweepSources(context: SweepContext): Promise<void> {
  await sweepLog(
    context,
    { name: "alert-source-requests", retentionMs: sourceRequestDays * dayMs },
    "select seq, at from alert_source_requests where seq > ? order by seq limit ?",
    (from, to) => [
      {
        text: "delete from alert_source_requests where seq > ? and seq <= ?",
        parameters: [from, to],
      },
    ],
  );
  await sweepRows(context, "source_alerts", "status = 'resolved' and updated_at < ?", [
    formatTimestamp(context.now - endedAlertMs),
  ]);
}
