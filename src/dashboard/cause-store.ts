/** Reads changes before a failure, and monitors that failed at the same time. */
import type { Cause, ResolvedChange } from "../core/causes.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { stateTypeList } from "../events/catalog.ts";
import { limitToGroups } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import type { Causes } from "./cause-schema.ts";
import type { FailingMonitor } from "./cause-rules.ts";

type Change = Causes["changes"][number];
type ChangeRow = Omit<Change, "fields" | "actor"> & {
  fields: string | null;
  actorType: string;
  actorId: string | null;
  actorName: string;
};

const changeSql = `select e.at, e.action, e.fields, e.actor_type as actorType,
    e.actor_id as actorId, e.actor_name as actorName, e.subject_id as subjectId,
    coalesce(m.name, g.name, e.subject_name) as subjectName
  from json_each(?2) subjects
    cross join audit_entries e on e.organization_id = ?1 and e.subject_id = subjects.value
    left join monitors m on m.organization_id = ?1 and m.id = e.subject_id
    left join monitor_groups g on g.organization_id = ?1 and g.id = e.subject_id
  where e.at >= ?3 and e.at <= ?4 order by e.seq desc limit ?5`;

/** Reads the changes to these records in a span, newest first. */
export async function findChangesBetween(
  { store, organizationId }: Tenant,
  subjectIds: readonly string[],
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<Change[]> {
  const rows = await store.query<ChangeRow>(changeSql, [
    organizationId,
    JSON.stringify(subjectIds),
    formatTimestamp(from),
    formatTimestamp(to),
    limit,
  ]);
  return rows.map(({ fields, actorType, actorId, actorName, ...row }) => ({
    ...row,
    fields: fields === null ? [] : (JSON.parse(fields) as string[]),
    actor: { type: actorType, id: actorId, name: actorName },
  }));
}

const resolvedSql = `select data ->> 'resolved' as resolved from events
  where organization_id = ? and subject_id = ?
    and type in (${stateTypeList})
  order by seq desc limit 1`;

/** Reads the change of addresses or DNS records before the current state of a monitor; null if there is none. */
export async function findResolvedChange(
  { store, organizationId }: Tenant,
  monitorId: string,
): Promise<ResolvedChange | null> {
  const [row] = await store.query<{ resolved: string | null }>(resolvedSql, [
    organizationId,
    monitorId,
  ]);
  return row?.resolved == null ? null : (JSON.parse(row.resolved) as ResolvedChange);
}

const failingSql = `select m.id, m.name, m.type, m.group_id as groupId, m.settings, s.status, s.since,
    (select e.data ->> 'causes' from events e
      where e.organization_id = s.organization_id and e.subject_id = s.monitor_id
        and e.type in (${stateTypeList})
      order by e.seq desc limit 1) as causes
  from monitor_states s
    join monitors m on m.organization_id = s.organization_id and m.id = s.monitor_id
  where s.organization_id = ? and s.status in ('down', 'degraded')
    and not s.paused and s.since >= ? and s.since <= ?`;

/** Reads the monitors that are failing since a time in the span, with the possible causes of their failures. */
export async function findFailingSince(
  tenant: Tenant,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<FailingMonitor[]> {
  type Row = Omit<FailingMonitor, "checked" | "causes"> & {
    type: string;
    settings: string;
    causes: string | null;
  };
  const visible = limitToGroups(tenant);
  const text = `${failingSql}${visible.text} order by s.since limit ?`;
  const rows = await tenant.store.query<Row>(text, [
    tenant.organizationId,
    formatTimestamp(from),
    formatTimestamp(to),
    ...visible.parameters,
    limit,
  ]);
  return rows.map(({ type, settings, causes, ...row }) => ({
    ...row,
    checked: { ...(JSON.parse(settings) as object), type },
    causes: causes === null ? [] : (JSON.parse(causes) as Cause[]),
  }));
}
