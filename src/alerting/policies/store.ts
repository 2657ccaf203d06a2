/** Reads and writes escalation policies with their steps, and guards what they refer to. */
import { sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import type { Use } from "../../database/uses.ts";
import { buildIdTable, unknownReferenceError } from "../../database/references.ts";
import { matchValues, removeRow, type Tenant } from "../../database/rows.ts";
import {
  guard,
  guardCondition,
  type Prepared,
  StaleRead,
  type Statement,
} from "../../database/store.ts";
import { alertSources } from "../../database/tables/alert-sources.ts";
import { escalationPolicies, escalationTargets } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { parseDrill, toDrillColumns } from "../drills/store.ts";
import type { EscalationPolicy, EscalationStep, EscalationTarget } from "./schema.ts";

/** A policy with the version for its ETag. */
export type PolicyRecord = EscalationPolicy & { version: number };

type TargetRow = EscalationTarget & { step: number; afterMinutes: number };
type Row = Omit<PolicyRecord, "steps" | "default" | "incidentSeverities" | "drill"> & {
  drill: string | null;
  default: number;
  incidentSeverities: string;
  targets: string;
};

// A single statement, so that the version matches the steps despite concurrent writes.
const policiesSql = `select id, name, description, repeat, is_default as "default",
    incident_severities as incidentSeverities, drill, version, created_at as createdAt,
    updated_at as updatedAt,
    (select json_group_array(json_object('step', t.step, 'afterMinutes', t.after_minutes,
        'type', case when t.person_id is not null then 'person'
          when t.schedule_id is not null then 'schedule' else 'channel' end,
        'id', coalesce(t.person_id, t.schedule_id, t.channel_id)) order by t.step, t.position)
      from escalation_targets t
      where t.organization_id = p.organization_id and t.policy_id = p.id) as targets
  from escalation_policies p where organization_id = ?`;
const allPoliciesSql = `${policiesSql} order by name, id`;
const policySql = `${policiesSql} and id = ?`;

/** Lists all policies by name, or only the policy with the given ID. */
export async function listPolicies(
  { store, organizationId }: Tenant,
  id?: string,
): Promise<PolicyRecord[]> {
  const rows = await (id === undefined
    ? store.query<Row>(allPoliciesSql, [organizationId])
    : store.query<Row>(policySql, [organizationId, id]));
  return mapYielding(
    rows,
    ({ targets, default: isDefault, incidentSeverities, drill, ...row }) => ({
      ...row,
      drill: parseDrill(drill),
      default: isDefault === 1,
      incidentSeverities: JSON.parse(incidentSeverities) as PolicyRecord["incidentSeverities"],
      steps: groupSteps(JSON.parse(targets) as TargetRow[]),
    }),
  );
}

const groupSteps = (targets: readonly TargetRow[]): EscalationStep[] =>
  [...Map.groupBy(targets, ({ step }) => step).values()].map((all) => ({
    afterMinutes: all[0]?.afterMinutes ?? 0,
    targets: all.map(({ type, id }) => ({ type, id })),
  }));

export const insertPolicy = (tenant: Tenant, policy: PolicyRecord): Statement[] => [
  tenant.store.db
    .insert(escalationPolicies)
    .values({ ...columnsOf(policy), organizationId: tenant.organizationId }),
  insertTargets(tenant, policy),
];

export const changePolicy = (tenant: Tenant, policy: PolicyRecord): Statement[] => [
  tenant.store.db
    .update(escalationPolicies)
    .set(columnsOf(policy))
    .where(
      matchValues(escalationPolicies, { organizationId: tenant.organizationId, id: policy.id }),
    ),
  removeTargets(tenant, [policy.id]),
  insertTargets(tenant, policy),
];

/** Removes the targets of policies before `changePolicy` adds them again, so that old targets can be deleted. */
export const removeTargets = ({ store, organizationId }: Tenant, policyIds: string[]): Statement =>
  store.db
    .delete(escalationTargets)
    .where(matchValues(escalationTargets, { organizationId, policyId: policyIds }));

function columnsOf({
  steps: _steps,
  default: isDefault,
  incidentSeverities,
  drill,
  ...row
}: PolicyRecord) {
  return {
    ...row,
    isDefault,
    incidentSeverities: JSON.stringify(incidentSeverities),
    ...toDrillColumns(row.id, drill, Date.parse(row.updatedAt)),
  };
}

function insertTargets({ organizationId }: Tenant, { id, steps }: PolicyRecord): Statement {
  const rows = steps.flatMap(({ afterMinutes, targets }, step) =>
    targets.map((target, position) => ({ step, position, afterMinutes, ...target })),
  );
  const buildIdColumn = (type: EscalationTarget["type"]) =>
    sql`iif(value ->> 'type' = ${type}, value ->> 'id', null)`;
  return sql`insert into ${escalationTargets} (organization_id, policy_id, step, position,
      after_minutes, person_id, schedule_id, channel_id)
    select ${organizationId}, ${id}, value ->> 'step', value ->> 'position',
      value ->> 'afterMinutes', ${buildIdColumn("person")}, ${buildIdColumn("schedule")}, ${buildIdColumn("channel")}
    from json_each(${JSON.stringify(rows)})`;
}

/** Condition that the target `wanted.value` exists, by its type. A contact method does not count as a channel. */
const targetConditions = {
  person: "select 1 from memberships where organization_id = ? and person_id = wanted.value",
  schedule: "select 1 from schedules where organization_id = ? and id = wanted.value",
  channel: `select 1 from alert_channels
    where organization_id = ? and id = wanted.value and person_id is null`,
};

/** Guards that every target exists. A missing one is NOT_FOUND that names the field. */
export function guardTargetsExist(
  { organizationId }: Pick<Tenant, "organizationId">,
  steps: readonly EscalationStep[],
): Prepared[] {
  const byType = Map.groupBy(
    steps.flatMap(({ targets }) => targets),
    ({ type }) => type,
  );
  return [...byType].map(([type, targets]) =>
    guardCondition(
      `not exists (select 1 from json_each(?) wanted
      where not exists (${targetConditions[type]}))`,
      [JSON.stringify(targets.map(({ id }) => id)), organizationId],
      () => unknownReferenceError("steps", type === "channel" ? "alert channel" : type),
    ),
  );
}

/** Guards that at most one policy is the default, and that a severity has at most one policy. */
export const guardDistinctPolicies = (
  { organizationId }: Pick<Tenant, "organizationId">,
  otherwise: () => AppError | StaleRead = () => new StaleRead(),
): Statement[] => [
  guard(
    sql`(select count(*) from ${escalationPolicies}
        where organization_id = ${organizationId} and is_default) <= 1
      and not exists (select 1 from ${escalationPolicies} p, json_each(p.incident_severities) s
        where p.organization_id = ${organizationId} group by s.value having count(*) > 1)`,
    otherwise,
  ),
];

/** Removes a policy with its steps. Requires `guardPoliciesUnused`. */
export const removePolicy = (tenant: Tenant, id: string): Statement =>
  removeRow(tenant, escalationPolicies, id);

const usersSql = `select noun, id, name from (
    select 'monitor group' as noun, id, name from monitor_groups
      where organization_id = ?1 and escalation_policy_id = ?2
    union all select 'monitor', id, name from monitors
      where organization_id = ?1 and escalation_policy_id = ?2
    union all select 'alert source', id, name from alert_sources
      where organization_id = ?1 and escalation_policy_id = ?2)
  order by noun desc, name, id limit ?3`;

const usePaths: Readonly<Record<string, string>> = {
  monitor: "monitors",
  "monitor group": "monitor-groups",
  "alert source": "alert-sources",
};

/** Lists the groups, monitors and alert sources that use a policy, by name, up to `limit`. */
export async function findPolicyUses(
  { store, organizationId }: Tenant,
  id: string,
  limit: number,
): Promise<Use[]> {
  const rows = await store.query<{ noun: string; id: string; name: string }>(usersSql, [
    organizationId,
    id,
    limit,
  ]);
  return rows.map(({ noun, id: userId, name }) => ({
    noun,
    path: `${usePaths[noun] ?? noun}/${userId}`,
    name,
  }));
}

/** Guards that no monitor, group or alert source uses these policies. */
export const guardPoliciesUnused = (
  { organizationId }: Pick<Tenant, "organizationId">,
  ids: readonly string[],
  otherwise: () => AppError | StaleRead,
): Statement[] =>
  [monitors, monitorGroups, alertSources].map((table) =>
    guard(
      sql`not exists (select 1 from ${table} where organization_id = ${organizationId}
        and escalation_policy_id is not null
        and escalation_policy_id in (select value from ${buildIdTable(ids)}))`,
      otherwise,
    ),
  );
