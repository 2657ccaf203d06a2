/** Statements that prepare alerting after a backup was restored, so that no alert is sent twice. */
import { formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import type { Prepared, Statement } from "../../database/store.ts";
import { skipAllEvents } from "../../events/cursor.ts";

const skippedBecause = "It comes from a restored backup and may have been delivered since.";

/** Minimum delay of timers after a restore, so that checks report the current state first. */
const settlingMs = 10 * minuteMs;

/** Monitors with undelivered alerts or unhandled events. */
const unsentAlertsSql = `
  select a.organization_id, a.monitor_id from deliveries d
    join delivery_alerts t on t.organization_id = d.organization_id and t.delivery_id = d.id
    join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
    where d.due_at is not null and a.monitor_id is not null
  union select e.organization_id, e.subject_id from events e
    where e.seq > coalesce((select min(seq) from followers
        where name in ('alerting', 'alerting/' || e.organization_id)), 0)
      and e.type in ('monitor.up', 'monitor.degraded', 'monitor.down')`;

/**
 * Prepares alerting after a restore. Waiting deliveries are skipped, because they may have been
 * sent after the backup, and drills end. Their monitors become pending: the first check then notifies channels that
 * do not know of the problem.
 */
export function prepareRestoredAlerts(now: number): Statement[] {
  return [
    prepareText(`update monitor_states set status = 'pending', failures = 0, not_judged_since = null
      where not paused and status in ('up', 'degraded', 'down')
        and (organization_id, monitor_id) in (${unsentAlertsSql})`),
    prepareText(
      `update deliveries set status = 'skipped', due_at = null, leased_until = null,
        held_until = null, error = ? where due_at is not null`,
      skippedBecause,
    ),
    ...skipAllEvents("alerting"),
    ...skipAllEvents("subscribers"),
    prepareText(
      `update alert_memory set due_at = max(due_at, ?1 + max(?2, 2000 * coalesce((
          select interval_seconds from monitors m where m.organization_id = alert_memory.organization_id
            and m.id = alert_memory.monitor_id), 0)))
        where due_at is not null`,
      now,
      settlingMs,
    ),
    // A drill may have ended since the backup.
    prepareText(
      `update alert_records set resolved_at = ?, resolved_because = 'deleted', snoozed_until = null,
        due_at = null, version = version + 1 where family = 'drill' and resolved_at is null`,
      formatTimestamp(now),
    ),
    prepareText(`delete from alert_notifications where (organization_id, record_id) in (
      select organization_id, id from alert_records where family = 'drill')`),
    // The certificate may have been renewed since the backup. The next check reads the current one.
    prepareText("update monitor_states set certificate_expires_at = null"),
  ];
}

function prepareText(text: string, ...parameters: Prepared["parameters"]): Prepared {
  return { text, parameters };
}
