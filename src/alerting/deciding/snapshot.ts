/** Reads the database state on which decisions about one organization are based. */
import type { Cause } from "../../core/causes.ts";
import type { Store } from "../../database/store.ts";
import type { alertChannels } from "../../database/tables/alerting.ts";
import { parseNotifyOn, parseQuietHours } from "../channels/rules.ts";
import type { MessageKind, QuietHours } from "../channels/routing-schema.ts";
import type { OpenCase } from "./cases.ts";
import { formatTarget } from "../../monitoring/monitors/rules.ts";
import { watchedSql } from "../../monitoring/monitors/store.ts";
import { type MonitorColumns, parseMonitorIds } from "../../incidents/store.ts";
import type { Alert, AlertedMonitor } from "../alert.ts";
import { cutText } from "../sending/messages.ts";
import { patienceSql } from "../store.ts";
import type { CertificateMemory, Memory, NotifiedState } from "./rules.ts";
import { emptyHistory } from "./rules.ts";
import type { Tenant } from "../../database/rows.ts";
import { listPolicies, type PolicyRecord } from "../policies/store.ts";
import { findOnCall } from "../schedules/rules.ts";
import { loadSchedules, loadUpcomingShifts, type UpcomingShifts } from "../schedules/store.ts";
import type { Priority } from "../../core/statuses.ts";
import type { Contact, EscalationFacts } from "./escalation-rules.ts";
import type { Ancestor, AlertHold } from "./holding-rules.ts";
import type { OpenRecord } from "../records/rules.ts";
import { parseRuns } from "../records/store.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** The state on which decisions about one organization are based, read at one time. */
export type Snapshot = {
  organizationId: string;
  monitors: ReadonlyMap<string, WatchedMonitor>;
  incidents: ReadonlyMap<string, IncidentView>;
  /** Problems that sources reported. */
  sourceAlerts: ReadonlyMap<string, SourceAlertView>;
  channels: ReadonlyMap<string, ChannelView>;
  /** Notified state by subject, then by channel. */
  notified: Map<string, Map<string, NotifiedAlert>>;
  memories: Map<string, StoredMemory>;
  /** Digests that accept further alerts, by channel. */
  gathering: Map<string, PendingDigest>;
  /** Waiting digests that quiet hours hold. */
  quiet: Map<string, PendingDigest>;
  /** Deliveries that quiet hours hold. */
  quietIds: Set<string>;
  /** Messages that quiet hours hold, by alert. */
  held: Map<string, HeldMessage[]>;
  /** Last delivery about each open alert that is decided again: by alert, then by channel. */
  lastDeliveryIds: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Open cases by subject. */
  cases: Map<string, OpenCase[]>;
  /** Open alerts by subject. */
  records: Map<string, OpenRecord[]>;
  /** All escalation policies of the organization. */
  policies: readonly PolicyRecord[];
  /** People and channels that steps of policies reach now. Empty without a due step. */
  escalation: EscalationFacts;
  /** Schedules with notices that are due. */
  shifts: ReadonlyMap<string, UpcomingShifts>;
  /** The monitors on which each monitor depends, directly or through others. */
  ancestors: ReadonlyMap<string, readonly Ancestor[]>;
  /** Number of monitors that depend on each monitor, directly or through others. */
  dependents: ReadonlyMap<string, number>;
  /** Monitors behind which alerts are held. */
  holding: Set<string>;
  /** Monitors whose alerts belong to the alert of another monitor, ordered by that monitor and by ID. */
  joined: Map<string, Map<string, JoinedMonitor>>;
  /** Whether outages with a common cause are one alert. */
  canJoin: boolean;
};

/** A monitor whose alert belongs to that of another one, and what both have in common. */
export type JoinedMonitor = { id: string; name: string; cause: Cause };

export type WatchedMonitor = Required<AlertedMonitor> & {
  muted: boolean;
  groupMuted: boolean;
  paused: boolean;
  groupPaused: boolean;
  status: StoredStatus;
  since: string;
  lastMessage: string | null;
  lastCheckedAt: string | null;
  /** Number of consecutive failed checks. */
  failures: number;
  /** Number of consecutive successful checks while the monitor is still down. */
  successes: number;
  intervalSeconds: number;
  /** Longest time in milliseconds until its checks show a change. */
  patienceMs: number;
  /** RFC 3339. Start of the time without a verdict; null if the last check had one. */
  notJudgedSince: string | null;
  latencyMs: number | null;
  reminderSeconds: number | null;
  priority: Priority;
  escalationPolicyId: string | null;
  certificateExpiresAt: string | null;
  certificateExpiryDays: number | null;
  /** Alert channels in display order, enabled or not. */
  channelIds: string[];
};

