/** Reads and writes the dependencies of monitors and groups. */
import { getTableName } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { monitorBounds } from "../../core/limits.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { replaceLinks, type Tenant } from "../../database/rows.ts";
import { guardCondition, type Prepared, type Statement } from "../../database/store.ts";
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

const maxLevels = monitorBounds.dependencyLevels.value;

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

/** SQL for the direct parents of a monitor `own.id`: its own ones, and those of its group. `?2` is the organization. */
const parentsOf = (own: string) => [
  `cross join ${getTableName(monitorDependencies)} d
     on d.organization_id = ?2 and d.monitor_id = ${own}.id`,
  `cross join monitors m on m.organization_id = ?2 and m.id = ${own}.id
   cross join ${getTableName(monitorGroupDependencies)} d
     on d.organization_id = m.organization_id and d.group_id = m.group_id`,
];

/**
 * SQL for the monitors of the JSON list `?1` and all monitors on which they depend, each once. Reading links once per
 * monitor is important: 20 layers of 60 monitors have 60^20 paths.
 */
const reachedSql = `reached (id) as (
    select w.value from json_each(?1) w
    ${parentsOf("r")
      .map((joins) => `union select d.parent_id from reached r ${joins}`)
      .join("\n    ")})`;

/** SQL for the monitors that depend directly on the monitors of the JSON list `?1`. `?2` is the organization. */
const dependentsSql = `select d.monitor_id as id from json_each(?1) w
    cross join monitor_dependencies d indexed by monitor_dependencies_by_parent
      on d.organization_id = ?2 and d.parent_id = w.value
  union select m.id from json_each(?1) w
    cross join monitor_group_dependencies d indexed by monitor_group_dependencies_by_parent
      on d.organization_id = ?2 and d.parent_id = w.value
    cross join monitors m on m.organization_id = d.organization_id and m.group_id = d.group_id`;

