/** Reads and writes monitor groups, their members, and the pauses that members inherit. */
import { type SQL, sql } from "drizzle-orm";
import type { Limits } from "../../core/limits.ts";
import { afterAllIds } from "../../database/search.ts";
import { limitToGroups, selectVisibleMonitors } from "../../database/group-limit.ts";
import { buildIdTable, overLimitError } from "../../database/references.ts";
import { copyToDeleted, type Remover } from "../../database/deleted-records.ts";
import { matchValues, removeRow, replaceLinks, type Tenant } from "../../database/rows.ts";
import {
  splitIntoPortions,
  guard,
  portionRows,
  type Prepared,
  type Statement,
} from "../../database/store.ts";
import { circleError, guardNoCycle } from "../dependencies/store.ts";
import { monitorChannels, monitorGroupChannels } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import type { MonitorGroup } from "./schema.ts";
import type { EventType } from "../../events/catalog.ts";

/** A group with the version for its ETag. */
export type GroupRecord = MonitorGroup & { version: number };

type Row = Record<"tags" | "alertChannelIds" | "dependsOn" | "monitorIds", string> &
  Record<"paused" | "muted", number> &
  Omit<GroupRecord, "tags" | "alertChannelIds" | "dependsOn" | "monitorIds" | "paused" | "muted">;

// A single statement, so that the version matches the members and channels despite concurrent writes.
const groupsSql = `select id, name, description, color, tags, paused, muted, version,
    escalation_policy_id as escalationPolicyId, sla_target as slaTarget, created_at as createdAt, updated_at as updatedAt,
    (select json_group_array(c.channel_id order by c.position) from monitor_group_channels c
      where c.organization_id = g.organization_id and c.group_id = g.id) as alertChannelIds,
    (select json_group_array(d.parent_id order by d.position) from monitor_group_dependencies d
      where d.organization_id = g.organization_id and d.group_id = g.id) as dependsOn,
    (select json_group_array(m.id order by m.position, m.id) from monitors m
      where m.organization_id = g.organization_id and m.group_id = g.id) as monitorIds
  from monitor_groups g where organization_id = ?`;
const orderSql = " order by position, id";

/** Lists all groups of an organization in dashboard order, or only the group with the given ID. */
export async function listGroups(tenant: Tenant, id?: string): Promise<GroupRecord[]> {
  const { store, organizationId } = tenant;
  const limit = limitToGroups(tenant, "id");
  const idCondition =
    id === undefined ? { text: "", parameters: [] } : { text: " and id = ?", parameters: [id] };
  const rows = await store.query<Row>(`${groupsSql}${limit.text}${idCondition.text}${orderSql}`, [
    organizationId,
    ...limit.parameters,
    ...idCondition.parameters,
  ]);
  const groups = rows.map(
    ({ tags, alertChannelIds, dependsOn, monitorIds, paused, muted, ...row }) => ({
      ...row,
      tags: JSON.parse(tags) as string[],
      alertChannelIds: JSON.parse(alertChannelIds) as string[],
      dependsOn: JSON.parse(dependsOn) as string[],
      monitorIds: JSON.parse(monitorIds) as string[],
      paused: paused === 1,
      muted: muted === 1,
    }),
  );
  if (tenant.groupIds == null) return groups;
  const parentIds = [...new Set(groups.flatMap(({ dependsOn }) => dependsOn))];
  const visibleIds = await selectVisibleMonitors(tenant, parentIds);
  return groups.map((group) => ({
    ...group,
    dependsOn: group.dependsOn.filter((parentId) => visibleIds.includes(parentId)),
  }));
}

/** Appends the group to the dashboard order. */
export function insertGroup({ store, organizationId }: Tenant, group: GroupRecord): Statement {
  return store.db.insert(monitorGroups).values({
    ...group,
    organizationId,
    tags: JSON.stringify(group.tags),
    position: sql`(select coalesce(max(position) + 1, 0) from monitor_groups
      where organization_id = ${organizationId})`,
  });
}

/** Replaces the channels that new members get. Channels of current members stay unchanged. */
export function replaceGroupChannels(
  { store, organizationId }: Tenant,
  groupId: string,
  ids: readonly string[],
): Statement[] {
  return replaceLinks(store, monitorGroupChannels, { organizationId, groupId }, "channelId", ids);
}

