/** Reads the rows of the Monitors page, and the changes for the live stream. */
import { mapYielding, yieldToEventLoop } from "../core/time/event-loop.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { limitMonitors, limitToGroups } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import type { Store } from "../database/store.ts";
import type { StoredStatus } from "../core/statuses.ts";
import { type LoggedEvent, stateTypeList, type StateType } from "../events/catalog.ts";
import type { MonitorStatus } from "../core/statuses.ts";
import { adjustToPresent, hasMessage, determineShownStatus, formatTarget } from "./rules.ts";
import type { ChannelUse, OverviewGroup, OverviewMonitor, SubscriberCount } from "./schema.ts";
import { watchedSql } from "../monitoring/monitors/store.ts";

const buildGroupSql = (
  condition: string,
) => `select g.id, g.name, g.description, g.color, g.tags, g.paused, g.muted, g.version,
    (select json_group_array(c.channel_id order by c.position) from monitor_group_channels c
      where c.organization_id = g.organization_id and c.group_id = g.id) as alertChannelIds
  from monitor_groups g where g.organization_id = ?${condition} order by g.position, g.id`;

type GroupRow = Record<"tags" | "alertChannelIds", string> &
  Record<"paused" | "muted", number> &
  Omit<OverviewGroup, "tags" | "alertChannelIds" | "paused" | "muted">;

/** Reads the groups in dashboard order. */
export async function findOverviewGroups(tenant: Tenant): Promise<OverviewGroup[]> {
  const limit = limitToGroups(tenant, "g.id");
  const rows = await tenant.store.query<GroupRow>(buildGroupSql(limit.text), [
    tenant.organizationId,
    ...limit.parameters,
  ]);
  return rows.map((row) => ({
    ...row,
    tags: JSON.parse(row.tags) as string[],
    alertChannelIds: JSON.parse(row.alertChannelIds) as string[],
    paused: row.paused === 1,
    muted: row.muted === 1,
  }));
}

const monitorColumns = `s.key, m.id, m.name, m.type, m.group_id as groupId, m.tags,
  case when s.paused then 'paused' else s.status end as status, s.since as statusSince,
  s.last_message as lastMessage, s.not_judged_since as notJudgedSince, s.latency_ms as latencyMs, m.paused, m.paused_until as pausedUntil, m.muted,
  m.settings ->> 'url' as url, ${watchedSql} as watched, m.settings ->> 'port' as port, m.created_at as createdAt`;

const monitorsByIdSql = `select ${monitorColumns} from json_each(?) wanted
    cross join monitors m on m.organization_id = ? and m.id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  order by wanted.key`;

type MonitorRow = {
  key: number;
  tags: string;
  paused: number;
  muted: number;
  createdAt: string;
  status: MonitorStatus;
  notJudgedSince: string | null;
} & Record<"url" | "watched", string | null> & { port: number | null } & Omit<
    OverviewMonitor,
    "tags" | "status" | "paused" | "muted" | "target" | keyof RecentFigures
  >;

/** Sums of the last hours and days of a monitor. */
export type RecentFigures = Pick<
  OverviewMonitor,
  "day" | "month" | "spark" | "uptime24h" | "uptime30d" | "since"
>;

/** Rows per query. Other work can run between two queries. */
const rowStride = 500;

/** Reads the rows of these monitors in the given order, without deleted monitors. */
export async function findOverviewMonitors(
  { store, organizationId }: Tenant,
  ids: readonly string[],
  read: (keys: readonly number[]) => Promise<(key: number, createdAt: string) => RecentFigures>,
): Promise<OverviewMonitor[]> {
  const rows: MonitorRow[] = [];
  for (let from = 0; from < ids.length; from += rowStride) {
    if (from > 0) await yieldToEventLoop();
    const portion = JSON.stringify(ids.slice(from, from + rowStride));
    rows.push(...(await store.query<MonitorRow>(monitorsByIdSql, [portion, organizationId])));
  }
  const recentOf = await read(rows.map(({ key }) => key));
  const failingSince = store.writes.getFailingSince();
  return mapYielding(rows, (stored) => {
    const row = adjustToPresent(stored, failingSince);
    const status = determineShownStatus(row);
    const { notJudgedSince, statusSince } = row;
    return {
      id: row.id,
      name: row.name,
      type: row.type,
      groupId: row.groupId,
      tags: row.tags === "[]" ? [] : (JSON.parse(row.tags) as string[]),
      status,
      statusSince: status === "unknown" ? (notJudgedSince ?? statusSince) : statusSince,
      lastMessage: hasMessage(status) ? row.lastMessage : null,
      latencyMs: row.latencyMs,
      paused: row.paused === 1,
      pausedUntil: row.pausedUntil,
      muted: row.muted === 1,
      target: formatTarget(row),
      ...recentOf(row.key, row.createdAt),
    };
  });
}

/** A version that changes with every edit of a row, the time of the last check, and the group. */
type MonitorVersion = { id: string; version: string; checkedAt: string; groupId: string | null };

/** Versions per query. Other work can run between two queries. */
const monitorsPerQuery = 5_000;

const versionSql = `select m.id, m.version || '/' || s.epoch as version,
    coalesce(s.last_checked_at, '') as checkedAt, m.group_id as groupId
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
  where m.organization_id = ? and m.id > ? order by m.id limit ${monitorsPerQuery}`;