type IncidentView = {
  id: string;
  title: string;
  severity: "minor" | "major" | "critical";
  origin: "manual" | "monitor";
  monitorId: string | null;
  monitorIds: string[];
  updates: ReadonlyMap<string, { status: string; message: string }>;
  /** Channels of the alert source that opened it; empty for any other incident. */
  sourceChannelIds: string[];
};

/** A problem that a source reported, with the settings of the source. */
export type SourceAlertView = {
  id: string;
  /** Priority of the last report, or of the source. */
  priority: Priority;
  sourceId: string;
  sourceName: string;
  sourceType: string;
  enabled: boolean;
  escalationPolicyId: string | null;
  /** Alert channels of the source in their order, enabled or not. */
  channelIds: string[];
};

type ChannelColumns = Pick<
  typeof alertChannels.$inferSelect,
  | "id"
  | "name"
  | "type"
  | "enabled"
  | "isDefault"
  | "incidents"
  | "personId"
  | "notifyOn"
  | "quietHours"
>;

type ChannelView = Omit<ChannelColumns, "notifyOn" | "quietHours"> & Routing;

/** Which messages a channel gets, and when. */
type Routing = { notifyOn: readonly MessageKind[]; quietHours: QuietHours | null };

/** Returns the channels that are not contact methods of people. Only escalation notifies people. */
export const listOrdinaryChannels = ({ channels }: Pick<Snapshot, "channels">): ChannelView[] =>
  [...channels.values()].filter(({ personId }) => personId === null);

export type NotifiedAlert = {
  state: NotifiedState;
  since: string;
  /** The last notification that arrived, and pending ones. */
  notifications: readonly Notification[];
};

/** A delivery and the state that it reports. */
type Notification = readonly [deliveryId: string, state: NotifiedState];
export type StoredMemory = Memory & {
  certificate: CertificateMemory;
  /** A held outage: its start in Unix milliseconds, and the monitor that it waits for. */
  held: HeldOutage | null;
  /** When the channels are notified of the alerts that belong to this one, in Unix milliseconds. */
  joinedDueAt: number | null;
};
/** `cause` is what both have in common if the alert belongs to the other one; null for a dependency. */
export type HeldOutage = AlertHold & { since: number; cause: Cause | null };

export type PendingDigest = {
  id: string;
  /** Number of its alerts that are sent. */
  alerts: number;
  /** Position of the next alert. */
  position: number;
  /** Encoded size in bytes; null if it was not measured. */
  bytes: number | null;
  /** Unix milliseconds. */
  createdAt: number;
  dueAt: number;
};

/** A message that quiet hours of a channel hold. */
export type HeldMessage = {
  channelId: string;
  alert: Alert;
  deliveryId: string;
  position: number;
};

/** Whether the message of a policy or an ordinary one is meant. Both can be held for one channel. */
export const isEscalation = ({ data }: Alert): boolean => data.escalation !== undefined;

type Flags<T, K extends keyof T> = Omit<T, K> & Record<K, number>;
type MonitorRow = Flags<
  Omit<WatchedMonitor, "channelIds" | "target" | "tags">,
  "muted" | "groupMuted" | "paused" | "groupPaused"
> & { tags: string; url: string | null; watched: string | null; port: number | null };