export function changeGroup({ store, organizationId }: Tenant, group: GroupRecord): Statement {
  return store.db
    .update(monitorGroups)
    .set({ ...group, tags: JSON.stringify(group.tags) })
    .where(matchValues(monitorGroups, { organizationId, id: group.id }));
}

type Owner = { organizationId: string; limits: Limits };

/**
 * Fails the write if a monitor exceeds its limit of alert channels. Must follow the statements that attach
 * channels.
 */
export function guardChannelLimit(
  { organizationId, limits }: Owner,
  monitorIds: readonly string[],
): Statement {
  const name = "alert-channels-of-a-monitor";
  return guard(
    sql`not exists (select 1 from ${buildIdTable(monitorIds)} wanted cross join ${monitorChannels} has
      on has.organization_id = ${organizationId} and has.monitor_id = wanted.value
      group by wanted.value having count(*) > ${limits[name]})`,
    () => overLimitError(limits, name),
  );
}

/** SQL for the position after the last monitor of a group, or of the ungrouped list for null. */
export function buildEndPosition(organizationId: string, groupId: string | null): SQL {
  return sql`select coalesce(max(position) + 1, 0) from monitors
    where organization_id = ${organizationId} and group_id is ${groupId}`;
}

/**
 * Moves monitors into a group, or for null into the ungrouped list. New members get the group's channels and, without
 * their own, its escalation policy. The groups they leave get a new version. Positions follow the order of the IDs, starting at `firstPosition`. With
 * `end`, the positions of current members stay unchanged. Must be followed by `applyPauses`.
 */
