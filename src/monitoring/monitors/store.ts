/** Reads and writes monitors, their states, channels and tags. */
import { getTableName, type SQL, sql } from "drizzle-orm";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { AppError } from "../../core/errors.ts";
import { formatBound, monitorBounds } from "../../core/limits.ts";
import { guardRoom } from "../../database/file/usage.ts";
import { limitToGroups, selectVisibleMonitors } from "../../database/group-limit.ts";
import { buildIdTable } from "../../database/references.ts";
import {
  prepareColumns,
  matchValues,
  matchReference,
  replaceLinks,
  type Tenant,
} from "../../database/rows.ts";
import { splitIntoPortions, type Parameter, type Statement } from "../../database/store.ts";
import { alertChannels, monitorChannels } from "../../database/tables/alerting.ts";
import { incidentMonitors, incidents } from "../../database/tables/incidents.ts";
import {
  monitorDependencies,
  monitorGroupDependencies,
  monitorGroups,
  monitors,
  monitorStates,
  screenshots,
  uptimeHours,
} from "../../database/tables/monitoring.ts";
import { type Remover, removeRecords } from "../../database/deleted-records.ts";
import type { EventType } from "../../events/catalog.ts";
import { buildEndPosition } from "../groups/store.ts";
import { computeUptime24h } from "../uptime/store.ts";
import { watchedFields } from "./target-rules.ts";

/** SQL for the target of a monitor `m` without a URL. */
export const watchedSql = `coalesce(${watchedFields.map((name) => `m.settings ->> '${name}'`).join(", ")})`;

export type MonitorRow = typeof monitors.$inferSelect;
type StateRow = typeof monitorStates.$inferSelect;
/** Context of a read. The clock determines `uptime24h`. */
export type Reading = Tenant & { clock: Clock };

/** Row of a monitor with related data from other tables. */
export type StoredMonitor = {
  monitor: MonitorRow;
  state: StateRow;
  groupPaused: boolean;
  alertChannelIds: string[];
  dependsOn: string[];
  screenshotAt: string | null;
  uptime24h: number | null;
};

export const groupReference = matchReference(monitors, monitors.groupId, monitorGroups);
export const monitorReference = matchReference(monitorStates, monitorStates.monitorId, monitors);

/** SQL for the current status. A pause of the monitor or its group hides the last result. */
export const currentStatus = sql<string>`case when ${monitorStates.paused}
  then 'paused' else ${monitorStates.status} end`;

// The SQL text is built once. A query builder and its row mapping would take longer than the query.
const monitorColumns = prepareColumns(monitors, "m");
const stateColumns = prepareColumns(monitorStates, "s");
export const monitorsWithStates = `monitors m
  join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id`;
const fromMonitorsSql = `from ${monitorsWithStates}`;
const channelsSql = `(
    select json_group_array(c.channel_id order by c.position, c.channel_id) from monitor_channels c
      where c.organization_id = m.organization_id and c.monitor_id = m.id) as alertChannelIds, (
    select json_group_array(d.parent_id order by d.position) from monitor_dependencies d
      where d.organization_id = m.organization_id and d.monitor_id = m.id) as dependsOn`;
