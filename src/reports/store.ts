/** Reads the monitors, uptime sums, states and incidents of monthly reports. */
import { sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import { dayMs, hourMs, formatTimestamp } from "../core/time/clock.ts";
import { incidentStatuses } from "../core/statuses.ts";
import { yieldToEventLoop } from "../core/time/event-loop.ts";
import { limitIncidents } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import { guard, type Prepared, type Store } from "../database/store.ts";
import { stateTypeList } from "../events/catalog.ts";
import type { Periods, Seconds, Span, StateStart } from "./rules.ts";
import type { MailSubject, ReportedIncident, SentReport } from "./schema.ts";

export type ReportedMonitor = {
  key: number;
  id: string;
  name: string;
  groupId: string | null;
  createdAt: string;
};

/** Monitors of a report: some groups and single monitors, or null for all of the organization. */
export type WantedMonitors = { groupIds: readonly string[]; monitorIds: readonly string[] } | null;

const buildMonitorSql = (condition: string) => `select s.key, m.id, m.name, m.group_id as groupId,
    m.created_at as createdAt
  from monitors m
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
  where m.organization_id = ?${condition}
  order by g.id is null, g.position, g.id, m.position, m.id`;
const allMonitorsSql = buildMonitorSql("");
const chosenMonitorsSql = buildMonitorSql(` and (m.group_id in (select value from json_each(?))
  or m.id in (select value from json_each(?)))`);

/** Reads the monitors of a report in dashboard order. */
export function findReportedMonitors({ store, organizationId }: Tenant, wanted: WantedMonitors) {
  return wanted === null
    ? store.query<ReportedMonitor>(allMonitorsSql, [organizationId])
    : store.query<ReportedMonitor>(chosenMonitorsSql, [
        organizationId,
        JSON.stringify(wanted.groupIds),
        JSON.stringify(wanted.monitorIds),
      ]);
}

/** Returns the report that a person sent with this delivery; null for a scheduled report. */
export async function findSentReport(
  { store, organizationId }: Tenant,
  deliveryId: string,
): Promise<SentReport | null> {
  const [row] = await store.query<{ report: string | null }>(
    "select report from deliveries where organization_id = ? and id = ?",
    [organizationId, deliveryId],
  );
  return row?.report == null ? null : (JSON.parse(row.report) as SentReport);
}

/** Adds a report to the outbox, once per mailbox. */
export const insertSentReport = (
  { organizationId }: Tenant,
  report: SentReport,
  receiverIds: readonly string[],
): Prepared => ({
  text: `insert into deliveries (organization_id, id, receiver_type, receiver_id, status,
      attempts, scheduled_attempts, due_at, created_at, report)
    select ?, value ->> 0, 'mailbox', value ->> 1, 'sending', 0, 0, ?, ?, ? from json_each(?)`,
  parameters: [
    organizationId,
    report.at,
    formatTimestamp(report.at),
    JSON.stringify(report),
    JSON.stringify(receiverIds.map((id) => [createId(report.at), id])),
  ],
});

/** Guards that the report is not being sent to one of these mailboxes. */
export const guardNotSending = (
  { organizationId }: Tenant,
  { interval, groupId, statusPageId }: MailSubject,
  receiverIds: readonly string[],
) =>
  guard(
    sql`not exists (select 1 from deliveries where receiver_type = 'mailbox'
      and organization_id = ${organizationId}
      and receiver_id in (select value from json_each(${JSON.stringify(receiverIds)}))
      and due_at is not null and report ->> 'interval' = ${interval}
      and report ->> 'groupId' is ${groupId} and report ->> 'statusPageId' is ${statusPageId})`,
    () => new AppError("CONFLICT", "This report is being sent. Wait until it is delivered."),
  );

export function listReportedGroups({ store, organizationId }: Tenant) {
  return store.query<{ id: string; name: string; slaTarget: number | null }>(
    "select id, name, sla_target as slaTarget from monitor_groups where organization_id = ? order by position, id",
    [organizationId],
  );
}

const seconds = (["up", "degraded", "down", "unknown", "maintenance"] as const)
  .map((status) => `sum(${status}_seconds) as ${status}Seconds`)
  .join(", ");
const buildSumSql = (table: "uptime_hours" | "uptime_days", period: "hour" | "day") =>
  `select monitor_key as key, ${seconds}, min(case when up_seconds + degraded_seconds + down_seconds
      + maintenance_seconds > 0 then ${period} end) as first
    from json_each(?) periods cross join json_each(?) keys cross join ${table} sums
      on sums.${period} = periods.value and sums.monitor_key = keys.value
    group by monitor_key`;
const sumTexts = {
  hours: buildSumSql("uptime_hours", "hour"),
  days: buildSumSql("uptime_days", "day"),
};

const daySumSql = `select days.value as day, keys.value as key, up_seconds as upSeconds,
    degraded_seconds as degradedSeconds, down_seconds as downSeconds,
    unknown_seconds as unknownSeconds, maintenance_seconds as maintenanceSeconds
  from json_each(?) days cross join json_each(?) keys cross join uptime_days sums
    on sums.day = days.value and sums.monitor_key = keys.value`;

/** Reads the sums of each of these days and monitors with data. */
export const listDaySums = (store: Store, keys: readonly number[], days: readonly number[]) =>
  store.query<Seconds & { key: number; day: number }>(daySumSql, [
    JSON.stringify(days),
    JSON.stringify(keys),
  ]);

export type MeasuredSeconds = Seconds & { measured: { at: number; length: number } | null };

/** Reads the sums of these periods for each monitor with data. */
export async function sumPeriods(store: Store, keys: readonly number[], periods: Periods) {
  const found = new Map<number, MeasuredSeconds>();
  for (const [unit, length] of [
    ["hours", hourMs],
    ["days", dayMs],
  ] as const) {
    type Row = Seconds & { key: number; first: number | null };
    const parameters = [JSON.stringify(periods[unit]), JSON.stringify(keys)];
    for (const { key, first, ...sums } of await store.query<Row>(sumTexts[unit], parameters)) {
      const begin = first === null ? null : { at: first * length, length };
      const before = found.get(key);
      if (before === undefined) {
        found.set(key, { ...sums, measured: begin });
        continue;
      }
      for (const name of Object.keys(sums) as (keyof Seconds)[]) before[name] += sums[name];
      if (begin !== null && (before.measured === null || begin.at < before.measured.at))
        before.measured = begin;
    }
  }
  await refineFirstHours(store, found);
  return found;
}

const firstHourSql = `select days.value ->> 0 as key, min(hour) as hour
  from json_each(?) days cross join uptime_hours sums
    on sums.monitor_key = days.value ->> 0
      and sums.hour >= days.value ->> 1 and sums.hour < (days.value ->> 1) + 24
  where up_seconds + degraded_seconds + down_seconds + maintenance_seconds > 0
  group by days.value ->> 0`;

/** Replaces a first measured day by its first measured hour, if the hours of that day are still stored. */
async function refineFirstHours(store: Store, found: ReadonlyMap<number, MeasuredSeconds>) {
  const days = [...found].flatMap(([key, { measured }]) =>
    measured?.length === dayMs ? [[key, measured.at / hourMs]] : [],
  );
  if (days.length === 0) return;
  type Row = { key: number; hour: number };
  for (const { key, hour } of await store.query<Row>(firstHourSql, [JSON.stringify(days)])) {
    const sums = found.get(key);
    if (sums !== undefined) sums.measured = { at: hour * hourMs, length: hourMs };
  }
}

/** Returns the start of the retained hours, in Unix milliseconds; null while all are retained. */
export async function findOldestHour(store: Store): Promise<number | null> {
  const [row] = await store.query<{ hour: number | null; day: number | null }>(
    "select (select min(hour) from uptime_hours) as hour, (select min(day) from uptime_days) as day",
    [],
  );
  if (row?.hour == null || row.day == null) return null;
  return (row.day + 1) * dayMs <= row.hour * hourMs ? row.hour * hourMs : null;
}

/** Returns the time of the oldest retained event; null without events. */
export async function findOldestEvent(store: Store): Promise<string | null> {
  const [row] = await store.query<{ at: string }>("select at from events order by seq limit 1", []);
  return row?.at ?? null;
}

const eventColumns = "e.subject_id as id, e.type, e.at, e.data ->> 'message' as message";
const eventsWithinSql = `select ${eventColumns} from json_each(?) wanted cross join events e
    on e.organization_id = ? and e.subject_id = wanted.value and e.type in (${stateTypeList})
  where e.at >= ? and e.at < ? order by e.seq`;
const eventsBeforeSql = `select ${eventColumns} from json_each(?) wanted cross join events e
    on e.seq = (select max(seq) from events where organization_id = ? and subject_id = wanted.value
      and type in (${stateTypeList}) and at < ?)`;

/** Reads the starts of these monitors' states in a range, oldest first, including the state at the start of the range. */
export async function findStates(
  { store, organizationId }: Tenant,
  ids: readonly string[],
  span: Span,
) {
  type Row = { id: string; type: string; at: string; message: string | null };
  const [from, to] = [formatTimestamp(span.from), formatTimestamp(span.to)];
  const idsJson = JSON.stringify(ids);
  const rows = [
    ...(await store.query<Row>(eventsBeforeSql, [idsJson, organizationId, from])),
    ...(await store.query<Row>(eventsWithinSql, [idsJson, organizationId, from, to])),
  ];
  const states = new Map<string, StateStart[]>();
  for (const { id, type, at, message } of rows) {
    const monitorStates = states.get(id) ?? [];
    states.set(id, monitorStates);
    monitorStates.push({ isDown: type === "monitor.down", at: Date.parse(at), message });
  }
  return states;
}

// An incident resolved in the month or later was also updated then, so indexes limit the scan of a million rows.
const openStatuses = incidentStatuses.filter((status) => status !== "resolved");
const incidentSql = `from incidents i
  where i.organization_id = ? and i.id in (
      select id from incidents indexed by incidents_by_change
        where organization_id = ? and updated_at >= ?
      union select id from incidents indexed by incidents_by_state
        where organization_id = ? and status in (${openStatuses.map((one) => `'${one}'`).join(", ")}))
    and i.created_at < ? and (i.resolved_at is null or i.resolved_at > ?)`;

function buildIncidentParameters(organizationId: string, { from, to }: Span) {
  const [begin, end] = [formatTimestamp(from), formatTimestamp(to)];
  return [organizationId, organizationId, begin, organizationId, end, begin];
}

/** Reads the incidents that were open in the range: the newest, their number, and the number per monitor. */
export async function findIncidentsInSpan(
  tenant: Tenant,
  span: Span,
  /** Null for the whole organization, including incidents without a monitor. */
  monitorIds: readonly string[] | null,
  limit: number,
) {
  const { store, organizationId } = tenant;
  const visible = limitIncidents(tenant);
  const monitorMatchSql =
    monitorIds === null
      ? ""
      : ` and exists (select 1 from incident_monitors linked where linked.organization_id = i.organization_id
          and linked.incident_id = i.id and linked.monitor_id in (select value from json_each(?)))`;
  const incidentParameters = buildIncidentParameters(organizationId, span);
  const parameters = [
    ...incidentParameters,
    ...(monitorIds === null ? [] : [JSON.stringify(monitorIds)]),
    ...visible.parameters,
  ];
  const newest = await store.query<ReportedIncident>(
    `select i.id, i.title, i.origin, i.severity, i.status, i.created_at as createdAt, i.resolved_at as resolvedAt
      ${incidentSql}${monitorMatchSql}${visible.text} order by i.id desc limit ?`,
    [...parameters, limit],
  );
  await yieldToEventLoop();
  const [count] = await store.query<{ total: number }>(
    `select count(*) as total ${incidentSql}${monitorMatchSql}${visible.text}`,
    parameters,
  );
  await yieldToEventLoop();
  const each = await store.query<{ monitorId: string; count: number }>(
    `select linked.monitor_id as monitorId, count(*) as count from (select i.id ${incidentSql}) open
      cross join incident_monitors linked
        on linked.organization_id = ? and linked.incident_id = open.id
      group by linked.monitor_id`,
    [...incidentParameters, organizationId],
  );
  await yieldToEventLoop();
  return {
    newest,
    total: count?.total ?? 0,
    ofMonitor: new Map(each.map((one) => [one.monitorId, one.count])),
  };
}

/** Counts the incidents of each group. An incident of several monitors in a group counts once. */
export async function countIncidentsByGroup({ store, organizationId }: Tenant, span: Span) {
  const rows = await store.query<{ groupId: string | null; count: number }>(
    `select m.group_id as groupId, count(distinct linked.incident_id) as count
      from incident_monitors linked
        join monitors m on m.organization_id = linked.organization_id and m.id = linked.monitor_id
      where linked.organization_id = ? and linked.incident_id in (select i.id ${incidentSql})
      group by m.group_id`,
    [organizationId, ...buildIncidentParameters(organizationId, span)],
  );
  return new Map(rows.map((row) => [row.groupId, row.count]));
}
