/** Reads the monitors and the check results of a replay. */
import type { Priority } from "../../core/statuses.ts";
import type { Tenant } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import { patienceSql } from "../store.ts";

export type ReplayedRow = {
  id: string;
  name: string;
  key: number;
  type: string;
  retries: number;
  successThreshold: number;
  degradedAfterMs: number | null;
  intervalSeconds: number;
  retryIntervalSeconds: number;
  reminderSeconds: number | null;
  confirmations: number;
  patienceMs: number;
  priority: Priority;
  escalationPolicyId: string | null;
};

const columns = `m.id, m.name, s.key, m.type, m.retries, m.success_threshold as successThreshold,
    m.degraded_after_ms as degradedAfterMs, m.interval_seconds as intervalSeconds,
    m.retry_interval_seconds as retryIntervalSeconds,
    m.reminder_interval_seconds as reminderSeconds, m.confirmations,
    ${patienceSql} + m.interval_seconds * 1000 as patienceMs, m.priority,
    m.escalation_policy_id as escalationPolicyId
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id`;

/** Lists the monitors of an organization, of a group, or one. */
export const listReplayed = (
  { store, organizationId }: Tenant,
  { monitorId, groupId }: { monitorId?: string | undefined; groupId?: string | undefined },
) =>
  store.query<ReplayedRow>(
    `select ${columns} where m.organization_id = ?1 and (?2 is null or m.id = ?2)
      and (?3 is null or m.group_id = ?3) order by m.id`,
    [organizationId, monitorId ?? null, groupId ?? null],
  );

export const listReplayedById = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<ReplayedRow>(
    `select ${columns} where m.organization_id = ? and m.id in (select value from json_each(?))
      order by m.id`,
    [organizationId, JSON.stringify(ids)],
  );

/** Lists the enabled channels of these monitors, and the messages that each gets. */
export const listChannelsOfMonitors = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<{ monitorId: string; notifyOn: string | null }>(
    `select c.monitor_id as monitorId, h.notify_on as notifyOn
      from json_each(?) w cross join monitor_channels c
        on c.organization_id = ? and c.monitor_id = w.value
      join alert_channels h on h.organization_id = c.organization_id and h.id = c.channel_id
        and h.enabled`,
    [JSON.stringify(ids), organizationId],
  );

/** Lists these channels, except contact methods of people. */
export const listChannelsById = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<{ id: string; enabled: 0 | 1; notifyOn: string | null }>(
    `select id, enabled, notify_on as notifyOn from alert_channels
      where organization_id = ? and person_id is null
        and id in (select value from json_each(?))`,
    [organizationId, JSON.stringify(ids)],
  );

/** Counts the results of a monitor between two times. */
export async function countResults(store: Store, key: number, from: number, until: number) {
  const [row] = await store.query<{ number: number }>(
    "select count(*) as number from heartbeats where monitor_key = ? and at >= ? and at < ?",
    [key, from, until],
  );
  return row?.number ?? 0;
}
