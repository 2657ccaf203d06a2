/** Tables of monitors, groups, check results and maintenance windows. */
import { priorities, reportKinds, type StoredStatus } from "../../core/statuses.ts";
import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { organizationId, oneOf, reference, flag } from "./columns.ts";

export const monitorGroups = sqliteTable(
  "monitor_groups",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    color: text("color").notNull(),
    /** JSON list of texts. */
    tags: text("tags").notNull(),
    /** Position on the Monitors page. */
    position: integer("position").notNull(),
    paused: flag("paused").notNull(),
    muted: flag("muted").notNull(),
    /** Escalation policy that new members get; guards replace its foreign key. */
    escalationPolicyId: text("escalation_policy_id"),
    /** Uptime target of reports about the group, 0–1; null for the organization's target. */
    slaTarget: real("sla_target"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("monitor_groups_by_position").on(t.organizationId, t.position, t.id),
    index("monitor_groups_by_policy")
      .on(t.organizationId, t.escalationPolicyId)
      .where(sql`escalation_policy_id is not null`),
  ],
);

export const monitors = sqliteTable(
  "monitors",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    type: text("type").notNull(),
    description: text("description").notNull(),
    groupId: text("group_id"),
    /** Position in the group, or among the ungrouped monitors. */
    position: integer("position").notNull(),
    /** JSON list of texts. */
    tags: text("tags").notNull(),
    intervalSeconds: integer("interval_seconds").notNull(),
    timeoutSeconds: integer("timeout_seconds").notNull(),
    retries: integer("retries").notNull(),
    /** Number of nodes that must confirm a failure, if there are several nodes. */
    confirmations: integer("confirmations").notNull().default(1),
    retryIntervalSeconds: integer("retry_interval_seconds").notNull(),
    degradedAfterMs: integer("degraded_after_ms"),
    successThreshold: integer("success_threshold").notNull().default(1),
    inverted: flag("inverted").notNull().default(false),
    paused: flag("paused").notNull(),
    /** End of the pause; null while it has none. */
    pausedUntil: text("paused_until"),
    muted: flag("muted").notNull(),
    autoIncidentSeverity: text("auto_incident_severity"),
    reminderIntervalSeconds: integer("reminder_interval_seconds"),
    /** Guards replace its foreign key. */
    escalationPolicyId: text("escalation_policy_id"),
    priority: text("priority", { enum: priorities }).notNull().default("normal"),
    /** JSON of the type's fields. */
    settings: text("settings").notNull(),
    /** JSON of the type's secrets, each encrypted separately. */
    secrets: text("secrets").notNull(),
    /** SHA-256 of a push monitor's token, by which a ping is matched to its monitor. */
    pushTokenHash: text("push_token_hash").unique(),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("monitors_by_group").on(t.organizationId, t.groupId, t.position, t.id),
    index("monitors_by_policy")
      .on(t.organizationId, t.escalationPolicyId)
      .where(sql`escalation_policy_id is not null`),
    index("monitors_by_pause_end")
      .on(t.organizationId, t.pausedUntil)
      .where(sql`paused_until is not null`),
    // Finds the monitor of a ping with the organization's ping key.
    index("monitors_by_slug")
      .on(t.organizationId, sql`settings ->> 'slug'`)
      .where(sql`type = 'push'`),
    index("monitors_with_secrets")
      .on(t.organizationId, t.id)
      .where(sql`secrets <> '{}'`),
    reference([t.organizationId, t.groupId], monitorGroups),
  ],
);