export async function findMonitorVersions({
  store,
  organizationId,
}: Tenant): Promise<MonitorVersion[]> {
  const all: MonitorVersion[] = [];
  for (;;) {
    const after = all.at(-1)?.id ?? "";
    const portion = await store.query<MonitorVersion>(versionSql, [organizationId, after]);
    for (const one of portion) all.push(one);
    if (portion.length < monitorsPerQuery) return all;
    await Bun.sleep(0);
  }
}

export type LiveEvent = Pick<LoggedEvent, "seq" | "type" | "subjectId" | "at">;

/** Reads the events of an organization after `seq`, oldest first. */
export function findEventsAfter({ store, organizationId }: Tenant, seq: number, limit: number) {
  return store.query<LiveEvent>(
    `select seq, type, subject_id as subjectId, at from events
     where seq > ? and organization_id = ? order by seq limit ?`,
    [seq, organizationId, limit],
  );
}

export type StateEvent = {
  type: StateType;
  at: string;
  message: string | null;
  /** The previous state and its start; null at the start or end of a pause. */
  before: StoredStatus | null;
  since: string | null;
};

const stateSql = `select type, at, data ->> 'message' as message, data ->> 'before' as before,
    data ->> 'since' as since
  from events where organization_id = ? and subject_id = ? and type in (${stateTypeList})
    and at < coalesce(?, '~')
  order by seq desc limit ?`;

/** Reads the starts of a monitor's states before `to`, newest first. */
export function findStateEvents(
  { store, organizationId }: Tenant,
  monitorId: string,
  { to, limit }: { to: number | undefined; limit: number },
) {
  return store.query<StateEvent>(stateSql, [
    organizationId,
    monitorId,
    to === undefined ? null : formatTimestamp(to),
    limit,
  ]);
}

const tables = {
  monitor: "monitors",
  incident: "incidents",
  "alert-channel": "alert_channels",
  "alert-source": "alert_sources",
  "maintenance-window": "maintenance_windows",
  schedule: "schedules",
  "status-page": "status_pages",
};

/** Finds the organization that has the record; null for none. */
export async function findOwner(
  store: Store,
  organizationIds: readonly string[],
  kind: keyof typeof tables,
  id: string,
): Promise<string | null> {
  const [row] = await store.query<{ organizationId: string }>(
    `select r.organization_id as organizationId from json_each(?) wanted
     cross join ${tables[kind]} r on r.organization_id = wanted.value and r.id = ?`,
    [JSON.stringify(organizationIds), id],
  );
  return row?.organizationId ?? null;
}

const signatureSql = `select c.id, coalesce(c.last_delivery_at, '') || '/' || coalesce(c.last_error, '')
    || '/' || coalesce((select max(d.seq) from deliveries d
      where d.organization_id = c.organization_id and d.receiver_id = c.id), 0)
    || '/' || (select count(*) || '/' || total(w.due_at) from deliveries w
      where w.organization_id = c.organization_id and w.receiver_type = 'channel'
        and w.receiver_id = c.id and w.due_at is not null) as signature
  from alert_channels c where c.organization_id = ? and c.person_id is null`;

type Signature = { id: string; signature: string };

/** Signature of a channel without any deliveries. */
export const neverUsed = "//0/0/0.0";

/** Reads a signature per channel, which changes with its deliveries. */
export function findChannelSignatures({ store, organizationId }: Tenant): Promise<Signature[]> {
  return store.query<Signature>(signatureSql, [organizationId]);
}

const buildUsesSql = (
  monitors: string,
  groups: string,
) => `select channel_id as channelId, sum(monitor) as monitors, sum(1 - monitor) as groups
  from (
    select channel_id, 1 as monitor from monitor_channels where organization_id = ?${monitors}
    union all
    select channel_id, 0 from monitor_group_channels where organization_id = ?${groups})
  group by channel_id`;

/** Counts the monitors and groups of each channel; unused channels are omitted. */
export function countChannelUses(tenant: Tenant): Promise<ChannelUse[]> {
  const { store, organizationId } = tenant;
  const monitors = limitMonitors(tenant);
  const groups = limitToGroups(tenant, "group_id");
  return store.query<ChannelUse>(buildUsesSql(monitors.text, groups.text), [
    organizationId,
    ...monitors.parameters,
    organizationId,
    ...groups.parameters,
  ]);
}

export async function findChannelUsers(tenant: Tenant, channelId: string) {
  const { store, organizationId } = tenant;
  const queryIds = async (text: string, limit: ReturnType<typeof limitToGroups>) => {
    const parameters = [organizationId, channelId, ...limit.parameters];
    const rows = await store.query<{ id: string }>(`${text}${limit.text}`, parameters);
    return rows.map(({ id }) => id);
  };
  const [monitorIds, groupIds] = await Promise.all([
    queryIds(
      "select monitor_id as id from monitor_channels where organization_id = ? and channel_id = ?",
      limitMonitors(tenant),
    ),
    queryIds(
      "select group_id as id from monitor_group_channels where organization_id = ? and channel_id = ?",
      limitToGroups(tenant, "group_id"),
    ),
  ]);
  return { monitorIds, groupIds };
}

const countsSql = `select page_id as pageId, count(confirmed_at) as confirmed,
    count(*) - count(confirmed_at) as pending
  from subscribers where organization_id = ? group by page_id`;

/** Counts the subscribers of each status page; pages without subscribers are omitted. */
export async function countSubscribers({ store, organizationId, groupIds = null }: Tenant) {
  // Callers limited to monitor groups can't see status pages.
  if (groupIds !== null) return [];
  return store.query<SubscriberCount>(countsSql, [organizationId]);
}
