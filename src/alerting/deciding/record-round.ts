/**
 * Finds open alerts that no event ends: their monitor was muted or paused, or their channel works again. Also runs the
 * next step of an escalation if its last step reaches no one any more, because a person or a contact method was
 * removed.
 */
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Statement, Store } from "../../database/store.ts";
import type { OwnWork } from "../../events/fair-follower.ts";
import type { Ending } from "../records/rules.ts";
import { dropHeldMessages } from "../records/held-messages.ts";
import { endRecords, hurryUnreached } from "../records/store.ts";

/** Alerts examined in one tick, divided among the organizations, and minimum of each. */
const recordsPerRound = 1_000;
const minRecords = 20;

type DueRecord = {
  organizationId: string;
  subjectId: string;
  family: string;
  id: string;
  because: Ending | null;
  isUnreached: 0 | 1 | null;
};

export type RecordRound = ReturnType<typeof createRecordRound>;

/** Examines all open alerts in rounds, a part of each organization per call, and ends the ones that are over. */
export function createRecordRound(store: Store) {
  /** The last examined alert of each organization whose round is not finished. */
  const positions = new Map<string, readonly [subjectId: string, family: string]>();
  return async (now: number): Promise<OwnWork[]> => {
    const organizations = await store.query<{ id: string }>(organizationsSql, []);
    if (organizations.length === 0) return [];
    const maxRecords = Math.max(minRecords, Math.floor(recordsPerRound / organizations.length));
    const turns = organizations.map(({ id }) => [id, ...(positions.get(id) ?? ["", ""])]);
    const examined = await store.query<DueRecord>(roundSql, [
      JSON.stringify(turns),
      maxRecords,
      now,
    ]);
    positions.clear();
    return [...Map.groupBy(examined, (one) => one.organizationId)].map(([organizationId, own]) => {
      const last = own.length < maxRecords ? undefined : own.at(-1);
      if (last !== undefined) positions.set(organizationId, [last.subjectId, last.family]);
      return { organizationId, decide: () => endOver(organizationId, own, now) };
    });
  };
}

function endOver(organizationId: string, examined: readonly DueRecord[], now: number): Statement[] {
  const at = formatTimestamp(now);
  const endedRecords = examined.flatMap(({ id, because }) =>
    because === null ? [] : [{ id, because }],
  );
  const ends = [...Map.groupBy(endedRecords, ({ because }) => because)].flatMap(
    ([because, some]) => {
      const ids = some.map(({ id }) => id);
      return [
        ...endRecords(organizationId, ids, because, at),
        ...dropHeldMessages(organizationId, ids, because, at),
      ];
    },
  );
  const unreached = examined.flatMap(({ id, isUnreached }) => (isUnreached === 1 ? [id] : []));
  return unreached.length === 0 ? ends : [...ends, hurryUnreached(organizationId, unreached, now)];
}

/** Selects the organizations with open alerts. */
const organizationsSql = `with recursive o(id) as (
    select min(organization_id) from alert_records indexed by alert_records_open
      where resolved_at is null
    union all select (select min(organization_id) from alert_records indexed by alert_records_open
      where resolved_at is null and organization_id > o.id)
    from o where o.id is not null)
  select id from o where id is not null`;

/**
 * Whether the last step of an escalation has neither sent a message nor plans one. With a full outbox, the next step would
 * reach nobody either.
 */
const isUnreachedSql = `r.due_at > ?3 and r.policy_id is not null and r.acknowledged_at is null
  and r.snoozed_until is null and json_array_length(r.runs) > 0
  and not exists (select 1 from alert_notifications n
    where n.organization_id = r.organization_id and n.record_id = r.id)
  and not exists (select 1 from alerts a
    where a.organization_id = r.organization_id and a.record_id = r.id
      and a.data ->> '$.escalation.step' is not null
      and unixepoch(a.at) >= (select max(value) from json_each(r.runs)) / 1000)
  and not exists (select 1 from problems f
    where f.organization_id = r.organization_id and f.name = 'alerts')`;

const roundSql = `select r.organization_id as organizationId, r.subject_id as subjectId, r.family,
    r.id, ${isUnreachedSql} as isUnreached, case
    when r.family in ('state', 'certificate') then case
      when m.id is null then 'deleted'
      when m.paused or coalesce(g.paused, 0) then 'paused'
      when m.muted or coalesce(g.muted, 0) then 'muted'
      when r.family = 'state' then null
      when json_extract(m.settings, '$.certificateExpiryDays') is null then 'disabled'
      when s.certificate_expires_at is not r.data ->> 'expiresAt'
        and (s.certificate_expires_at is not null or s.status in ('up', 'degraded'))
        then 'recovered' end
    when r.family = 'incident' then case when i.id is null then 'deleted' end
    when r.family = 'channel' then case
      when c.id is null then 'deleted'
      when not c.enabled then 'disabled'
      when c.failing_since is null then 'recovered' end
    when r.family = 'source' then case
      when y.id is null then 'deleted'
      when not y.enabled or x.id is null then 'disabled' end
    when r.family = 'drill' then case when e.id is null and q.person_id is null then 'deleted' end
    when p.name is null then 'recovered' end as because
  from json_each(?1) t
    cross join alert_records r on r.rowid in (
      select rowid from alert_records indexed by alert_records_open
      where resolved_at is null and organization_id = t.value ->> 0
        and (subject_id, family) > (t.value ->> 1, t.value ->> 2)
      order by subject_id, family limit ?2)
    left join monitors m on r.family in ('state', 'certificate')
      and m.organization_id = r.organization_id and m.id = r.subject_id
    left join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    left join incidents i on r.family = 'incident'
      and i.organization_id = r.organization_id and i.id = r.subject_id
    left join alert_channels c on r.family = 'channel'
      and c.organization_id = r.organization_id and c.id = r.subject_id
    left join alert_sources y on r.family = 'source'
      and y.organization_id = r.organization_id and y.id = r.data ->> '$.source.id'
    left join source_alerts x on r.family = 'source'
      and x.organization_id = r.organization_id and x.id = r.subject_id
    left join escalation_policies e on r.family = 'drill'
      and e.organization_id = r.organization_id and e.id = r.subject_id
    left join memberships q on r.family = 'drill'
      and q.organization_id = r.organization_id and q.person_id = r.subject_id
    left join problems p on r.family = 'problem'
      and p.organization_id = r.organization_id and p.name = r.subject_id
  order by r.organization_id, r.subject_id, r.family`;
