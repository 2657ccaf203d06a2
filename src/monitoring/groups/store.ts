/** Reads and writes monitor groups, their members, and the pauses that members inherit. */
import { type SQL, sql } from "drizzle-orm";
import type { Limits } from "../../core/limits.ts";
import { listed, overLimit } from "../../database/references.ts";
import { matching, replaceLinks, type Tenant } from "../../database/rows.ts";
import { inPortions, must, portion, type Prepared, type Statement } from "../../database/store.ts";
import { monitorChannels, monitorGroupChannels } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import type { MonitorGroup } from "./schema.ts";
import type { EventType } from "../../events/catalogue.ts";

/** A group with the version for its ETag. */
export type GroupRecord = MonitorGroup & { version: number };

type Row = Record<"tags" | "alertChannelIds" | "monitorIds", string> &
  Record<"paused" | "muted", number> &
  Omit<GroupRecord, "tags" | "alertChannelIds" | "monitorIds" | "paused" | "muted">;

// A single statement, so that the version matches the members and channels despite concurrent writes.
const groupsText = `select id, name, description, color, tags, paused, muted, version,
    created_at as createdAt, updated_at as updatedAt,
    (select json_group_array(c.channel_id order by c.position) from monitor_group_channels c
      where c.organization_id = g.organization_id and c.group_id = g.id) as alertChannelIds,
    (select json_group_array(m.id order by m.position, m.id) from monitors m
      where m.organization_id = g.organization_id and m.group_id = g.id) as monitorIds
  from monitor_groups g where organization_id = ?`;
const allText = `${groupsText} order by position, id`;
const oneText = `${groupsText} and id = ?`;