const monitorSql = `select m.id, m.name, m.type, m.group_id as groupId, g.name as groupName, m.tags,
    m.description, m.settings ->> 'url' as url, ${watchedSql} as watched,
    m.settings ->> 'port' as port, m.muted,
    coalesce(g.muted, 0) as groupMuted, m.paused, coalesce(g.paused, 0) as groupPaused, s.status,
    s.since, s.last_message as lastMessage, s.last_checked_at as lastCheckedAt, s.failures, s.successes,
    m.interval_seconds as intervalSeconds, ${patienceSql} as patienceMs,
    s.not_judged_since as notJudgedSince, s.latency_ms as latencyMs,
    m.reminder_interval_seconds as reminderSeconds, m.priority,
    m.escalation_policy_id as escalationPolicyId,
    s.certificate_expires_at as certificateExpiresAt,
    json_extract(m.settings, '$.certificateExpiryDays') as certificateExpiryDays
  from json_each(?) wanted cross join monitors m on m.organization_id = ? and m.id = wanted.value
    join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** The monitors on which these depend directly. A composite monitor is replaced by its members. */
const parentIdsSql = `with own as (select m.id, m.group_id from json_each(?1) w
    cross join monitors m on m.organization_id = ?2 and m.id = w.value and m.type <> 'composite'
    where exists (select 1 from monitor_dependencies where organization_id = ?2)
      or exists (select 1 from monitor_group_dependencies where organization_id = ?2))
  select m.id, d.parent_id as parentId from own m
    cross join monitor_dependencies d on d.organization_id = ?2 and d.monitor_id = m.id
  union all select m.id, d.parent_id from own m
    cross join monitor_group_dependencies d on d.organization_id = ?2 and d.group_id = m.group_id`;

/** The states of monitors on which others depend. Many depend on the same. */
const parentSql = `select m.id, m.name, s.status, s.since, s.last_checked_at as lastCheckedAt, s.failures,
    ${patienceSql} as patienceMs,
    not s.paused and not m.muted and not coalesce(g.muted, 0) and (
      exists (select 1 from monitor_channels c join alert_channels h
        on h.organization_id = c.organization_id and h.id = c.channel_id and h.enabled
        where c.organization_id = ?2 and c.monitor_id = m.id)
      or exists (select 1 from escalation_policies p join escalation_targets t
        on t.organization_id = p.organization_id and t.policy_id = p.id
        where p.organization_id = ?2 and iif(m.escalation_policy_id is null, p.is_default,
          p.id = m.escalation_policy_id))) as notifies
  from json_each(?1) w cross join monitors m on m.organization_id = ?2 and m.id = w.value
    cross join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id`;

/** Number of monitors behind each of these that is down. */
const dependentsSql = `with recursive down (start, id) as (
    select s.monitor_id, s.monitor_id from json_each(?1) w cross join monitor_states s
      on s.organization_id = ?2 and s.monitor_id = w.value and s.status = 'down'
    union select down.start, d.monitor_id from down
      cross join monitor_dependencies d indexed by monitor_dependencies_by_parent
        on d.organization_id = ?2 and d.parent_id = down.id
      cross join monitors m on m.organization_id = ?2 and m.id = d.monitor_id and m.type <> 'composite'
    union select down.start, m.id from down
      cross join monitor_group_dependencies d indexed by monitor_group_dependencies_by_parent
        on d.organization_id = ?2 and d.parent_id = down.id
      cross join monitors m on m.organization_id = ?2 and m.group_id = d.group_id
        and m.type <> 'composite')
  select start as id, count(*) as number from down where id <> start group by start`;

const holdingSql = `select distinct a.held_behind as id from json_each(?) w
  cross join alert_memory a indexed by alert_memory_held on a.organization_id = ? and a.held_behind = w.value`;

const joinedSql = `select a.held_behind as leaderId, a.held_cause as cause, m.id, m.name
  from json_each(?) w cross join alert_memory a indexed by alert_memory_held
    on a.organization_id = ? and a.held_behind = w.value and a.held_cause is not null
  cross join monitors m on m.organization_id = a.organization_id and m.id = a.monitor_id
  order by a.held_since, m.id`;

const canJoinSql = `select one_alert_per_cause as canJoin from organization_settings
  where organization_id = ?`;

const attachedSql = `select c.monitor_id as monitorId, c.channel_id as channelId
  from json_each(?) wanted cross join monitor_channels c
    on c.organization_id = ? and c.monitor_id = wanted.value
  order by c.position`;

const channelSql = `select c.id, iif(p.id is null, c.name, p.name || ': ' || c.name) as name, c.type,
    c.enabled, c.is_default as isDefault, c.incidents, c.person_id as personId,
    c.notify_on as notifyOn, c.quiet_hours as quietHours
  from alert_channels c left join people p on p.id = c.person_id
  where c.organization_id = ? order by c.id`;

const notifiedSql = `select o.subject_id as subjectId, o.channel_id as channelId, o.since,
    (select json_group_array(json_array(t.value ->> 0, t.value ->> 1, d.status) order by t.key)
      from json_each(o.notifications) t left join deliveries d
        on d.organization_id = o.organization_id and d.id = t.value ->> 0) as notifications
  from json_each(?) wanted cross join open_alerts o
    on o.organization_id = ? and o.subject_id = wanted.value`;

const memorySql = `select a.monitor_id as monitorId, a.changes, a.flapping_since as flappingSince,
    a.remind_at as remindAt, a.certificate_expires_at as expiresAt, a.certificate_days as days,
    a.held_since as heldSince, a.held_behind as heldBehind, a.held_until as heldUntil,
    a.held_cause as heldCause, a.joined_due_at as joinedDueAt
  from json_each(?) wanted cross join alert_memory a
    on a.organization_id = ? and a.monitor_id = wanted.value`;

const gatheringSql = `select d.receiver_id as channelId, d.id, d.due_at as dueAt,
    d.created_at as createdAt, d.bytes, coalesce(d.quiet, 0) as quiet,
    (select max(position) + 1 from delivery_alerts a
      where a.organization_id = d.organization_id and a.delivery_id = d.id) as position,
    (select count(*) from delivery_alerts a where a.organization_id = d.organization_id
      and a.delivery_id = d.id and not a.withheld) as alerts
  from deliveries d indexed by deliveries_pending
  where d.receiver_type = 'channel' and d.organization_id = ? and d.due_at is not null
    and d.status = 'gathering'
  order by d.seq`;

/** Deliveries about the open alerts of these subjects; further conditions on `d` follow. */
const openDeliveries = `from json_each(?) wanted
    cross join alert_records r indexed by alert_records_open
      on r.organization_id = ? and r.subject_id = wanted.value and r.resolved_at is null
    cross join alerts a on a.organization_id = r.organization_id and a.record_id = r.id
    cross join delivery_alerts t on t.organization_id = a.organization_id and t.alert_id = a.id
      and not t.withheld
    cross join deliveries d on d.organization_id = t.organization_id and d.id = t.delivery_id`;

/** Messages about the alerts of these subjects that quiet hours hold. */
const heldAlertsSql = `select d.receiver_id as channelId, a.record_id as recordId, t.position,
    d.id as deliveryId, a.id as alertId, a.type, a.at, a.data
  ${openDeliveries}
      and d.due_at is not null and d.quiet`;

/** The last deliveries about the open alerts of these subjects that arrived or are on their way, by channel. */
const openDeliveriesSql = `select r.id as recordId, d.receiver_id as channelId, max(d.id) as deliveryId
  ${openDeliveries}
      and d.status not in ('failed', 'skipped')
  group by r.id, d.receiver_id`;

const casesSql = `select c.channel_id as channelId, c.subject_id as subjectId, c.problem, c.key,
    c.alert_id as alertId, coalesce(c.acknowledged, 0) as acknowledged
  from json_each(?) wanted cross join open_cases c indexed by open_cases_by_subject
    on c.organization_id = ? and c.subject_id = wanted.value`;

const recordsSql = `select r.id, r.family, r.subject_id as subjectId, r.type, r.since, r.priority,
    r.acknowledged_at as acknowledgedAt, r.snoozed_until as snoozedUntil, r.policy_id as policyId,
    r.step, r.round, r.due_at as dueAt, r.escalated_from as escalatedFrom, r.runs, r.version, r.data,
    r.family = 'drill' and exists (select 1 from alerts a
      cross join delivery_alerts t on t.organization_id = a.organization_id and t.alert_id = a.id
        and not t.withheld
      cross join deliveries d on d.organization_id = a.organization_id and d.id = t.delivery_id
        and d.status = 'delivered'
      where a.organization_id = r.organization_id and a.record_id = r.id) as isReached,
    case when r.acknowledged_at is not null then (
      select json_group_array(k.actor_name order by k.at, k.actor_name) from alert_acknowledgments k
      where k.organization_id = r.organization_id and k.record_id = r.id) end as acknowledgedBy
  from json_each(?) wanted cross join alert_records r indexed by alert_records_open
    on r.organization_id = ? and r.subject_id = wanted.value and r.resolved_at is null`;

const incidentSql = `select i.id, i.title, i.severity, i.origin, i.monitor_id as monitorId,
    i.monitor_ids as monitorIds
  from json_each(?) wanted cross join incidents i
    on i.organization_id = ? and i.id = wanted.value`;

const sourceChannelsSql = `(select json_group_array(c.channel_id order by c.position)
  from alert_source_channels c
  where c.organization_id = a.organization_id and c.source_id = a.source_id)`;

const sourceAlertSql = `select a.id, a.content ->> '$.priority' as priority,
    a.source_id as sourceId, s.name as sourceName, s.type as sourceType, s.enabled,
    s.escalation_policy_id as escalationPolicyId, ${sourceChannelsSql} as channelIds
  from json_each(?) wanted cross join source_alerts a
    on a.organization_id = ? and a.id = wanted.value
  cross join alert_sources s on s.organization_id = a.organization_id and s.id = a.source_id`;

const sourceOfIncidentSql = `select a.incident_id as id, ${sourceChannelsSql} as channelIds
  from json_each(?) wanted cross join source_alerts a indexed by source_alerts_by_incident
    on a.organization_id = ? and a.incident_id = wanted.value`;

const updateSql = `select u.incident_id as incidentId, u.id, u.status, u.message
  from json_each(?) wanted cross join incident_updates u
    on u.organization_id = ? and u.incident_id = wanted.value`;

/** The subjects that a snapshot contains. */
export type SnapshotScope = {
  monitorIds: readonly string[];
  incidentIds: readonly string[];
  /** Whether steps of policies are due at `now`, in Unix milliseconds. */
  escalates?: boolean;
  /** Schedules whose shifts are examined for notices. */
  scheduleIds?: readonly string[];
  /** Whether an alert can belong to the alert of another monitor. */
  joins?: boolean;
  /** Whether open alerts are decided again for channels that don't know of them. */
  decidesAgain?: boolean;
  now?: number;
};
type QueryRows = <Row>(text: string, ids?: readonly string[]) => Promise<Row[]>;

/** Reads these monitors and incidents, their recipients, and their earlier notifications. */
export async function loadSnapshot(
  store: Store,
  organizationId: string,
  { monitorIds, incidentIds, escalates = false, scheduleIds = [], ...wanted }: SnapshotScope,
): Promise<Snapshot> {
  // A batch often has several events about one subject. Each subject is read once.
  const queryRows: QueryRows = (text, ids) =>
    store.query(text, [
      ...(ids === undefined ? [] : [JSON.stringify([...new Set(ids)])]),
      organizationId,
    ]);
  const { joins = false, decidesAgain = false, now = 0 } = wanted;
  const incidents = await readIncidents(queryRows, incidentIds);
  // Automatic incidents follow the mute setting and channels of their monitor.
  const incidentMonitorIds = incidents.flatMap(({ monitorId }) =>
    monitorId === null ? [] : [monitorId],
  );
  const subjectIds = [...monitorIds, ...incidentIds];
  const [monitors, channels, notifiedRows, memories, gathering, cases, records, ...others] =
    await Promise.all([
      readMonitors(queryRows, [...monitorIds, ...incidentMonitorIds]),
      queryRows<ChannelRow>(channelSql),
      queryRows<NotifiedRow>(notifiedSql, subjectIds),
      queryRows<MemoryRow>(memorySql, monitorIds),
      queryRows<GatheringRow>(gatheringSql),
      queryRows<Flags<OpenCase, "acknowledged">>(casesSql, subjectIds),
      queryRows<RecordRow>(recordsSql, subjectIds),
      readDependencies(queryRows, monitorIds),
      queryRows<SourceAlertRow>(sourceAlertSql, incidentIds),
      listPolicies({ store, organizationId }),
      joins ? queryRows<{ canJoin: number }>(canJoinSql) : [],
    ]);
  const [dependencies, sourceAlerts, policies, [setting]] = others;
  return {
    organizationId,
    monitors: indexById(monitors),
    incidents: indexById(incidents),
    sourceAlerts: indexById(sourceAlerts.map(parseSourceAlert)),
    channels: indexById(channels.map(toChannelView)),
    notified: new Map(
      [...Map.groupBy(notifiedRows, ({ subjectId }) => subjectId)].map(([subjectId, rows]) => [
        subjectId,
        new Map(rows.flatMap(parseNotified)),
      ]),
    ),
    memories: new Map(memories.map((row) => [row.monitorId, parseMemory(row)])),
    ...(await indexDigests(queryRows, gathering, subjectIds)),
    lastDeliveryIds: decidesAgain ? await readKnowledge(queryRows, subjectIds) : new Map(),
    cases: Map.groupBy(
      cases.map((one) => ({ ...one, acknowledged: one.acknowledged === 1 })),
      ({ subjectId }) => subjectId,
    ),
    records: Map.groupBy(records.map(parseRecord), ({ subjectId }) => subjectId),
    policies,
    escalation: escalates
      ? (await loadEscalation({ store, organizationId }, policies, now))(now)
      : noEscalation,
    shifts: await loadUpcomingShifts({ store, organizationId }, scheduleIds, now),
    canJoin: setting?.canJoin === 1,
    ...dependencies,
  };
}

const noEscalation: EscalationFacts = {
  at: 0,
  people: new Map(),
  schedules: new Map(),
  channels: new Map(),
};

type ContactRow = Omit<Flags<Contact, "enabled" | "isDefault">, "quietHours"> & {
  quietHours: string | null;
};
const contactSql = `select id, name, enabled, person_id as personId, verified_at as verifiedAt,
    after_minutes as afterMinutes, critical_after_minutes as criticalAfterMinutes,
    is_default as isDefault, quiet_hours as quietHours
  from alert_channels where organization_id = ? order by id`;
const peopleSql = `select p.id, p.name from memberships m join people p on p.id = m.person_id
  where m.organization_id = ?`;

/**
 * Reads whom these policies reach between two times, in Unix milliseconds. Returns a function that
 * can be called for any time between them.
 */
export async function loadEscalation(
  tenant: Tenant,
  policies: readonly Pick<PolicyRecord, "steps">[],
  from: number,
  until = from + 1,
): Promise<(at: number) => EscalationFacts> {
  const targets = policies.flatMap(({ steps }) => steps.flatMap((step) => step.targets));
  const scheduleIds = targets.filter(({ type }) => type === "schedule").map(({ id }) => id);
  const { store, organizationId } = tenant;
  const [schedules, contacts, people] = await Promise.all([
    loadSchedules(tenant, [...new Set(scheduleIds)], from, until),
    store.query<ContactRow>(contactSql, [organizationId]),
    store.query<{ id: string; name: string }>(peopleSql, [organizationId]),
  ]);
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const channels = indexById(
    contacts.map((row) => ({
      ...row,
      enabled: row.enabled === 1,
      isDefault: row.isDefault === 1,
      quietHours: parseQuietHours(row.quietHours),
    })),
  );
  const byId = indexById(schedules);
  return (at) => ({
    at,
    people: names,
    schedules: {
      // Only on access: a step names few of the schedules.
      get(id) {
        const schedule = byId.get(id);
        if (schedule === undefined) return undefined;
        return { name: schedule.name, personId: findOnCall(schedule, at)?.personId ?? null };
      },
    },
    channels,
  });
}

type ParentRow = Omit<Ancestor, "since" | "lastCheckedAt" | "notifies"> & {
  since: string;
  lastCheckedAt: string | null;
  notifies: number;
};

type JoinedRow = { leaderId: string; id: string; name: string; cause: string };

async function readDependencies(read: QueryRows, monitorIds: readonly string[]) {
  const [ancestors, dependents, holding, joined] = await Promise.all([
    readAncestors(read, monitorIds),
    read<{ id: string; number: number }>(dependentsSql, monitorIds),
    read<{ id: string }>(holdingSql, monitorIds),
    read<JoinedRow>(joinedSql, monitorIds),
  ]);
  return {
    ancestors,
    dependents: new Map(dependents.map(({ id, number }) => [id, number])),
    holding: new Set(holding.map(({ id }) => id)),
    joined: new Map(
      [...Map.groupBy(joined, ({ leaderId }) => leaderId)].map(([leaderId, rows]) => [
        leaderId,
        indexById(
          rows.map(({ id, name, cause }) => ({ id, name, cause: JSON.parse(cause) as Cause })),
        ),
      ]),
    ),
  };
}

/** Reads all monitors on which each of these depends, directly or through others. */
async function readAncestors(read: QueryRows, monitorIds: readonly string[]) {
  const parentIds = await readParentIds(read, monitorIds);
  if (parentIds.size === 0) return new Map<string, Ancestor[]>();
  const rows = await read<ParentRow>(parentSql, [...parentIds.values()].flat());
  const parents = indexById(
    rows.map(({ since, lastCheckedAt, notifies, ...row }): Ancestor => ({
      ...row,
      since: Date.parse(since),
      lastCheckedAt: lastCheckedAt === null ? 0 : Date.parse(lastCheckedAt),
      notifies: notifies === 1,
    })),
  );
  const found = new Map<string, Ancestor[]>();
  for (const id of monitorIds) {
    const ids = new Set(parentIds.get(id));
    // The loop also visits the parents that it adds.
    for (const one of ids) for (const next of parentIds.get(one) ?? []) ids.add(next);
    if (ids.size > 0)
      found.set(
        id,
        [...ids].flatMap((one) => parents.get(one) ?? []),
      );
  }
  return found;
}

/** Reads the direct parents of these monitors, and those of their parents, up to the top. */
async function readParentIds(read: QueryRows, monitorIds: readonly string[]) {
  const parentIds = new Map<string, string[]>();
  const visited = new Set<string>();
  for (let next = [...new Set(monitorIds)]; next.length > 0;) {
    for (const id of next) visited.add(id);
    const pairs = await read<{ id: string; parentId: string }>(parentIdsSql, next);
    for (const { id, parentId } of pairs) parentIds.getOrInsert(id, []).push(parentId);
    next = [...new Set(pairs.map(({ parentId }) => parentId))].filter((id) => !visited.has(id));
  }
  return parentIds;
}

const indexById = <Row extends { id: string }>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [row.id, row]));

async function readIncidents(read: QueryRows, ids: readonly string[]): Promise<IncidentView[]> {
  if (ids.length === 0) return [];
  type IncidentRow = Omit<IncidentView, "updates" | "monitorIds" | "sourceChannelIds"> &
    MonitorColumns;
  type UpdateRow = { incidentId: string; id: string; status: string; message: string };
  const [incidents, updates, sources] = await Promise.all([
    read<IncidentRow>(incidentSql, ids),
    read<UpdateRow>(updateSql, ids),
    read<{ id: string; channelIds: string }>(sourceOfIncidentSql, ids),
  ]);
  const channelIdsByIncident = new Map(
    sources.map(({ id, channelIds }) => [id, JSON.parse(channelIds) as string[]]),
  );
  const updatesByIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return incidents.map((row) => ({
    ...row,
    monitorIds: parseMonitorIds(row),
    updates: indexById(updatesByIncident.get(row.id) ?? []),
    sourceChannelIds: channelIdsByIncident.get(row.id) ?? [],
  }));
}

async function readMonitors(read: QueryRows, ids: readonly string[]): Promise<WatchedMonitor[]> {
  const [monitors, attached] = await Promise.all([
    read<MonitorRow>(monitorSql, ids),
    read<{ monitorId: string; channelId: string }>(attachedSql, ids),
  ]);
  const channelsByMonitor = Map.groupBy(attached, ({ monitorId }) => monitorId);
  return monitors.map((row) => ({
    ...row,
    target: formatTarget(row),
    tags: JSON.parse(row.tags) as string[],
    muted: row.muted === 1,
    groupMuted: row.groupMuted === 1,
    paused: row.paused === 1,
    groupPaused: row.groupPaused === 1,
    channelIds: (channelsByMonitor.get(row.id) ?? []).map(({ channelId }) => channelId),
  }));
}

type SourceAlertRow = Omit<Flags<SourceAlertView, "enabled">, "channelIds"> & {
  channelIds: string;
};

const parseSourceAlert = ({ channelIds, enabled, ...row }: SourceAlertRow): SourceAlertView => ({
  ...row,
  enabled: enabled === 1,
  channelIds: JSON.parse(channelIds) as string[],
});

type ChannelRow = Flags<ChannelColumns, "enabled" | "isDefault" | "incidents">;

const toChannelView = (row: ChannelRow): ChannelView => ({
  ...row,
  notifyOn: parseNotifyOn(row.notifyOn),
  quietHours: parseQuietHours(row.quietHours),
  enabled: row.enabled === 1,
  isDefault: row.isDefault === 1,
  incidents: row.incidents === 1,
});

type GatheringRow = Omit<PendingDigest, "createdAt"> & {
  channelId: string;
  createdAt: string;
  quiet: number;
};
type HeldRow = Omit<HeldMessage, "alert"> & {
  recordId: string;
  alertId: string;
  type: string;
  at: string;
  data: string;
};

/** Returns the last digest of each channel, and the messages about these subjects that quiet hours hold. */
async function indexDigests(
  read: QueryRows,
  rows: readonly GatheringRow[],
  subjectIds: readonly string[],
): Promise<Pick<Snapshot, "gathering" | "quiet" | "quietIds" | "held">> {
  const quiet = rows.filter((row) => row.quiet === 1);
  const gathering = rows.filter((row) => row.quiet === 0);
  const held = quiet.length === 0 ? [] : await read<HeldRow>(heldAlertsSql, subjectIds);
  return {
    gathering: indexByChannel(gathering),
    quiet: indexByChannel(quiet),
    quietIds: new Set(quiet.map(({ id }) => id)),
    held: new Map(
      [...Map.groupBy(held, ({ recordId }) => recordId)].map(([id, rows]) => [
        id,
        rows.map(parseHeld),
      ]),
    ),
  };
}

const parseHeld = ({ alertId, type, at, data, recordId: _id, ...place }: HeldRow): HeldMessage => ({
  ...place,
  alert: { id: alertId, type, at, data: JSON.parse(data) as unknown } as Alert,
});

async function readKnowledge(read: QueryRows, subjectIds: readonly string[]) {
  type Row = { recordId: string; channelId: string; deliveryId: string };
  const rows = await read<Row>(openDeliveriesSql, subjectIds);
  const byRecord = Map.groupBy(rows, ({ recordId }) => recordId);
  return new Map(
    [...byRecord].map(([id, own]) => [
      id,
      new Map(own.map(({ channelId, deliveryId }) => [channelId, deliveryId])),
    ]),
  );
}

const indexByChannel = (rows: readonly GatheringRow[]) =>
  new Map(
    rows.map(({ channelId, createdAt, quiet: _quiet, ...one }) => [
      channelId,
      { ...one, createdAt: Date.parse(createdAt) },
    ]),
  );

type NotifiedRow = Omit<NotifiedAlert, "notifications" | "state"> & {
  subjectId: string;
  channelId: string;
  notifications: string;
};

/**
 * Returns the channel's last notified state and its deliveries. Failed and skipped ones are left
 * out. Deliveries that retention removed count as arrived.
 */
function parseNotified({
  channelId,
  since,
  notifications,
}: NotifiedRow): [string, NotifiedAlert][] {
  const all = JSON.parse(notifications) as [
    id: string,
    state: NotifiedState,
    status: string | null,
  ][];
  const hopeful = all.filter(([, , status]) => status !== "failed" && status !== "skipped");
  const state = hopeful.at(-1)?.[1];
  if (state === undefined) return [];
  const isWaiting = (status: string | null) => status === "gathering" || status === "sending";
  const arrived = hopeful.findLast(([, , status]) => !isWaiting(status));
  const countedNotifications = hopeful.filter((one) => one === arrived || isWaiting(one[2]));
  return [
    [
      channelId,
      { state, since, notifications: countedNotifications.map(([id, state]) => [id, state]) },
    ],
  ];
}

type RecordRow = Omit<Flags<OpenRecord, "isReached">, "acknowledgedBy" | "runs"> & {
  acknowledgedBy: string | null;
  runs: string | null;
};

const parseRecord = ({ acknowledgedBy, runs, isReached, ...row }: RecordRow): OpenRecord => ({
  ...row,
  isReached: isReached === 1,
  runs: parseRuns(runs),
  acknowledgedBy: acknowledgedBy === null ? [] : (JSON.parse(acknowledgedBy) as string[]),
});

type MemoryRow = {
  monitorId: string;
  changes: string;
  flappingSince: number | null;
  remindAt: number | null;
  expiresAt: string | null;
  days: number | null;
  heldSince: number | null;
  heldBehind: string | null;
  heldUntil: number | null;
  heldCause: string | null;
  joinedDueAt: number | null;
};

function parseMemory({
  changes,
  flappingSince,
  remindAt,
  expiresAt,
  days,
  heldSince,
  heldBehind,
  heldUntil,
  heldCause,
  joinedDueAt,
}: MemoryRow): StoredMemory {
  const certificate = expiresAt === null || days === null ? null : { expiresAt, days };
  const cause = heldCause === null ? null : (JSON.parse(heldCause) as Cause);
  const held =
    heldSince === null || heldUntil === null
      ? null
      : { since: heldSince, behind: heldBehind, until: heldUntil, cause };
  const history = { changes: JSON.parse(changes) as number[], flappingSince, remindAt };
  return { ...history, certificate, held, joinedDueAt };
}

const emptyMemory: StoredMemory = {
  ...emptyHistory,
  certificate: null,
  held: null,
  joinedDueAt: null,
};

/** Maximum characters of a description and of a target in an alert. */
const maxLength = 500;

/** Returns the facts about a monitor that its alerts contain. */
export function buildAlertedMonitor(monitor: WatchedMonitor): Required<AlertedMonitor> {
  const { id, name, type, groupId, groupName, tags } = monitor;
  const target = monitor.target && cutText(monitor.target, maxLength);
  const description = cutText(monitor.description, maxLength);
  return { id, name, type, groupId, groupName, target, tags, description };
}

/** Returns the enabled channels of a monitor, and whether it is muted. */
export function audienceOf(snapshot: Snapshot, { muted, groupMuted, channelIds }: WatchedMonitor) {
  const channels = channelIds.filter((id) => snapshot.channels.get(id)?.enabled === true);
  return { muted: muted || groupMuted, channels };
}

/** Returns the enabled channels that were notified of a subject, as of this state if one is given. */
export const listNotified = (
  { notified, channels }: Snapshot,
  subjectId: string,
  state: NotifiedState | null = null,
) =>
  [...(notified.get(subjectId) ?? [])].flatMap(([id, known]) =>
    channels.get(id)?.enabled === true && (state === null || known.state === state) ? [id] : [],
  );

export function memoryOf(snapshot: Snapshot, monitorId: string): StoredMemory {
  return snapshot.memories.get(monitorId) ?? emptyMemory;
}

export function reminderMsOf({ reminderSeconds }: WatchedMonitor): number | null {
  return reminderSeconds === null ? null : reminderSeconds * 1000;
}