/** The monitors on which a monitor depends: while one of them is down, its alerts are held. */
export const monitorDependencies = sqliteTable(
  "monitor_dependencies",
  {
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    parentId: text("parent_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId, t.parentId] }),
    index("monitor_dependencies_by_parent").on(t.organizationId, t.parentId),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
    reference([t.organizationId, t.parentId], monitors).onDelete("cascade"),
  ],
);

/** The monitors on which all monitors of a group depend. */
export const monitorGroupDependencies = sqliteTable(
  "monitor_group_dependencies",
  {
    organizationId: text("organization_id").notNull(),
    groupId: text("group_id").notNull(),
    parentId: text("parent_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.groupId, t.parentId] }),
    index("monitor_group_dependencies_by_parent").on(t.organizationId, t.parentId),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
    reference([t.organizationId, t.parentId], monitors).onDelete("cascade"),
  ],
);

/** Current state of a monitor. It is separate from the record, because each check can change it. */
export const monitorStates = sqliteTable(
  "monitor_states",
  {
    /** Key of the monitor in its heartbeats, shorter than its ID and never reused. */
    key: integer("key").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    status: text("status").$type<StoredStatus>().notNull(),
    since: text("since").notNull(),
    /** Whether the monitor or its group is paused. `applyPauses` updates it. */
    paused: flag("paused").notNull(),
    /** Number of consecutive failed checks. */
    failures: integer("failures").notNull(),
    /** Number of consecutive successful checks while the monitor is still down. */
    successes: integer("successes").notNull().default(0),
    /** Number of pauses and resumptions. Results of checks from an earlier epoch are discarded. */
    epoch: integer("epoch").notNull(),
    lastCheckedAt: text("last_checked_at"),
    lastMessage: text("last_message"),
    latencyMs: integer("latency_ms"),
    certificateExpiresAt: text("certificate_expires_at"),
    /** JSON of the details of the last check; null for none. */
    details: text("details"),
    /** Time since which checks have no valid result because of a problem of this appliance; null otherwise. */
    notJudgedSince: text("not_judged_since"),
    /** Value of the monitor's number at the last check; null if there is none. */
    number: real("number"),
    /** Effect of the last known number. Stays until the number returns to its limits. */
    numberLevel: text("number_level").$type<"degraded" | "down">(),
  },
  (t) => [
    uniqueIndex("monitor_states_by_monitor").on(t.organizationId, t.monitorId),
    index("monitor_states_maintained")
      .on(t.organizationId, t.monitorId)
      .where(sql`status = 'maintenance'`),
    index("monitor_states_not_judged")
      .on(t.organizationId, t.notJudgedSince)
      .where(sql`not_judged_since is not null`),
    check(
      "monitor_states_status",
      sql`${t.status} IN ('pending', 'up', 'degraded', 'down', 'maintenance')`,
    ),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/**
 * Results of checks. Those of a deleted monitor are removed later in small batches, because there can be a million.
 */
export const heartbeats = sqliteTable(
  "heartbeats",
  {
    monitorKey: integer("monitor_key").notNull(),
    /** Time of the check, in Unix milliseconds. */
    at: integer("at").notNull(),
    /** 0 up, 1 degraded, 2 down, 3 unknown, 4 maintenance. */
    status: integer("status").notNull(),
    latencyMs: integer("latency_ms"),
    /** Seconds that the result represents in uptime figures. */
    seconds: integer("seconds").notNull(),
    /** Message of the check; null for up. */
    message: text("message"),
    /** Value of the monitor's number. At most 9 bytes; one without a number. */
    number: real("number"),
  },
  (t) => [
    primaryKey({ columns: [t.monitorKey, t.at] }),
    check("heartbeats_status", sql`${t.status} BETWEEN 0 AND 4`),
  ],
);

/** Last reports of jobs to push monitors. Reports without an outcome, such as a start, have no heartbeat. */
export const pushReports = sqliteTable(
  "push_reports",
  {
    monitorKey: integer("monitor_key").notNull(),
    /** Unix milliseconds. */
    at: integer("at").notNull(),
    kind: text("kind", { enum: reportKinds }).notNull(),
    /** UUID with which a job marks the reports of one run. */
    runId: text("run_id"),
    /** Time since the start of the run; null without a report of its start. */
    durationMs: integer("duration_ms"),
    exitStatus: integer("exit_status"),
    /** Start of the request's body, or the message of the report. */
    body: text("body"),
    address: text("address"),
    userAgent: text("user_agent"),
  },
  (t) => [primaryKey({ columns: [t.monitorKey, t.at] }), oneOf("push_reports_kind", t.kind)],
);

/** Screenshots of failed browser checks, only the last one per monitor. */
export const screenshots = sqliteTable(
  "screenshots",
  {
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    /** Time of the heartbeat, in Unix milliseconds. */
    at: integer("at").notNull(),
    /** JPEG in Base64. */
    image: text("image").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId] }),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/** Keys of deleted monitors that still have heartbeats. */
export const removedMonitors = sqliteTable("removed_monitors", {
  key: integer("key").primaryKey(),
});

// The primary key starts with the period, so that the checks of one minute change only a few pages.
const rollup = (name: string, period: string) =>
  sqliteTable(
    name,
    {
      /** Number of the hour or day since 1970, UTC. */
      period: integer(period).notNull(),
      monitorKey: integer("monitor_key").notNull(),
      upSeconds: integer("up_seconds").notNull(),
      degradedSeconds: integer("degraded_seconds").notNull(),
      downSeconds: integer("down_seconds").notNull(),
      unknownSeconds: integer("unknown_seconds").notNull(),
      maintenanceSeconds: integer("maintenance_seconds").notNull(),
      /** Number of checks with a latency. */
      latencyCount: integer("latency_count").notNull(),
      latencySum: integer("latency_sum").notNull(),
      latencyMin: integer("latency_min"),
      latencyMax: integer("latency_max"),
      /** JSON of the latency histogram; null for totals from older versions. */
      latencyCounts: text("latency_counts", { mode: "json" }).$type<Record<string, number>>(),
    },
    (t) => [primaryKey({ columns: [t.period, t.monitorKey] })],
  );

/** Totals of heartbeats per hour and per day, updated in the same write as the heartbeats. */
export const uptimeHours = rollup("uptime_hours", "hour");

export const uptimeDays = rollup("uptime_days", "day");

const numberRollup = (name: string, period: string) =>
  sqliteTable(
    name,
    {
      /** Number of the hour or day since 1970, UTC. */
      period: integer(period).notNull(),
      monitorKey: integer("monitor_key").notNull(),
      count: integer("count").notNull(),
      sum: real("sum").notNull(),
      min: real("min").notNull(),
      max: real("max").notNull(),
    },
    (t) => [primaryKey({ columns: [t.period, t.monitorKey] })],
  );

/** Totals of the numbers of monitors, only for monitors with a number. */
export const numberHours = numberRollup("number_hours", "hour");

export const numberDays = numberRollup("number_days", "day");

/** Maintenance windows, one-time or recurring. */
export const maintenanceWindows = sqliteTable(
  "maintenance_windows",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    /** Start of the first occurrence. */
    startsAt: text("starts_at").notNull(),
    endsAt: text("ends_at").notNull(),
    /** IANA time zone of the recurrence rule. */
    timeZone: text("time_zone").notNull(),
    /** RFC 5545 RRULE without DTSTART; null for a one-time window. */
    rrule: text("rrule"),
    /** Whether results during the window count for uptime. */
    countsUptime: flag("counts_uptime").notNull(),
    public: flag("public").notNull(),
    /** Hours before an occurrence at which subscribers are reminded; null for no reminder. */
    reminderHours: integer("reminder_hours"),
    /** Whether subscribers are notified of changes, starts and ends. */
    progressNotices: flag("progress_notices").notNull().default(false),
    /** Start of the last occurrence with a reminder, in Unix milliseconds. */
    remindedFor: integer("reminded_for"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

const windowId = () => text("window_id").notNull();

export const maintenanceMonitors = sqliteTable(
  "maintenance_monitors",
  {
    organizationId: text("organization_id").notNull(),
    windowId: windowId(),
    monitorId: text("monitor_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.windowId, t.monitorId] }),
    index("maintenance_monitors_by_monitor").on(t.organizationId, t.monitorId),
    reference([t.organizationId, t.windowId], maintenanceWindows).onDelete("cascade"),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

export const maintenanceGroups = sqliteTable(
  "maintenance_groups",
  {
    organizationId: text("organization_id").notNull(),
    windowId: windowId(),
    groupId: text("group_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.windowId, t.groupId] }),
    index("maintenance_groups_by_group").on(t.organizationId, t.groupId),
    reference([t.organizationId, t.windowId], maintenanceWindows).onDelete("cascade"),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
  ],
);
