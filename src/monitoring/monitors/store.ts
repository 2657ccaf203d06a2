import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Clock } from "../../core/clock.ts";
import { offsetOf } from "../../core/paging.ts";
import { containing, listed } from "../../database/references.ts";
import { matching, naming, replaceLinks, type Tenant } from "../../database/rows.ts";
import type { Statement } from "../../database/store.ts";
import { alertChannels, monitorChannels } from "../../database/tables/alerting.ts";
import { incidentMonitors, incidents } from "../../database/tables/incidents.ts";
import {
  monitorGroups,
  monitors,
  monitorStates,
  removedMonitors,
} from "../../database/tables/monitoring.ts";
import { endOf } from "../groups/store.ts";
import { uptime24hOf } from "../uptime/store.ts";
import type { ChangeOfMany, MonitorQuery } from "./schema.ts";

export type MonitorRow = typeof monitors.$inferSelect;
type StateRow = typeof monitorStates.$inferSelect;
/** Uptime depends on what time it is. */
type Reading = Tenant & { clock: Clock };

/** A monitor's row with what belongs to it in other tables. */
export type StoredMonitor = {
  monitor: MonitorRow;
  state: StateRow;
  groupPaused: boolean;
  alertChannelIds: string[];
  uptime24h: number | null;
};

export const inGroup = naming(monitors, monitors.groupId, monitorGroups);
export const ofMonitor = naming(monitorStates, monitorStates.monitorId, monitors);

/** What a monitor is now: a pause, its own or of its group, hides whatever the last check found. */
export const currentStatus = sql<string>`case when ${monitorStates.paused}
  then 'paused' else ${monitorStates.status} end`;

async function select(
  { store, organizationId, clock }: Reading,
  where: SQL | undefined,
  limit: number,
  offset: number,
): Promise<StoredMonitor[]> {
  const rows = await store.db
    .select({ monitor: monitors, state: monitorStates, groupPaused: monitorGroups.paused })
    .from(monitors)
    .innerJoin(monitorStates, ofMonitor)
    .leftJoin(monitorGroups, inGroup)
    .where(where)
    .orderBy(desc(monitors.id))
    .limit(limit)
    .offset(offset);
  const uptime = uptime24hOf(
    store,
    rows.map(({ state }) => state.key),
    clock(),
  );
  const attached = await store.db
    .select({ monitorId: monitorChannels.monitorId, channelId: monitorChannels.channelId })
    .from(monitorChannels)
    .where(
      and(
        eq(monitorChannels.organizationId, organizationId),
        sql`${monitorChannels.monitorId} in (
          select value from ${listed(rows.map(({ monitor }) => monitor.id))})`,
      ),
    )
    .orderBy(asc(monitorChannels.position), asc(monitorChannels.channelId));
  const channelIds = Map.groupBy(attached, ({ monitorId }) => monitorId);
  const uptime24h = await uptime;
  return rows.map(({ monitor, state, groupPaused }) => ({
    monitor,
    state,
    groupPaused: groupPaused ?? false,
    alertChannelIds: (channelIds.get(monitor.id) ?? []).map(({ channelId }) => channelId),
    uptime24h: uptime24h(state.key),
  }));
}

export async function findMonitor(reading: Reading, id: string): Promise<StoredMonitor | null> {
  const { organizationId } = reading;
  const [found] = await select(reading, matching(monitors, { organizationId, id }), 1, 0);
  return found ?? null;
}

function when(value: string | undefined, condition: (value: string) => SQL): SQL | undefined {
  return value === undefined ? undefined : condition(value);
}

/** One page of an organization's monitors, newest first, and how many there are in all. */
export async function pageOfMonitors(reading: Reading, query: MonitorQuery) {
  const { store, organizationId } = reading;
  const { status, type, groupId, tag, q, paused } = query;
  const where = and(
    matching(monitors, { organizationId, type, groupId, paused: paused && paused === "true" }),
    when(status, (value) => sql`${currentStatus} = ${value}`),
    when(tag, (value) => sql`${value} in (select value from json_each(${monitors.tags}))`),
    when(q, (value) => sql`${monitors.name} like ${containing(value)} escape '\\'`),
  );
  const counted = store.db
    .select({ total: sql<number>`count(*)` })
    .from(monitors)
    .where(where)
    .$dynamic();
  const [found, [count]] = await Promise.all([
    select(reading, where, query.per_page, offsetOf(query)),
    status === undefined ? counted : counted.innerJoin(monitorStates, ofMonitor),
  ]);
  return { monitors: found, total: count?.total ?? 0 };
}

/** Appends the monitor to the ungrouped list, from where it may join a group. */
export function insertMonitor({ store, organizationId }: Tenant, monitor: MonitorRow, at: string) {
  const { id } = monitor;
  const position = sql<number>`(${endOf(organizationId, null)})`;
  const state = { ...unchecked, organizationId, monitorId: id, since: at, paused: false, epoch: 0 };
  return [
    store.db.insert(monitors).values({ ...monitor, groupId: null, position }),
    store.db.insert(monitorStates).values(state),
  ];
}

/** The state of a monitor that was not checked yet. */
export const unchecked = {
  status: "pending",
  failures: 0,
  successes: 0,
  lastCheckedAt: null,
  lastMessage: null,
  latencyMs: null,
  certificateExpiresAt: null,
} as const;

