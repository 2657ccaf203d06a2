/** Finds the escalation policies and contact methods that use a person, a schedule or a channel, and guards their deletion. */
import type { Tenant } from "./rows.ts";
import { guardCondition, type Prepared } from "./store.ts";
import { inUseError, type Use } from "./uses.ts";

const columns = {
  person: "person_id",
  schedule: "schedule_id",
  channel: "channel_id",
} as const;
type TargetType = keyof typeof columns;

/** Lists the policies with this target, and the contact methods that use the gateway of a channel, by name. */
export async function findTargetUses(
  { store, organizationId }: Tenant,
  type: TargetType,
  ids: readonly string[],
): Promise<Use[]> {
  if (ids.length === 0) return [];
  const rows = await store.query<{ id: string; name: string }>(
    `select p.id, p.name from escalation_policies p
      where p.organization_id = ?1 and p.id in (select t.policy_id from escalation_targets t
        where t.organization_id = ?1 and t.${columns[type]} in (select value from json_each(?2)))
      order by p.name, p.id`,
    [organizationId, JSON.stringify(ids)],
  );
  const policies = rows.map(({ id, name }) => ({
    noun: "escalation policy",
    path: `escalation-policies/${id}`,
    name,
  }));
  return type === "channel"
    ? [...policies, ...(await findGatewayUses({ store, organizationId }, ids))]
    : policies;
}

/** Lists the contact methods that use the gateways of these channels. */
async function findGatewayUses(
  { store, organizationId }: Tenant,
  ids: readonly string[],
): Promise<Use[]> {
  const rows = await store.query<{ id: string; name: string }>(
    `select c.id, c.name || ' of ' || p.name as name from alert_channels c
       join people p on p.id = c.person_id
     where c.organization_id = ?1 and c.gateway_id in (select value from json_each(?2))
     order by p.name, c.name, c.id`,
    [organizationId, JSON.stringify(ids)],
  );
  return rows.map(({ id, name }) => ({
    noun: "contact method",
    path: `contact-methods/${id}`,
    name,
  }));
}

/** Guard that no policy notifies these records, and no contact method uses them. `uses` are the known ones, for the error. */
export function guardNoTarget(
  { organizationId }: Pick<Tenant, "organizationId">,
  type: TargetType,
  ids: readonly string[],
  uses: readonly Use[],
): Prepared {
  const gateways =
    type === "channel"
      ? `and not exists (select 1 from alert_channels where organization_id = ?1
          and gateway_id in (select value from json_each(?2)))`
      : "";
  return guardCondition(
    `not exists (select 1 from escalation_targets where organization_id = ?1
      and ${columns[type]} in (select value from json_each(?2))) ${gateways}`,
    [organizationId, JSON.stringify(ids)],
    () => inUseError(type === "channel" ? "alert channel" : type, uses),
  );
}
