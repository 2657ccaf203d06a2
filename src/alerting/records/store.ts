/** Reads alerts with their timelines, and creates the statements that write them. */
import { and, desc, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Fields } from "../../core/collections/objects.ts";
import { AppError } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { buildPage } from "../../core/paging.ts";
import { buildPersonDrillCondition } from "../../database/group-limit.ts";
import { contactMethodName } from "../../database/subject-names.ts";
import { matchReference, matchValues, selectPage, type Tenant } from "../../database/rows.ts";
import { createInsert, guardCondition, type Prepared, type Store } from "../../database/store.ts";
import {
  alertAcknowledgments,
  alertNotifications,
  alertRecords,
  alerts,
  alertTimeline,
  deliveries,
  deliveryAlerts,
} from "../../database/tables/alerting.ts";
import { alertBounds } from "../../core/limits.ts";
import type { AlertStatus, Ending, LinkTarget, OpenRecord, DueNotification } from "./rules.ts";
import type { AlertQuery, TimelineEntry } from "./schema.ts";

export const insertRecord = createInsert(alertRecords);

/** A person, key or link, as in the audit log. */
type EntryActor = { type: string; id: string | null; name: string };

/** An entry about a change that is not visible in messages or deliveries. */
export type NewEntry = {
  at: string;
  type: Exclude<
    TimelineEntry["type"],
    "opened" | "sent" | "delivered" | "failed" | "skipped" | "resolved"
  >;
  /** Absent if no person or key caused the entry. */
  actor?: EntryActor;
  message?: string | null;
};

const entryCount =
  "(select count(*) from alert_timeline where organization_id = ?1 and record_id = ?2)";

const entrySql = `insert into alert_timeline (organization_id, record_id, at, type, actor_type,
    actor_id, actor_name, message)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 where ${entryCount} < ${alertBounds.entries.value}`;

/** Adds an entry to an alert's timeline, unless it is full. */
export const addEntry = (
  organizationId: string,
  recordId: string,
  { at, type, actor, message = null }: NewEntry,
): Prepared => ({
  text: entrySql,
  parameters: [
    organizationId,
    recordId,
    at,
    type,
    actor?.type ?? null,
    actor?.id ?? null,
    actor?.name ?? null,
    message,
  ],
});

type Change = { type: string; at: string; data: string };

/** Changes columns of an alert. */
const updateRecord = (
  organizationId: string,
  id: string,
  assignments: string,
  values: Prepared["parameters"],
): Prepared => ({
  text: `update alert_records set ${assignments}, version = version + 1
    where organization_id = ? and id = ?`,
  parameters: [...values, organizationId, id],
});

/** Stores the type and content of a newer message about an open alert. */
export const changeRecord = (organizationId: string, id: string, { type, at, data }: Change) =>
  updateRecord(organizationId, id, "type = ?, at = ?, data = ?", [type, at, data]);

/** Ends open alerts, and cancels their planned notifications. Alerts that have ended stay unchanged. */
export function endRecords(
  organizationId: string,
  ids: readonly string[],
  because: Ending,
  at: string,
): Prepared[] {
  const list = JSON.stringify(ids);
  return [
    {
      text: `update alert_records set resolved_at = ?, resolved_because = ?, snoozed_until = null,
          due_at = null, version = version + 1
        where organization_id = ? and id in (select value from json_each(?))
          and resolved_at is null`,
      parameters: [at, because, organizationId, list],
    },
    cancelNotifications(organizationId, ids),
  ];
}