/** Lists all groups of an organization in dashboard order, or only the group with the given ID. */
export async function listGroups(
  { store, organizationId }: Tenant,
  id?: string,
): Promise<GroupRecord[]> {
  const rows = await (id === undefined
    ? store.query<Row>(allText, [organizationId])
    : store.query<Row>(oneText, [organizationId, id]));
  return rows.map(({ tags, alertChannelIds, monitorIds, paused, muted, ...row }) => ({
    ...row,
    tags: JSON.parse(tags) as string[],
    alertChannelIds: JSON.parse(alertChannelIds) as string[],
    monitorIds: JSON.parse(monitorIds) as string[],
    paused: paused === 1,
    muted: muted === 1,
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
export function channelsOfGroup(
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
    .where(matching(monitorGroups, { organizationId, id: group.id }));
}

type Owner = { organizationId: string; limits: Limits };

/**
 * Fails the write if a monitor exceeds its limit of alert channels. Must follow the statements that attach
 * channels.
 */
export function mustHaveFewChannels(
  { organizationId, limits }: Owner,
  monitorIds: readonly string[],
): Statement {
  const name = "alert-channels-of-a-monitor";
  return must(
    sql`not exists (select 1 from ${listed(monitorIds)} wanted cross join ${monitorChannels} has
      on has.organization_id = ${organizationId} and has.monitor_id = wanted.value
      group by wanted.value having count(*) > ${limits[name]})`,
    () => overLimit(limits, name),
  );
}

/** SQL for the position after the last monitor of a group, or of the ungrouped list for null. */
export function endOf(organizationId: string, groupId: string | null): SQL {
  return sql`select coalesce(max(position) + 1, 0) from monitors
    where organization_id = ${organizationId} and group_id is ${groupId}`;
}

/**
 * Moves monitors into a group, or for null into the ungrouped list. New members get the group's channels, and
 * the groups they leave get a new version. Positions follow the order of the IDs, starting at `firstPosition`. With
 * `end`, the positions of current members stay unchanged. Must be followed by `followPauses`.
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
  const among = (ids: readonly string[]) => sql`organization_id = ${organizationId} and id in (
    select value from ${listed(ids)})`;
  let place = isEnd ? 0 : firstPosition;
  const joins = inPortions(monitorIds, (some) => {
    const joining = sql`select id from ${monitors} where ${among(some)} and group_id is not ${groupId}`;
    const start = isEnd ? sql`(${endOf(organizationId, groupId)})` : sql`${place}`;
    place += some.length;
    return [
      sql`insert into ${monitorChannels} (organization_id, monitor_id, channel_id, position)
      select ${organizationId}, joining.id, gc.channel_id, 1000 + gc.position
      from (${joining}) joining join monitor_group_channels gc
        on gc.organization_id = ${organizationId} and gc.group_id = ${groupId}
      where true on conflict do nothing`,
      ...(groupId === null ? [] : [mustHaveFewChannels(scope, some)]),
      sql`update ${monitors} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (${joining})`,
      // SQLite indexes a materialized list. Otherwise it would parse the list once per monitor.
      sql`with wanted as materialized (select value as id, key as place from ${listed(some)})
      update ${monitors} set group_id = ${groupId}, position = ${start} + wanted.place from wanted
      where monitors.organization_id = ${organizationId} and monitors.id = wanted.id
        and (${isEnd ? 0 : 1} or monitors.group_id is not ${groupId})`,
    ];
  });
  return [
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id is not ${groupId}
        and id in (select group_id from ${monitors} where ${among(monitorIds)})`,
    ...joins,
  ];
}

/**
 * Moves all monitors of the group except `stayingIds` to the end of the ungrouped list. Must be followed by
 * `followPauses`.
 */
export function leaveGroup(
  organizationId: string,
  groupId: string,
  stayingIds: readonly string[],
  at: string,
): Statement {
  return sql`update ${monitors} set group_id = null, version = version + 1, updated_at = ${at},
      position = (${endOf(organizationId, null)}) + position
    where organization_id = ${organizationId} and group_id = ${groupId}
      and id not in (select value from ${listed(stayingIds)})`;
}

/** Increments the version of a group whose members changed. */
export function touchGroup({ store, organizationId }: Tenant, id: string, at: string): Statement {
  return store.db
    .update(monitorGroups)
    .set({ version: sql`${monitorGroups.version} + 1`, updatedAt: at })
    .where(matching(monitorGroups, { organizationId, id }));
}

/** Condition that the list contains every group of the organization. */
export function namesEveryGroup(organizationId: string, groupIds: readonly string[]): SQL {
  return sql`not exists (select 1 from ${monitorGroups} where organization_id = ${organizationId}
    and id not in (select value from ${listed(groupIds)}))`;
}

/** Sets the position of each group to its position in the list. */
export function replaceOrder(organizationId: string, groupIds: readonly string[]): Statement {
  return sql`with wanted as materialized (select value as id, key as place from ${listed(groupIds)})
    update ${monitorGroups} set position = wanted.place from wanted
    where monitor_groups.organization_id = ${organizationId} and monitor_groups.id = wanted.id`;
}

/** SQL for monitor states whose `paused` differs from the monitor and its group. */
const turned = (among: string) => `monitor_states where organization_id = ?1
  and ${among} and paused <> (select m.paused or coalesce(g.paused, 0) from monitors m
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
    where m.organization_id = ?1 and m.id = monitor_states.monitor_id)`;

const paused: EventType = "monitor.paused";
const resumed: EventType = "monitor.resumed";

const textsFor = (among: string) => [
  `insert into events (organization_id, at, type, subject_id)
    select ?1, ?2, case when paused then '${resumed}' else '${paused}' end, monitor_id
    from ${turned(among)}`,
  `update monitor_states
    set paused = not paused, status = 'pending', since = ?2, failures = 0, epoch = epoch + 1,
      not_judged_since = null
    where key in (select key from ${turned(among)})`,
];
const ofSome = textsFor("monitor_id in (select value from json_each(?3))");
const ofRange = textsFor("monitor_id >= ?3 and monitor_id < ?4");

/**
 * Updates the states of monitors that this write paused or resumed, also through a group or by a move between
 * groups. Their status becomes pending, and results of running checks are discarded. `monitorIds` must
 * contain all affected monitors. Must be the last part of the write.
 */
export function followPauses(
  organizationId: string,
  at: string,
  monitorIds: readonly string[],
): Prepared[] {
  return inPortions(monitorIds, (some) => {
    const parameters = [organizationId, at, JSON.stringify(some)];
    return ofSome.map((text) => ({ text, parameters }));
  });
}

const endsText = `select monitor_id as id from (
    select monitor_id, row_number() over (order by monitor_id) as place from monitor_states
    where organization_id = ?)
  where place % ${portion} = 0`;

/**
 * Does the same as `followPauses` for all monitors of the organization, including the monitors `newIds` that this write
 * creates.
 */
export async function followAllPauses(
  { store, organizationId }: Tenant,
  at: string,
  newIds: readonly string[] = [],
): Promise<Prepared[]> {
  const found = await store.query<{ id: string }>(endsText, [organizationId]);
  const madeEnds = newIds.filter((_, index) => index % portion === 0);
  const ends = [...found.map(({ id }) => id), ...madeEnds, afterAllIds].sort();
  return ends.flatMap((end, index) => {
    const parameters = [organizationId, at, ends[index - 1] ?? "", end];
    return ofRange.map((text) => ({ text, parameters, rows: portion }));
  });
}

/** Greater than every ID, because IDs are lower-case hexadecimal. */
const afterAllIds = "~";
