/** Reads the records that determine whether alerts reach people. */
import type { Tenant } from "../../database/rows.ts";
import type { Store } from "../../database/store.ts";
import { parseDrill } from "../drills/store.ts";
import { listPolicies } from "../policies/store.ts";
import { loadSchedules, type TimedSchedule } from "../schedules/store.ts";
import type { ReadinessChannel, ReadinessFacts } from "./rules.ts";

const channelsSql = `select id, name, type, enabled, person_id as personId, is_default as isDefault,
    verified_at as verifiedAt, after_minutes as afterMinutes,
    critical_after_minutes as criticalAfterMinutes, failing_since as failingSince,
    last_error as lastError, last_delivery_at as lastDeliveryAt
  from alert_channels where organization_id = ? order by position, id`;

const peopleSql = `select p.id, p.name, m.drill from memberships m join people p on p.id = m.person_id
  where m.organization_id = ?`;

// A link acknowledges as the owner of the contact method.
const acknowledgedSql = `select coalesce(c.person_id, k.actor_id) as personId, max(k.at) as at
  from alert_acknowledgments k
    left join alert_channels c on k.actor_type = 'link'
      and c.organization_id = k.organization_id and c.id = k.actor_id
  where k.organization_id = ? and (k.actor_type = 'person' or c.person_id is not null)
  group by 1`;

const failedSql = `select r.organization_id as organizationId, r.id, r.since,
    r.data ->> '$.drill.name' as name, r.resolved_because = 'unacknowledged' as isReached
  from alert_records r indexed by alert_records_drills
  where r.family = 'drill' and (?1 is null or r.organization_id = ?1)
    and r.resolved_because in ('unacknowledged', 'unreached')
    and not exists (select 1 from alert_records n indexed by alert_records_drills
      where n.organization_id = r.organization_id and n.subject_id = r.subject_id
        and n.family = 'drill' and n.id > r.id
        and n.resolved_because in ('acknowledged', 'unacknowledged', 'unreached'))
    and (exists (select 1 from escalation_policies p
        where p.organization_id = r.organization_id and p.id = r.subject_id)
      or exists (select 1 from memberships m
        where m.organization_id = r.organization_id and m.person_id = r.subject_id))
  order by r.id`;

/** The facts, without who is on call. */
type StoredReadiness = Omit<ReadinessFacts, "schedules"> & { schedules: TimedSchedule[] };

export type FailedDrill = {
  organizationId: string;
  id: string;
  name: string;
  since: string;
  /** 1 if a message arrived. */
  isReached: number;
};

/** Lists drills that nobody acknowledged or that reached nobody, unless a later one of the same subject was. Null for all organizations. */
export const listFailedDrills = (store: Store, organizationId: string | null) =>
  store.query<FailedDrill>(failedSql, [organizationId]);

/** Reads the readiness of an organization, with the overrides of its schedules from `now` until `until`. */
export async function loadReadiness(
  tenant: Tenant,
  now: number,
  until: number,
): Promise<StoredReadiness> {
  const { store, organizationId } = tenant;
  type ChannelRow = Omit<ReadinessChannel, "enabled" | "isDefault"> & {
    enabled: number;
    isDefault: number;
  };
  const [policies, schedules, channels, people, acknowledged, failedDrills] = await Promise.all([
    listPolicies(tenant),
    loadSchedules(tenant, undefined, now, until),
    store.query<ChannelRow>(channelsSql, [organizationId]),
    store.query<{ id: string; name: string; drill: string | null }>(peopleSql, [organizationId]),
    store.query<{ personId: string; at: string }>(acknowledgedSql, [organizationId]),
    listFailedDrills(store, organizationId),
  ]);
  return {
    policies,
    schedules,
    channels: channels.map((row) => ({
      ...row,
      enabled: row.enabled === 1,
      isDefault: row.isDefault === 1,
    })),
    people: new Map(people.map(({ id, name }) => [id, name])),
    drills: new Map(
      people.flatMap(({ id, drill: stored }) => {
        const drill = parseDrill(stored);
        return drill === null ? [] : [[id, drill]];
      }),
    ),
    acknowledged: new Map(acknowledged.map(({ personId, at }) => [personId, at])),
    failedDrills,
  };
}
