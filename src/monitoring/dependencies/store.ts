/** Reads and writes on which monitors others depend. */
import { getTableName } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { replaceLinks, type Tenant } from "../../database/rows.ts";
import { guardCondition, type Prepared, StaleRead, type Statement } from "../../database/store.ts";
import { monitorDependencies, monitorGroupDependencies } from "../../database/tables/monitoring.ts";
import type { Dependency, Member } from "./rules.ts";

export const replaceMonitorDependencies = (
  { store, organizationId }: Tenant,
  monitorId: string,
  parentIds: readonly string[],
): Statement[] =>
  replaceLinks(store, monitorDependencies, { organizationId, monitorId }, "parentId", parentIds);

export const replaceGroupDependencies = (
  { store, organizationId }: Tenant,
  groupId: string,
  parentIds: readonly string[],
): Statement[] =>
  replaceLinks(store, monitorGroupDependencies, { organizationId, groupId }, "parentId", parentIds);

const linkColumns = {
  monitors: { table: "monitor_dependencies", column: "monitor_id" },
  groups: { table: "monitor_group_dependencies", column: "group_id" },
} as const;

/** Lists the monitors on which a monitor or group depends, and which a limited caller can't see. */
export async function listHiddenParentIds(
  { store, organizationId, groupIds }: Tenant,
  of: keyof typeof linkColumns,
  id: string,
): Promise<string[]> {
  if (groupIds == null) return [];
  const { table, column } = linkColumns[of];
  const rows = await store.query<{ id: string }>(
    `select d.parent_id as id from ${table} d
       join monitors m on m.organization_id = d.organization_id and m.id = d.parent_id
     where d.organization_id = ? and d.${column} = ? and (m.group_id is null
       or m.group_id not in (select value from json_each(?))) order by d.position`,
    [organizationId, id, JSON.stringify(groupIds)],
  );
  return rows.map((row) => row.id);
}

/**
 * SQL for all monitors on which the monitors of the JSON list `?1` depend, directly (`id` is the
 * dependent) or over others; `start` is the monitor of the list. `?2` is the organization.
 */
const ancestorsText = `ancestors (start, id, parent_id) as (
    select w.value, null, w.value from json_each(?1) w
    union select a.start, a.parent_id, d.parent_id from ancestors a
      cross join ${getTableName(monitorDependencies)} d
        on d.organization_id = ?2 and d.monitor_id = a.parent_id
    union select a.start, a.parent_id, d.parent_id from ancestors a
      cross join monitors m on m.organization_id = ?2 and m.id = a.parent_id
      cross join ${getTableName(monitorGroupDependencies)} d
        on d.organization_id = m.organization_id and d.group_id = m.group_id)`;

/** SQL for the monitors that depend directly on those of the JSON list `?1`. `?2` is the organization. */
const dependentsText = `select d.monitor_id as id from json_each(?1) w
    cross join monitor_dependencies d indexed by monitor_dependencies_by_parent
      on d.organization_id = ?2 and d.parent_id = w.value
  union select m.id from json_each(?1) w
    cross join monitor_group_dependencies d indexed by monitor_group_dependencies_by_parent
      on d.organization_id = ?2 and d.parent_id = w.value
    cross join monitors m on m.organization_id = d.organization_id and m.group_id = d.group_id`;

/** Lists all monitors on which these depend, directly or over others. */
export async function listAncestorIds({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string }>(
    `with recursive ${ancestorsText} select distinct parent_id as id from ancestors where id is not null`,
    [JSON.stringify(ids), organizationId],
  );
  return rows.map(({ id }) => id);
}

/** Lists the monitors with a problem that depend directly on these, or whose alerts belong to theirs. */
export async function listFailingDependentIds(
  { store, organizationId }: Tenant,
  ids: readonly string[],
) {
  const rows = await store.query<{ id: string }>(
    `select d.id from (${dependentsText}
      union select a.monitor_id from json_each(?1) w cross join alert_memory a
        indexed by alert_memory_held on a.organization_id = ?2 and a.held_behind = w.value) d cross join monitor_states s
      on s.organization_id = ?2 and s.monitor_id = d.id
    where s.status in ('down', 'degraded') and not s.paused`,
    [JSON.stringify(ids), organizationId],
  );
  return rows.map(({ id }) => id);
}

/** Lists the composite monitors that depend directly on these. */
export async function listCompositeIds({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string }>(
    `select m.id from json_each(?) w
      cross join monitor_dependencies d indexed by monitor_dependencies_by_parent
        on d.organization_id = ? and d.parent_id = w.value
      cross join monitors m on m.organization_id = d.organization_id and m.id = d.monitor_id
    where m.type = 'composite'`,
    [JSON.stringify(ids), organizationId],
  );
  return rows.map(({ id }) => id);
}

/** Lists the names and states of these monitors. */
export const listMembers = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<Member>(
    `select m.name, iif(s.paused, 'paused', s.status) as status from json_each(?) w
      join monitors m on m.organization_id = ? and m.id = w.value
      join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    order by w.key`,
    [JSON.stringify(ids), organizationId],
  );

const closureText = `with recursive ${ancestorsText}
  select distinct id, parent_id as parentId from ancestors where id is not null`;

/** Lists the dependencies of these monitors and of everything that they depend on. */
export const listDependencies = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<Dependency>(closureText, [JSON.stringify(ids), organizationId]);

/** Fails the write if one of these monitors depends on itself. Must follow the statements that link them. */
export const guardNoCycle = (
  organizationId: string,
  ids: readonly string[],
  otherwise: () => AppError | StaleRead,
): Prepared =>
  guardCondition(
    `not exists (with recursive ${ancestorsText}
    select 1 from ancestors where id is not null and start = parent_id)`,
    [JSON.stringify(ids), organizationId],
    otherwise,
  );

export const circleError = () =>
  new AppError(
    "CONFLICT",
    "The group depends on one of these monitors, or on one that depends on it.",
  );