const rowsSql = `select ${monitorColumns.text}, ${stateColumns.text},
    coalesce(g.paused, 0) as groupPaused, ${channelsSql}, (
    select at from screenshots p
      where p.organization_id = m.organization_id and p.monitor_id = m.id) as screenshotAt
  ${fromMonitorsSql} left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** Tables that affect the response for a monitor, directly or by cascading deletions. */
export const monitorTables = [
  monitors,
  monitorStates,
  monitorGroups,
  monitorChannels,
  monitorDependencies,
  alertChannels,
  uptimeHours,
  screenshots,
].map((table) => getTableName(table));

type Row = Record<"alertChannelIds" | "dependsOn", string> & {
  groupPaused: 0 | 1;
  screenshotAt: number | null;
};

/** Lists monitors that match the conditions, newest first. */
export async function selectMonitors(
  reading: Reading,
  conditions: string,
  parameters: readonly Parameter[],
): Promise<StoredMonitor[]> {
  const { store, clock } = reading;
  const rows = await store.query<Row>(
    `${rowsSql} where ${conditions} order by m.id desc limit ? offset ?`,
    parameters,
  );
  const found = rows.map((row) => ({
    monitor: monitorColumns.read(row),
    state: stateColumns.read(row),
    groupPaused: row.groupPaused === 1,
    alertChannelIds: JSON.parse(row.alertChannelIds) as string[],
    dependsOn: JSON.parse(row.dependsOn) as string[],
    screenshotAt: row.screenshotAt === null ? null : formatTimestamp(row.screenshotAt),
  }));
  const uptime24h = await computeUptime24h(
    store,
    found.map(({ state }) => state.key),
    clock(),
  );
  const isShown = await findVisibleParents(reading, found);
  return found.map((one) => ({
    ...one,
    dependsOn: one.dependsOn.filter(isShown),
    uptime24h: uptime24h(one.state.key),
  }));
}

/** Returns whether a monitor on which these depend is visible to the reader. */
async function findVisibleParents(
  tenant: Tenant,
  dependents: readonly { dependsOn: readonly string[] }[],
): Promise<(id: string) => boolean> {
  if (tenant.groupIds == null) return () => true;
  const ids = new Set(dependents.flatMap(({ dependsOn }) => dependsOn));
  const visibleIds = new Set(await selectVisibleMonitors(tenant, [...ids]));
  return (id) => visibleIds.has(id);
}

export async function findMonitor(reading: Reading, id: string): Promise<StoredMonitor | null> {
  const { organizationId } = reading;
  const limit = limitToGroups(reading);
  const parameters = [organizationId, id, ...limit.parameters, 1, 0];
  const conditions = `m.organization_id = ? and m.id = ?${limit.text}`;
  const [found] = await selectMonitors(reading, conditions, parameters);
  return found ?? null;
}

export const bytesSql =
  "octet_length(m.description) + octet_length(m.settings) + octet_length(m.secrets)";
const orderSql = `select m.id, m.name,
    ${bytesSql} as bytes
  from monitors m
  left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
  where m.organization_id = ? order by g.id is null, g.position, g.id, m.position, m.id`;
const monitorsByIdSql = `select ${monitorColumns.text}, ${channelsSql} from json_each(?) wanted
  cross join monitors m on m.organization_id = ? and m.id = wanted.value order by wanted.key`;
/** Monitors per read. Other work can run between two reads. */
const monitorsPerRead = 500;

export type MonitorWithLinks = MonitorRow & Pick<StoredMonitor, "alertChannelIds" | "dependsOn">;

/** Lists all monitors of the organization in dashboard order, ungrouped monitors last. */
export async function listAllMonitors(tenant: Tenant) {
  const names = await listMonitorNames(tenant);
  const ids = names.map(({ id }) => id);
  const all: MonitorWithLinks[] = [];
  for (let from = 0; from < ids.length; from += monitorsPerRead) {
    if (from > 0) await yieldToEventLoop();
    all.push(...(await findMonitorsByIds(tenant, ids.slice(from, from + monitorsPerRead))));
  }
  return all;
}

/** Lists the IDs, names and sizes in bytes of all monitors in dashboard order. */
export const listMonitorNames = ({ store, organizationId }: Tenant) =>
  store.query<{ id: string; name: string; bytes: number }>(orderSql, [organizationId]);

/** Lists the monitors with these IDs, in the given order. */
export async function findMonitorsByIds({ store, organizationId }: Tenant, ids: readonly string[]) {
  const parameters = [JSON.stringify(ids), organizationId];
  const rows = await store.query<Pick<Row, "alertChannelIds" | "dependsOn">>(
    monitorsByIdSql,
    parameters,
  );
  return rows.map((row) => ({
    ...monitorColumns.read(row),
    alertChannelIds: JSON.parse(row.alertChannelIds) as string[],
    dependsOn: JSON.parse(row.dependsOn) as string[],
  }));
}

/** Computes the size of a monitor in bytes, as the triggers of `organization_usage` do. */
export const countStoredBytes = ({ description, settings, secrets }: MonitorRow) =>
  Buffer.byteLength(description) + Buffer.byteLength(settings) + Buffer.byteLength(secrets);

const tooLargeError = () =>
  new AppError(
    "CONFLICT",
    `All monitors of an organization can have at most ${formatBound(monitorBounds.totalSize)} of settings. Remove monitors, or shorten their bodies, headers and variables.`,
  );

/**
 * Fails the write if the monitors of the organization exceed their maximum total size. Must follow the statements that
 * write the monitors.
 */
export const guardMonitorsSize = (organizationId: string) =>
  guardRoom(organizationId, "monitors", { bytes: monitorBounds.totalSize.value }, tooLargeError);

/**
 * Appends the monitor to the ungrouped list. It can join a group afterwards. With `key`, the monitor gets the results
 * that are stored under this key.
 */
export function insertMonitor(
  { store, organizationId }: Tenant,
  monitor: MonitorRow,
  at: string,
  key?: number,
) {
  const { id } = monitor;
  const position = sql<number>`(${buildEndPosition(organizationId, null)})`;
  const state = {
    ...initialState,
    organizationId,
    monitorId: id,
    since: at,
    paused: false,
    epoch: 0,
  };
  return [
    store.db.insert(monitors).values({ ...monitor, groupId: null, position }),
    store.db.insert(monitorStates).values({ ...state, key }),
  ];
}

/** Initial state of a monitor, before its first check. */
export const initialState = {
  status: "pending",
  failures: 0,
  successes: 0,
  lastCheckedAt: null,
  lastMessage: null,
  latencyMs: null,
  certificateExpiresAt: null,
  details: null,
  number: null,
  numberLevel: null,
  notJudgedSince: null,
} as const;

/** Writes the editable fields. The group and position change only by joining or leaving a group. */
export function changeMonitor({ store }: Tenant, monitor: MonitorRow): Statement {
  const { organizationId, id, groupId: _group, position: _position, ...change } = monitor;
  return store.db.update(monitors).set(change).where(matchValues(monitors, { organizationId, id }));
}

/** Replaces the channels of a monitor. */
export function replaceMonitorChannels(
  { store, organizationId }: Tenant,
  monitorId: string,
  ids: readonly string[],
): Statement[] {
  return replaceLinks(store, monitorChannels, { organizationId, monitorId }, "channelId", ids);
}

/** Removes monitors. Their incidents stay and list the remaining monitors. Their history ends with a pause. */
export function removeMonitors(remover: Remover, ids: readonly string[], at: string) {
  const { organizationId } = remover;
  const idsSql = sql`(select value from ${buildIdTable(ids)})`;
  return [
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (select group_id from ${monitors}
        where organization_id = ${organizationId} and id in ${idsSql})`,
    sql`update ${monitors} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (
        select monitor_id from ${monitorDependencies}
        where organization_id = ${organizationId} and parent_id in ${idsSql})`,
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (
        select group_id from ${monitorGroupDependencies}
        where organization_id = ${organizationId} and parent_id in ${idsSql})`,
    sql`update ${incidents} set version = version + 1, updated_at = ${at},
        (monitor_id, monitor_ids) = (
          select all_ids ->> 0, iif(json_array_length(all_ids) > 1, all_ids, null) from (
            select json_group_array(linked.monitor_id order by linked.position) as all_ids
            from ${incidentMonitors} linked where linked.organization_id = incidents.organization_id
              and linked.incident_id = incidents.id and linked.monitor_id not in ${idsSql}))
      where organization_id = ${organizationId} and id in (select incident_id from ${incidentMonitors}
        where organization_id = ${organizationId} and monitor_id in ${idsSql})`,
    ...splitIntoPortions(ids, (portion) => [
      sql`insert into events (organization_id, at, type, subject_id)
        select ${organizationId}, ${at}, ${"monitor.paused" satisfies EventType}, monitor_id
        from ${monitorStates} where organization_id = ${organizationId} and not paused
          and monitor_id in (select value from ${buildIdTable(portion)})`,
    ]),
    ...removeRecords(remover, "monitor", ids, at),
  ];
}

/** Removes the escalation policy from monitors that got it from the group they joined. */
export const removePolicyFrom = ({ organizationId }: Tenant, ids: readonly string[]): Statement =>
  sql`update ${monitors} set escalation_policy_id = null
    where organization_id = ${organizationId} and id in (select value from ${buildIdTable(ids)})`;

/** Lists the IDs of the default channels, oldest first. */
export async function listDefaultChannelIds({ store, organizationId }: Tenant): Promise<string[]> {
  const rows = await store.db
    .select({ id: alertChannels.id })
    .from(alertChannels)
    .where(matchValues(alertChannels, { organizationId, isDefault: true }))
    .orderBy(alertChannels.id);
  return rows.map(({ id }) => id);
}

/** Condition that the list contains every monitor of the group, or of the ungrouped list for null. */
export function containsAllMonitors(
  organizationId: string,
  groupId: string | null,
  monitorIds: readonly string[],
): SQL {
  return sql`not exists (select 1 from ${monitors} where organization_id = ${organizationId}
    and group_id is ${groupId} and id not in (select value from ${buildIdTable(monitorIds)}))`;
}