/** Writes what people edit; the group and the place in it change by joining and leaving alone. */
export function changeMonitor({ store }: Tenant, monitor: MonitorRow): Statement {
  const { organizationId, id, groupId: _group, position: _position, ...change } = monitor;
  return store.db.update(monitors).set(change).where(matching(monitors, { organizationId, id }));
}

/** Attaches exactly these channels. */
export function replaceMonitorChannels(
  { store, organizationId }: Tenant,
  monitorId: string,
  ids: readonly string[],
): Statement[] {
  return replaceLinks(store, monitorChannels, { organizationId, monitorId }, "channelId", ids);
}

/** Removes the monitors; their incidents stay and name what is left, their results go later. */
export function removeMonitors(organizationId: string, ids: readonly string[], at: string) {
  const among = sql`(select value from ${listed(ids)})`;
  return [
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (select group_id from ${monitors}
        where organization_id = ${organizationId} and id in ${among})`,
    sql`update ${incidents} set version = version + 1, updated_at = ${at},
        (monitor_id, monitor_ids) = (
          select all_ids ->> 0, iif(json_array_length(all_ids) > 1, all_ids, null) from (
            select json_group_array(its.monitor_id order by its.position) as all_ids
            from ${incidentMonitors} its where its.organization_id = incidents.organization_id
              and its.incident_id = incidents.id and its.monitor_id not in ${among}))
      where organization_id = ${organizationId} and id in (select incident_id from ${incidentMonitors}
        where organization_id = ${organizationId} and monitor_id in ${among})`,
    sql`insert into ${removedMonitors} (key) select key from ${monitorStates}
      where organization_id = ${organizationId} and monitor_id in ${among}`,
    sql`delete from ${monitors} where organization_id = ${organizationId} and id in ${among}`,
  ];
}

/** Ids of the channels that every new monitor gets, oldest first. */
export async function defaultChannelIds({ store, organizationId }: Tenant): Promise<string[]> {
  const rows = await store.db
    .select({ id: alertChannels.id })
    .from(alertChannels)
    .where(matching(alertChannels, { organizationId, isDefault: true }))
    .orderBy(alertChannels.id);
  return rows.map(({ id }) => id);
}

/** Up to so many tags a monitor may have. */
const maxTags = 10;

/** Holds when no monitor of the group, or of the ungrouped list for null, is missing among these. */
export function namesAllOf(
  organizationId: string,
  groupId: string | null,
  monitorIds: readonly string[],
): SQL {
  return sql`not exists (select 1 from ${monitors} where organization_id = ${organizationId}
    and group_id is ${groupId} and id not in (select value from ${listed(monitorIds)}))`;
}

function isAmong(organizationId: string, ids: readonly string[]): SQL {
  return sql`organization_id = ${organizationId} and id in (select value from ${listed(ids)})`;
}

/** A monitor's tags without some and with others behind them, each with its place. */
function tagsAfter(remove: readonly string[], add: readonly string[]): SQL {
  return sql`select tag, min(place) as place from (
      select value as tag, key as place from json_each(monitors.tags)
        where value not in (select value from ${listed(remove)})
      union all select value, 1000 + key from ${listed(add)})
    group by tag`;
}

/** Holds when none of the monitors gets too many tags by that. */
export function fitsTags(
  organizationId: string,
  ids: readonly string[],
  remove: readonly string[],
  add: readonly string[],
): SQL {
  return sql`not exists (select 1 from ${monitors} where ${isAmong(organizationId, ids)}
    and (select count(*) from (${tagsAfter(remove, add)})) > ${maxTags})`;
}

type TagChange = { remove: readonly string[]; add: readonly string[] };

/** Writes what many monitors take alike; absent fields keep their value. */
export function changeMonitors(
  organizationId: string,
  ids: readonly string[],
  { paused, muted, tags }: Pick<ChangeOfMany, "paused" | "muted"> & { tags: TagChange | undefined },
  at: string,
): Statement {
  const columns = [
    sql`version = version + 1, updated_at = ${at}`,
    ...(paused === undefined ? [] : [sql`paused = ${Number(paused)}`]),
    ...(muted === undefined ? [] : [sql`muted = ${Number(muted)}`]),
    ...(tags === undefined
      ? []
      : [
          sql`tags = (select json_group_array(tag order by place)
            from (${tagsAfter(tags.remove, tags.add)}))`,
        ]),
  ];
  return sql`update ${monitors} set ${sql.join(columns, sql`, `)}
    where ${isAmong(organizationId, ids)}`;
}

export function detachChannels(
  organizationId: string,
  ids: readonly string[],
  channelIds: readonly string[],
): Statement {
  return sql`delete from ${monitorChannels} where organization_id = ${organizationId}
    and monitor_id in (select value from ${listed(ids)})
    and channel_id in (select value from ${listed(channelIds)})`;
}

/** Attaches the channels behind those that a monitor has. */
export function attachChannels(
  organizationId: string,
  ids: readonly string[],
  channelIds: readonly string[],
): Statement {
  return sql`insert into ${monitorChannels} (organization_id, monitor_id, channel_id, position)
    select ${organizationId}, m.value, c.value, c.key + (
      select coalesce(max(position) + 1, 0) from monitor_channels has
      where has.organization_id = ${organizationId} and has.monitor_id = m.value)
    from ${listed(ids)} m cross join ${listed(channelIds)} c
    where true on conflict do nothing`;
}