/** Adds an acknowledgment. A repeated one by the same actor changes nothing. */
export const insertAcknowledgment = (
  organizationId: string,
  recordId: string,
  actor: EntryActor,
  at: string,
): Prepared => ({
  text: `insert into alert_acknowledgments
      (organization_id, record_id, actor_type, actor_id, actor_name, at)
    values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
  parameters: [organizationId, recordId, actor.type, actor.id ?? "", actor.name, at],
});

export const removeAcknowledgments = (organizationId: string, recordId: string): Prepared => ({
  text: "delete from alert_acknowledgments where organization_id = ? and record_id = ?",
  parameters: [organizationId, recordId],
});

/** Who takes care of an alert, and its next timer. */
export type Ownership = Pick<
  typeof alertRecords.$inferSelect,
  "acknowledgedAt" | "snoozedUntil" | "dueAt"
>;

/** Stores a new ownership. It cancels planned notifications. */
export const changeOwnership = (
  organizationId: string,
  id: string,
  { acknowledgedAt, snoozedUntil, dueAt }: Ownership,
): Prepared[] => [
  updateRecord(organizationId, id, "acknowledged_at = ?, snoozed_until = ?, due_at = ?", [
    acknowledgedAt,
    snoozedUntil,
    dueAt,
  ]),
  cancelNotifications(organizationId, [id]),
];

/** Opens an alert again after a snooze. Its escalation starts from the beginning. */
export const returnRecord = (organizationId: string, id: string): Prepared[] => [
  updateRecord(
    organizationId,
    id,
    `acknowledged_at = null, snoozed_until = null, step = 0, round = 0, due_at = null,
      escalated_from = null, runs = null`,
    [],
  ),
  removeAcknowledgments(organizationId, id),
];

export const setPriority = (organizationId: string, id: string, priority: OpenRecord["priority"]) =>
  updateRecord(organizationId, id, "priority = ?", [priority]);

/** Gives an alert another policy, which has not started. */
export const setPolicy = (organizationId: string, id: string, policyId: string): Prepared[] => [
  updateRecord(
    organizationId,
    id,
    "policy_id = ?, step = 0, round = 0, due_at = null, escalated_from = null, runs = null",
    [policyId],
  ),
  cancelNotifications(organizationId, [id]),
];

export const setDueAt = (organizationId: string, id: string, dueAt: number | null): Prepared => ({
  text: "update alert_records set due_at = ? where organization_id = ? and id = ?",
  parameters: [dueAt, organizationId, id],
});

type Progress = {
  step: number;
  round: number;
  dueAt: number | null;
  escalatedFrom: number | null;
  runs: OpenRecord["runs"];
};

const formatRuns = (runs: OpenRecord["runs"]) => (runs.length === 0 ? null : JSON.stringify(runs));

/** Parses the stored times of steps. */
export const parseRuns = (json: string | null): OpenRecord["runs"] =>
  json === null ? [] : (JSON.parse(json) as (number | null)[]);

/** Stores which step of the policy runs next, and when. */
export const advanceRecord = (
  organizationId: string,
  id: string,
  { step, round, dueAt, escalatedFrom, runs }: Progress,
) =>
  updateRecord(
    organizationId,
    id,
    "step = ?, round = ?, due_at = ?, escalated_from = ?, runs = ?",
    [step, round, dueAt, escalatedFrom, formatRuns(runs)],
  );

/** Latest past time of an escalation, which is its start or its last step. */
const latestSql = "max(r.escalated_from, coalesce((select max(value) from json_each(r.runs)), 0))";
const aheadSql = `r.resolved_at is null and r.escalated_from is not null and ${latestSql} > ?`;

/**
 * Moves escalations back that started, or ran a step, after `now` in Unix milliseconds, because the clock was ahead.
 * Otherwise their next steps would be late by the same time. A snooze ends at a time that a person chose.
 */
export async function moveEscalationsBack(store: Store, now: number): Promise<void> {
  const parameters = [now];
  const found = await store.query(
    `select 1 from alert_records r indexed by alert_records_open where ${aheadSql} limit 1`,
    parameters,
  );
  if (found.length === 0) return;
  const record = "r.organization_id = n.organization_id and r.id = n.record_id";
  await store.atomic([
    {
      text: `update alert_notifications as n
        set due_at = due_at - (select ${latestSql} - ? from alert_records r where ${record})
        where exists (select 1 from alert_records r where ${record} and ${aheadSql})`,
      parameters: [now, now],
    },
    {
      text: `update alert_records as r set version = version + 1,
          escalated_from = escalated_from - (${latestSql} - ?),
          due_at = iif(snoozed_until is null, due_at - (${latestSql} - ?), due_at),
          runs = iif(runs is null, null,
            (select json_group_array(value - (${latestSql} - ?)) from json_each(r.runs)))
        where ${aheadSql}`,
      parameters: [now, now, now, now],
    },
  ]);
}

/** Stores a notification for later. */
export const planNotification = createInsert(alertNotifications, "insert or replace");

/** Stores a notification for later, unless the step sent a message about the alert to the channel since `ranAt`. */
export const planUnlessSent = (
  organizationId: string,
  recordId: string,
  { channelId, personId, step, round, ranAt, dueAt }: DueNotification,
): Prepared => ({
  text: `insert or replace into alert_notifications
      (organization_id, record_id, channel_id, person_id, step, round, due_at)
    select ?1, ?2, c.id, ?4, ?5, ?6, ?7 from alert_channels c
    where c.organization_id = ?1 and c.id = ?3 and not exists (select 1 from alerts a
      cross join delivery_alerts t on t.organization_id = ?1 and t.alert_id = a.id and not t.withheld
      cross join deliveries d on d.organization_id = ?1 and d.id = t.delivery_id
        and d.receiver_id = ?3 and d.case_change is null
      where a.organization_id = ?1 and a.record_id = ?2 and a.at >= ?8
        and coalesce(a.data ->> '$.escalation.step', ?5 + 1) = ?5 + 1)`,
  parameters: [
    organizationId,
    recordId,
    channelId,
    personId,
    step,
    round,
    dueAt,
    formatTimestamp(ranAt),
  ],
});

/** Removes the due notifications of a channel about an alert. */
export const removeNotification = (
  organizationId: string,
  { recordId, channelId, now }: { recordId: string; channelId: string; now: number },
): Prepared => ({
  text: `delete from alert_notifications
    where organization_id = ? and record_id = ? and channel_id = ? and due_at <= ?`,
  parameters: [organizationId, recordId, channelId, now],
});

/**
 * Makes the next step of alerts due, if all deliveries of their last step failed at least once.
 * `deliveryId` is one that just failed. Retries of earlier steps change nothing.
 */
export const hurryEscalation = (
  organizationId: string,
  deliveryId: string,
  now: number,
): Prepared => ({
  text: `update alert_records set due_at = min(due_at, ?1)
    where organization_id = ?2 and resolved_at is null and due_at > ?1 and snoozed_until is null
      and id in (select a.record_id from delivery_alerts x
        join alerts a on a.organization_id = x.organization_id and a.id = x.alert_id
        where x.organization_id = ?2 and x.delivery_id = ?3 and a.record_id is not null
          and a.data ->> '$.escalation.step' is not null
          and not exists (select 1 from alerts b where b.organization_id = a.organization_id
            and b.record_id = a.record_id and b.id > a.id
            and b.data ->> '$.escalation.step' is not null)
          and not exists (select 1 from delivery_alerts y
            join deliveries d on d.organization_id = y.organization_id and d.id = y.delivery_id
            where y.organization_id = a.organization_id and y.alert_id = a.id
              and (d.status = 'delivered'
                or (d.attempts = 0 and d.due_at is not null and d.quiet is null))))`,
  parameters: [now, organizationId, deliveryId],
});

/** Makes the next step of these alerts due, unless someone takes care of them. */
export const hurryUnreached = (
  organizationId: string,
  ids: readonly string[],
  now: number,
): Prepared => ({
  text: `update alert_records set due_at = ?1
    where organization_id = ?2 and id in (select value from json_each(?3)) and due_at > ?1
      and resolved_at is null and acknowledged_at is null and snoozed_until is null`,
  parameters: [now, organizationId, JSON.stringify(ids)],
});

/** Guards that an alert has not changed since it was read. */
export const guardRecord = (organizationId: string, { id, version }: RecordVersion): Prepared =>
  guardCondition(
    "exists (select 1 from alert_records where organization_id = ? and id = ? and version = ?)",
    [organizationId, id, version],
  );

type RecordVersion = Pick<typeof alertRecords.$inferSelect, "id" | "version">;

/** Guards that an alert's timeline has room for a note. Must precede the insert. */
export const guardRoomForNote = (organizationId: string, id: string): Prepared =>
  guardCondition(
    `${entryCount} < ${alertBounds.entries.value}`,
    [organizationId, id],
    () =>
      new AppError(
        "CONFLICT",
        `The timeline of an alert can have at most ${alertBounds.entries.value} notes and other entries.`,
      ),
  );

/** Returns the open incident that names a monitor, for an internal note. */
export async function findOpenIncident(
  { store, organizationId }: Tenant,
  monitorId: string,
): Promise<string | null> {
  const [row] = await store.query<{ id: string }>(
    `select i.id from incident_monitors m
       join incidents i on i.organization_id = m.organization_id and i.id = m.incident_id
     where m.organization_id = ? and m.monitor_id = ? and i.status <> 'resolved'
     order by i.id desc limit 1`,
    [organizationId, monitorId],
  );
  return row?.id ?? null;
}

/** Removes the planned notifications of these alerts. */
const cancelNotifications = (organizationId: string, ids: readonly string[]): Prepared => ({
  text: `delete from alert_notifications
    where organization_id = ? and record_id in (select value from json_each(?))`,
  parameters: [organizationId, JSON.stringify(ids)],
});

export type RecordRow = typeof alertRecords.$inferSelect;
export type MessageRow = typeof alerts.$inferSelect;

const isOpen = isNull(alertRecords.resolvedAt);
const statusConditions: Record<AlertStatus, SQL | undefined> = {
  open: and(isOpen, isNull(alertRecords.snoozedUntil), isNull(alertRecords.acknowledgedAt)),
  acknowledged: and(
    isOpen,
    isNull(alertRecords.snoozedUntil),
    isNotNull(alertRecords.acknowledgedAt),
  ),
  snoozed: and(isOpen, isNotNull(alertRecords.snoozedUntil)),
  resolved: isNotNull(alertRecords.resolvedAt),
};

/** Returns a page of alerts, newest first. */
export async function findRecordPage(tenant: Tenant, query: AlertQuery) {
  const { store, organizationId } = tenant;
  const { status, monitorId, incidentId, sourceId, type, priority } = query;
  const where = and(
    matchValues(alertRecords, { organizationId, type, priority }),
    matchSubject(["state", "certificate"], monitorId),
    matchSubject(["incident"], incidentId),
    limitRecords(tenant),
    sourceId === undefined
      ? undefined
      : and(
          eq(alertRecords.family, "source"),
          sql`${alertRecords.data} ->> '$.source.id' = ${sourceId}`,
        ),
    // Required by the index of open alerts.
    status === undefined || status.includes("resolved") ? undefined : isOpen,
    status && or(...status.map((one) => statusConditions[one])),
  );
  const { rows, total } = await selectPage(store, alertRecords, alertRecords.id, where, query);
  return buildPage(
    query,
    rows.map((row) => hideJoined(tenant, row)),
    total,
  );
}

/** Condition that an alert is visible to a limited caller, as in `limitedNouns`; undefined for others. */
function limitRecords({ groupIds = null }: Tenant): SQL | undefined {
  if (groupIds === null) return undefined;
  const { organizationId, subjectId, family } = alertRecords;
  const isOwn = sql`m.group_id in (select value from json_each(${JSON.stringify(groupIds)}))`;
  return sql`case when ${family} in ('state', 'certificate') then exists (select 1 from monitors m
      where m.organization_id = ${organizationId} and m.id = ${subjectId} and ${isOwn})
    when ${family} = 'incident' then (select min(coalesce(${isOwn}, 0)) from incident_monitors l
      join monitors m on m.organization_id = l.organization_id and m.id = l.monitor_id
      where l.organization_id = ${organizationId} and l.incident_id = ${subjectId})
    else ${sql.raw(buildPersonDrillCondition("alert_records"))} end`;
}

/** Removes other monitors from the data of an alert, such as those with the same cause, for a limited caller. */
function hideJoined<T extends { data: string }>({ groupIds = null }: Tenant, content: T): T {
  if (groupIds === null) return content;
  const { joined: _joined, behind: _behind, ...data } = JSON.parse(content.data) as Fields;
  return { ...content, data: JSON.stringify(data) };
}

function matchSubject(families: readonly RecordRow["family"][], subjectId: string | undefined) {
  return subjectId === undefined
    ? undefined
    : matchValues(alertRecords, { family: families, subjectId });
}

export async function findRecordRow(tenant: Tenant, id: string) {
  const where = matchValues(alertRecords, { organizationId: tenant.organizationId, id });
  const [row] = await tenant.store.db.select().from(alertRecords).where(where);
  return row === undefined ? null : hideJoined(tenant, row);
}

/**
 * Returns an alert, and the name of a channel or of its person; null if one of them no longer exists.
 */
export async function findLinkedAlert(
  store: Store,
  { organizationId, recordId, channelId }: LinkTarget,
): Promise<{ record: RecordRow; name: string } | null> {
  const [row] = await store.query<{ name: string }>(
    `select case when c.person_id is null then c.name else p.name end as name
     from organizations o
       join alert_records r on r.organization_id = o.id and r.id = ?2
       join alert_channels c on c.organization_id = o.id and c.id = ?3
       left join people p on p.id = c.person_id
     where o.id = ?1 and o.deleted_at is null`,
    [organizationId, recordId, channelId],
  );
  if (row === undefined) return null;
  const record = await findRecordRow({ store, organizationId }, recordId);
  return record === null ? null : { record, ...row };
}

/** Stores a new link key, which revokes all links in messages about an alert. */
export const changeLinkKey = (organizationId: string, id: string, linkKey: string) =>
  updateRecord(organizationId, id, "link_key = ?", [linkKey]);

export async function findMessage(tenant: Tenant, id: string) {
  const [row] = await tenant.store.db
    .select()
    .from(alerts)
    .where(matchValues(alerts, { organizationId: tenant.organizationId, id }));
  return row === undefined ? null : hideJoined(tenant, row);
}

/** Returns the acknowledgments of alerts, oldest first. */
export function findAcknowledgments(
  { store, organizationId }: Tenant,
  recordIds: readonly string[],
) {
  return store.db
    .select()
    .from(alertAcknowledgments)
    .where(matchValues(alertAcknowledgments, { organizationId, recordId: recordIds }))
    .orderBy(alertAcknowledgments.at, alertAcknowledgments.actorName);
}

/** Returns the people whom messages about an alert notified. */
export function findNotifiedPeople({ store, organizationId }: Tenant, recordId: string) {
  return store.query<{ id: string; name: string }>(
    `select p.id, p.name from people p where p.id in (select c.person_id from alerts a
       cross join delivery_alerts t on t.organization_id = ?1 and t.alert_id = a.id
       cross join deliveries d on d.organization_id = ?1 and d.id = t.delivery_id
       cross join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
       where a.organization_id = ?1 and a.record_id = ?2 and c.person_id is not null)
     order by p.name, p.id`,
    [organizationId, recordId],
  );
}

/** Returns the open alerts that cover the alerts of these monitors, because of a common cause. */
export async function findCovering(
  { store, organizationId, groupIds = null }: Tenant,
  records: readonly Pick<RecordRow, "family" | "subjectId" | "resolvedAt">[],
): Promise<Map<string, string>> {
  const open = records.filter(
    ({ family, resolvedAt }) => family === "state" && resolvedAt === null,
  );
  // The covering alert is about another monitor.
  if (open.length === 0 || groupIds !== null) return new Map();
  const rows = await store.query<{ monitorId: string; id: string }>(
    `select a.monitor_id as monitorId, r.id from json_each(?) w
       cross join alert_memory a on a.organization_id = ? and a.monitor_id = w.value
         and a.held_cause is not null
       cross join alert_records r on r.organization_id = a.organization_id
         and r.subject_id = a.held_behind and r.family = 'state' and r.resolved_at is null`,
    [JSON.stringify(open.map(({ subjectId }) => subjectId)), organizationId],
  );
  return new Map(rows.map(({ monitorId, id }) => [monitorId, id]));
}

/** Entries whose texts can name other monitors. */
const entriesAboutOthers: readonly string[] = ["held", "joined"];

export async function findEntries(
  { store, organizationId, groupIds = null }: Tenant,
  recordId: string,
) {
  const entries = await store.db
    .select()
    .from(alertTimeline)
    .where(matchValues(alertTimeline, { organizationId, recordId }))
    .orderBy(alertTimeline.seq);
  if (groupIds === null) return entries;
  return entries.map((entry) =>
    entriesAboutOthers.includes(entry.type) ? { ...entry, message: null } : entry,
  );
}

/** Name of the channel of a delivery, or its last name if it was deleted; null if that is forgotten. */
const channelName = sql<string | null>`coalesce(
  (select ${sql.raw(contactMethodName)} from alert_channels c left join people p on p.id = c.person_id
    where c.organization_id = ${deliveries.organizationId} and c.id = ${deliveries.receiverId}),
  (select e.subject_name from audit_entries e where e.organization_id = ${deliveries.organizationId}
    and e.subject_id = ${deliveries.receiverId} and e.subject_name is not null
    order by e.seq desc limit 1))`;

/**
 * Returns the newest deliveries of messages about an alert, each with its message and channel, oldest first. Dropped
 * messages are left out, except for the one with this ID, which has no other timeline.
 */
export async function findSentMessages(
  tenant: Tenant,
  about: { recordId: string } | { id: string },
) {
  const { store, organizationId } = tenant;
  const rows = await store.db
    .select({ delivery: deliveries, message: alerts, channelName })
    .from(alerts)
    .innerJoin(
      deliveryAlerts,
      and(
        eq(deliveryAlerts.organizationId, alerts.organizationId),
        eq(deliveryAlerts.alertId, alerts.id),
        "id" in about ? undefined : sql`not ${deliveryAlerts.withheld}`,
      ),
    )
    .innerJoin(deliveries, matchReference(deliveryAlerts, deliveryAlerts.deliveryId, deliveries))
    .where(matchValues(alerts, { organizationId, ...about }))
    .orderBy(desc(deliveries.seq), desc(deliveryAlerts.position))
    .limit(alertBounds.shownDeliveries.value);
  return rows.toReversed().map((row) => ({ ...row, message: hideJoined(tenant, row.message) }));
}