export function assignMonitors(
  scope: Owner,
  groupId: string | null,
  monitorIds: readonly string[],
  firstPosition: number | "end",
  at: string,
): Statement[] {
  const { organizationId } = scope;
  const isEnd = firstPosition === "end";
  const matchAmong = (ids: readonly string[]) => sql`organization_id = ${organizationId} and id in (
    select value from ${buildIdTable(ids)})`;
  let position = isEnd ? 0 : firstPosition;
  const joins = splitIntoPortions(monitorIds, (portion) => {
    const joining = sql`select id from ${monitors} where ${matchAmong(portion)} and group_id is not ${groupId}`;
    const start = isEnd ? sql`(${buildEndPosition(organizationId, groupId)})` : sql`${position}`;
    position += portion.length;
    return [
      sql`insert into ${monitorChannels} (organization_id, monitor_id, channel_id, position)
      select ${organizationId}, joining.id, gc.channel_id, 1000 + gc.position
      from (${joining}) joining join monitor_group_channels gc
        on gc.organization_id = ${organizationId} and gc.group_id = ${groupId}
      where true on conflict do nothing`,
      ...(groupId === null ? [] : [guardChannelLimit(scope, portion)]),
      sql`update ${monitors} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (${joining})`,
      // SQLite indexes a materialized list. Otherwise it would parse the list once per monitor.
      sql`with wanted as materialized (select value as id, key as place from ${buildIdTable(portion)})
      update ${monitors} set group_id = ${groupId}, position = ${start} + wanted.place,
        escalation_policy_id = iif(monitors.group_id is ${groupId}, monitors.escalation_policy_id,
          coalesce(monitors.escalation_policy_id, (select g.escalation_policy_id
            from ${monitorGroups} g where g.organization_id = ${organizationId} and g.id = ${groupId})))
      from wanted
      where monitors.organization_id = ${organizationId} and monitors.id = wanted.id
        and (${isEnd ? 0 : 1} or monitors.group_id is not ${groupId})`,
      ...(groupId === null ? [] : [guardNoCycle(organizationId, portion, circleError)]),
    ];
  });
  return [
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id is not ${groupId}
        and id in (select group_id from ${monitors} where ${matchAmong(monitorIds)})`,
    ...joins,
  ];
}

/**
 * Moves all monitors of the group except `stayingIds` to the end of the ungrouped list. Must be followed by
 * `applyPauses`.
 */
export function leaveGroup(
  organizationId: string,
  groupId: string,
  stayingIds: readonly string[],
  at: string,
): Statement {
  return sql`update ${monitors} set group_id = null, version = version + 1, updated_at = ${at},
      position = (${buildEndPosition(organizationId, null)}) + position
    where organization_id = ${organizationId} and group_id = ${groupId}
      and id not in (select value from ${buildIdTable(stayingIds)})`;
}

/** Removes a group. Its monitors become ungrouped. Must be followed by `applyPauses`. */
export const removeGroup = (scope: Tenant & Remover, id: string, at: string): Statement[] => [
  ...copyToDeleted(scope, "group", [id], at),
  leaveGroup(scope.organizationId, id, [], at),
  removeRow(scope, monitorGroups, id),
];

/** Increments the version of a group whose members changed. */
export function touchGroup({ store, organizationId }: Tenant, id: string, at: string): Statement {
  return store.db
    .update(monitorGroups)
    .set({ version: sql`${monitorGroups.version} + 1`, updatedAt: at })
    .where(matchValues(monitorGroups, { organizationId, id }));
}

/** Condition that the list contains every group of the organization. */
export function containsEveryGroup(organizationId: string, groupIds: readonly string[]): SQL {
  return sql`not exists (select 1 from ${monitorGroups} where organization_id = ${organizationId}
    and id not in (select value from ${buildIdTable(groupIds)}))`;
}

/** Sets the position of each group to its position in the list. */
export function replaceOrder(organizationId: string, groupIds: readonly string[]): Statement {
  return sql`with wanted as materialized (select value as id, key as place from ${buildIdTable(groupIds)})
    update ${monitorGroups} set position = wanted.place from wanted
    where monitor_groups.organization_id = ${organizationId} and monitor_groups.id = wanted.id`;
}

/** SQL for monitor states whose `paused` differs from the monitor and its group. */
const buildTurnedSql = (among: string) => `monitor_states where organization_id = ?1
  and ${among} and paused <> (select m.paused or coalesce(g.paused, 0) from monitors m
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    where m.organization_id = ?1 and m.id = monitor_states.monitor_id)`;

const pausedEvent: EventType = "monitor.paused";
const resumedEvent: EventType = "monitor.resumed";

const buildPauseTexts = (among: string) => [
  `insert into events (organization_id, at, type, subject_id)
    select ?1, ?2, case when paused then '${resumedEvent}' else '${pausedEvent}' end, monitor_id
    from ${buildTurnedSql(among)}`,
  `update monitor_states
    set paused = not paused, status = 'pending', since = ?2, failures = 0, epoch = epoch + 1,
      not_judged_since = null, number_level = null
    where key in (select key from ${buildTurnedSql(among)})`,
];
const someTexts = buildPauseTexts("monitor_id in (select value from json_each(?3))");
const rangeTexts = buildPauseTexts("monitor_id >= ?3 and monitor_id < ?4");

/**
 * Updates the states of monitors that this write paused or resumed, also through a group or by a move between
 * groups. Their status becomes pending, and results of running checks are discarded. `monitorIds` must
 * contain all affected monitors. Must be the last part of the write.
 */
export function applyPauses(
  organizationId: string,
  at: string,
  monitorIds: readonly string[],
): Prepared[] {
  return splitIntoPortions(monitorIds, (portion) => {
    const parameters = [organizationId, at, JSON.stringify(portion)];
    return someTexts.map((text) => ({ text, parameters }));
  });
}

const endsSql = `select monitor_id as id from (
    select monitor_id, row_number() over (order by monitor_id) as place from monitor_states
    where organization_id = ?)
  where place % ${portionRows} = 0`;

/**
 * Does the same as `applyPauses` for all monitors of the organization, including the monitors `newIds` that this write
 * creates.
 */
export async function applyAllPauses(
  { store, organizationId }: Tenant,
  at: string,
  newIds: readonly string[] = [],
): Promise<Prepared[]> {
  const found = await store.query<{ id: string }>(endsSql, [organizationId]);
  const newEnds = newIds.filter((_, index) => index % portionRows === 0);
  const rangeEnds = [...found.map(({ id }) => id), ...newEnds, afterAllIds].sort();
  return rangeEnds.flatMap((end, index) => {
    const parameters = [organizationId, at, rangeEnds[index - 1] ?? "", end];
    return rangeTexts.map((text) => ({ text, parameters, rows: portionRows }));
  });
}
