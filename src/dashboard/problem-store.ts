/** Reads failing alert channels, problems of the appliance, and the recipients of alerts. */
import { formatTimestamp } from "../core/time/clock.ts";
import { isVisible } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import type { Attention, Problems } from "./problem-schema.ts";

/** Number of a channel's latest deliveries that are searched for the start of its failure. */
const maxDeliveries = 500;
/** A delivery without an attempt counts as stuck when it is overdue by this time. */
const stuckMs = 300_000;

// A channel is failing if its last attempt failed, and stuck if due deliveries have had no attempt.
const failingSql = `select c.id, c.name, c.last_error as error,
    coalesce(min(d.first_attempt_at), ?1) as sinceMs,
    total(d.id is not null and not exists (select 1 from delivery_alerts l
      join alerts a on a.organization_id = l.organization_id and a.id = l.alert_id
      where l.organization_id = d.organization_id and l.delivery_id = d.id
        and a.type = 'test')) as undelivered
  from alert_channels c
    left join deliveries d on d.organization_id = c.organization_id and d.receiver_id = c.id
      and d.receiver_type = 'channel' and d.attempts > 0
      and d.status in ('gathering', 'sending', 'failed')
      and d.created_at > coalesce(c.last_delivery_at, '')
      and d.seq > coalesce((select l.seq from deliveries l
        where l.organization_id = c.organization_id and l.receiver_id = c.id
        order by l.seq desc limit 1 offset ${maxDeliveries}), 0)
  where c.organization_id = ?2 and c.person_id is null and c.enabled and c.last_error is not null
  group by c.id
  union all
  select c.id, c.name, null, min(w.due_at), count(*)
  from alert_channels c join deliveries w on w.receiver_type = 'channel'
    and w.organization_id = c.organization_id and w.receiver_id = c.id and w.due_at is not null and w.quiet is null
  where c.organization_id = ?2 and c.person_id is null and c.enabled and c.last_error is null
  group by c.id having min(w.due_at) < ?1 - ${stuckMs}
  order by sinceMs`;

type FailingRow = {
  id: string;
  name: string;
  error: string | null;
  sinceMs: number;
  undelivered: number;
};

export async function findFailingChannels(
  { store, organizationId }: Tenant,
  now: number,
): Promise<Problems["channels"]> {
  const rows = await store.query<FailingRow>(failingSql, [now, organizationId]);
  return rows.map(({ error, sinceMs, ...row }) => ({
    ...row,
    since: formatTimestamp(sinceMs),
    error: error ?? "Alerts are waiting to be sent. See the log.",
  }));
}

export function findProblems({ store, organizationId }: Tenant, now: number) {
  return store.query<Omit<Problems["appliance"][number], "title">>(
    `select name, severity, message, since from problems
     where organization_id = ? and (until is null or until > ?) order by since, name`,
    [organizationId, now],
  );
}

/** Maximum monitors in the list. */
const maxMonitors = 500;

// Deliveries queued behind a failing one have had no attempt, so they show the error of the channel.
const buildAttentionSql = (condition: string) => `with troubled as (
    select s.monitor_id as id, s.since from monitor_states s
    where s.organization_id = ?1 and s.status in ('down', 'degraded') and not s.paused${condition}
    order by s.status desc, s.since desc limit ${maxMonitors})
  select t.id as monitorId,
    (select count(*) from monitor_channels x
      where x.organization_id = ?1 and x.monitor_id = t.id) as attached,
    (select json_group_array(json_object('id', n.id, 'name', n.name, 'status', n.status,
        'at', coalesce(n.delivered_at, n.created_at), 'error', n.error) order by n.seq)
      from (select c.id, c.name,
          iif(d.due_at is not null and d.quiet, 'held', d.status) as status, d.delivered_at, d.created_at,
          case when d.due_at is null then d.error else coalesce(d.error, c.last_error) end as error,
          max(d.seq) as seq
        from alerts a
          join delivery_alerts l on l.organization_id = ?1 and l.alert_id = a.id and not l.withheld
          join deliveries d on d.organization_id = ?1 and d.id = l.delivery_id
            and d.receiver_type = 'channel' and d.status <> 'skipped'
          join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
        where a.organization_id = ?1 and a.monitor_id = t.id and a.at >= t.since
          and a.type <> 'monitor.up'
        group by c.id) n) as notified,
    (select r.id from alert_records r
      where r.organization_id = ?1 and r.subject_id = t.id and r.family = 'state'
        and r.resolved_at is null limit 1) as alertId,
    (select json_group_array(k.actor_name order by k.at) from alert_records r
        join alert_acknowledgments k on k.organization_id = ?1 and k.record_id = r.id
      where r.organization_id = ?1 and r.subject_id = t.id and r.family = 'state'
        and r.resolved_at is null) as acknowledgedBy,
    (select json_object('id', i.id, 'title', i.title, 'origin', i.origin, 'severity', i.severity)
        from incident_monitors linked
        cross join incidents i on i.organization_id = ?1 and i.id = linked.incident_id
      where linked.organization_id = ?1 and linked.monitor_id = t.id and i.resolved_at is null
      order by linked.incident_id desc limit 1) as incident
  from troubled t`;

type AttentionRow = {
  monitorId: string;
  attached: number;
  notified: string;
  alertId: string | null;
  acknowledgedBy: string;
  incident: string | null;
};

/** Condition for the monitors of limited callers. */
const limitedSql = `
      and (select m.group_id from monitors m where m.organization_id = ?1 and m.id = s.monitor_id)
        in (select value from json_each(?2))`;

export async function findAttention(tenant: Tenant): Promise<Attention[]> {
  const { store, organizationId, groupIds = null } = tenant;
  const rows = await (groupIds === null
    ? store.query<AttentionRow>(buildAttentionSql(""), [organizationId])
    : store.query<AttentionRow>(buildAttentionSql(limitedSql), [
        organizationId,
        JSON.stringify(groupIds),
      ]));
  const attention = rows.map(({ notified, acknowledgedBy, incident, ...row }) => ({
    ...row,
    acknowledgedBy: JSON.parse(acknowledgedBy) as string[],
    notified: (JSON.parse(notified) as Notified[]).map((one) => ({
      ...one,
      status: statuses[one.status],
    })),
    incident: incident === null ? null : (JSON.parse(incident) as Attention["incident"]),
  }));
  if (groupIds === null) return attention;
  // Not every incident that names one of their monitors is visible to them.
  for (const one of attention)
    if (one.incident !== null && !(await isVisible(tenant, "incident", one.incident.id)))
      one.incident = null;
  return attention;
}

type Notified = Omit<Attention["notified"][number], "status"> & { status: keyof typeof statuses };

const statuses = {
  gathering: "pending",
  sending: "pending",
  delivered: "delivered",
  failed: "failed",
  held: "held",
} as const;