/** Lists all monitors on which these depend, directly or through others. */
export async function listAncestorIds({ store, organizationId }: Tenant, ids: readonly string[]) {
  const rows = await store.query<{ id: string }>(
    `with recursive ${reachedSql} ${parentsOf("r")
      .map((joins) => `select d.parent_id as id from reached r ${joins}`)
      .join(" union ")}`,
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
    `select d.id from (${dependentsSql}
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

/** SQL: whether people or API keys of the organization `?2` are limited to monitor groups. */
const hasLimitsSql = ["memberships", "invitations", "api_keys"]
  .map(
    (table) =>
      `exists (select 1 from ${table} where organization_id = ?2 and group_ids is not null)`,
  )
  .join(" or ");

/**
 * Lists the names and states of the members of a composite monitor. A member of another group has no name if anyone is
 * limited to the group of the composite monitor, because its results are visible there.
 */
export const listMembers = (
  { store, organizationId }: Tenant,
  ids: readonly string[],
  dependentId: string | null,
) =>
  store.query<Member>(
    `with own as materialized (select group_id from monitors where organization_id = ?2 and id = ?3),
      limits as materialized (select (${hasLimitsSql}) as exist)
    select iif((select group_id from own) is null or m.group_id is (select group_id from own)
        or not (select exist from limits), m.name, null) as name,
      iif(s.paused, 'paused', s.status) as status from json_each(?1) w
      join monitors m on m.organization_id = ?2 and m.id = w.value
      join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    order by w.key`,
    [JSON.stringify(ids), organizationId, dependentId],
  );

const closureSql = `with recursive ${reachedSql} ${parentsOf("r")
  .map((joins) => `select r.id as id, d.parent_id as parentId from reached r ${joins}`)
  .join(" union ")}`;

/** Lists the dependencies of these monitors and of everything that they depend on. */
export const listDependencies = ({ store, organizationId }: Tenant, ids: readonly string[]) =>
  store.query<Dependency>(closureSql, [JSON.stringify(ids), organizationId]);

/** SQL for all monitors on which others depend. `?2` is the organization. */
const parentsSql = `parents (id) as materialized (
    select parent_id from monitor_dependencies where organization_id = ?2
    union select d.parent_id from monitor_group_dependencies d
    where d.organization_id = ?2 and exists (
      select 1 from monitors m where m.organization_id = ?2 and m.group_id = d.group_id))`;

/** SQL: whether others depend on a monitor. Needs `parentsSql`. */
const buildDependentsCondition = (id: string) => `(${id} in (select id from parents))`;

/**
 * SQL after `from` for the direct dependents of a monitor in `below` on which others depend, each with their ID. The others are its
 * leaves. A router can have 20,000 of them, so they are not collected.
 */
const innerDependents = [
  {
    id: "d.monitor_id",
    from: `monitor_dependencies d indexed by monitor_dependencies_by_parent
        where d.organization_id = ?2 and d.parent_id = below.id`,
  },
  {
    id: "m.id",
    from: `monitor_group_dependencies d indexed by monitor_group_dependencies_by_parent
        cross join monitors m on m.organization_id = d.organization_id and m.group_id = d.group_id
        where d.organization_id = ?2 and d.parent_id = below.id`,
  },
].map((one) => ({ id: one.id, from: `${one.from} and ${buildDependentsCondition(one.id)}` }));

/** Counts the levels of dependents below these monitors. A cycle counts as more than the maximum. */
export async function countLevelsBelow(
  { store, organizationId }: Tenant,
  ids: readonly string[],
): Promise<number> {
  const [row] = await store.query<{ level: number | null }>(
    `with recursive ${parentsSql}, below (id, level) as (select value, 0 from json_each(?1)
      ${innerDependents
        .map(
          ({ id, from }) =>
            `union select ${id}, level + 1 from below cross join ${from} and level <= ${maxLevels}`,
        )
        .join("\n      ")})
    select max(level + ${buildDependentsCondition("id")}) as level from below`,
    [JSON.stringify(ids), organizationId],
  );
  return row?.level ?? 0;
}

/**
 * SQL for the chains from the JSON list `?1` and from the lowest monitors that depend on it, with the number of links. A
 * cycle never ends.
 */
const levelsSql = `${parentsSql}, below (id) as (select value from json_each(?1)
      ${innerDependents
        .map(({ id, from }) => `union select ${id} from below cross join ${from}`)
        .join("\n      ")}),
    lowest (id) as (select value from json_each(?1)
      union select id from below where ${innerDependents
        .map(({ from }) => `not exists (select 1 from ${from})`)
        .join(" and ")}),
    levels (id, level) as (
    select id, ${buildDependentsCondition("id")} from lowest
    ${parentsOf("l")
      .map(
        (joins) =>
          `union select d.parent_id, l.level + 1 from levels l ${joins} where l.level <= ${maxLevels}`,
      )
      .join("\n    ")})`;

/**
 * Fails the write if a chain through these monitors is a cycle, or has more levels than allowed, above or below them.
 * Must follow the statements that link them.
 */
export const guardNoCycle = (
  organizationId: string,
  ids: readonly string[],
  otherwise: () => AppError,
): Prepared =>
  guardCondition(
    `not exists (with recursive ${levelsSql}
    select 1 from levels where level > ${maxLevels})`,
    [JSON.stringify(ids), organizationId],
    otherwise,
  );

/** Why a configuration is rejected. Its last entry with dependencies is named, because each can be a part of it. */
export const cycleIssue = `makes a cycle, or more than ${maxLevels} levels, with the other entries`;

/** Fails the write if the monitors and groups of an organization have too many dependencies. Must follow the links. */
export const guardDependencyLimit = (organizationId: string): Prepared =>
  guardCondition(
    `(select count(*) from monitor_dependencies where organization_id = ?1)
      + (select count(*) from monitor_group_dependencies where organization_id = ?1) <= ?2`,
    [organizationId, monitorBounds.allDependencies.value],
    () =>
      new AppError(
        "CONFLICT",
        `The monitors and groups of an organization can have at most ${formatCount(monitorBounds.allDependencies.value)} dependencies together.`,
      ),
  );

export const circleError = () =>
  new AppError(
    "CONFLICT",
    `The group depends on one of these monitors, or on one that depends on it, or has more than ${maxLevels} levels of dependencies with them.`,
  );
