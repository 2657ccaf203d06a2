import type { StoredStatus } from "../../core/statuses.ts";
import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { organizationId, reference, flag } from "./columns.ts";

export const monitorGroups = sqliteTable(
  "monitor_groups",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    color: text("color").notNull(),
    /** JSON list. */
    tags: text("tags").notNull(),
    /** Place in the dashboard order. */
    position: integer("position").notNull(),
    paused: flag("paused").notNull(),
    muted: flag("muted").notNull(),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("monitor_groups_by_position").on(t.organizationId, t.position, t.id),
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
    /** Place within its group or in the ungrouped list, as the dashboard shows it. */
    position: integer("position").notNull(),
    /** JSON list. */
    tags: text("tags").notNull(),
    intervalSeconds: integer("interval_seconds").notNull(),
    timeoutSeconds: integer("timeout_seconds").notNull(),
    retries: integer("retries").notNull(),
    /** Nodes that must see it fail before it is down, where there are several. */
    confirmations: integer("confirmations").notNull().default(1),
    retryIntervalSeconds: integer("retry_interval_seconds").notNull(),
    degradedAfterMs: integer("degraded_after_ms"),
    successThreshold: integer("success_threshold").notNull().default(1),
    inverted: flag("inverted").notNull().default(false),
    paused: flag("paused").notNull(),
    muted: flag("muted").notNull(),
    autoIncidentSeverity: text("auto_incident_severity"),
    reminderIntervalSeconds: integer("reminder_interval_seconds"),
    /** JSON of the type's own fields. */
    settings: text("settings").notNull(),
    /** JSON of the type's sealed secrets by field. */
    secrets: text("secrets").notNull(),
    /** SHA-256 of a push monitor's token: how a ping finds its monitor. */
    pushTokenHash: text("push_token_hash").unique(),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("monitors_by_group").on(t.organizationId, t.groupId, t.position, t.id),
    index("monitors_with_secrets")
      .on(t.organizationId, t.id)
      .where(sql`secrets <> '{}'`),
    reference([t.organizationId, t.groupId], monitorGroups),
  ],
);

/** What a monitor is now; kept apart from the record that people edit, because checks write it all the time. */
export const monitorStates = sqliteTable(
  "monitor_states",
  {
    /** Names the monitor in its results, in fewer bytes than its id; never used again for another. */
    key: integer("key").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    status: text("status").$type<StoredStatus>().notNull(),
    since: text("since").notNull(),
    /** Whether the monitor or its group is paused; `followPauses` keeps it so. */
    paused: flag("paused").notNull(),
    /** Failed checks in a row. */
    failures: integer("failures").notNull(),
    /** Good results in a row since it was down, while it still is. */
    successes: integer("successes").notNull().default(0),
    /** Counts the pauses and resumptions: the result of a check that began before one is void after it. */
    epoch: integer("epoch").notNull(),
    lastCheckedAt: text("last_checked_at"),
    lastMessage: text("last_message"),
    latencyMs: integer("latency_ms"),
    certificateExpiresAt: text("certificate_expires_at"),
    /** What the last check found out beside its result, as JSON; null for nothing. */
    details: text("details"),
    /** Since when its checks can't be judged, for trouble of this appliance; null while they are. */
    notJudgedSince: text("not_judged_since"),
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

/** Results of checks. Rows of a deleted monitor are swept later, in small portions: it may have a million. */
export const heartbeats = sqliteTable(
  "heartbeats",
  {
    monitorKey: integer("monitor_key").notNull(),
    /** Unix milliseconds. */
    at: integer("at").notNull(),
    /** 0 up, 1 degraded, 2 down, 3 unknown, 4 maintenance. */
    status: integer("status").notNull(),
    latencyMs: integer("latency_ms"),
    /** Seconds that the result stands for in figures of uptime. */
    seconds: integer("seconds").notNull(),
    /** Null for up. */
    message: text("message"),
  },
  (t) => [
    primaryKey({ columns: [t.monitorKey, t.at] }),
    check("heartbeats_status", sql`${t.status} BETWEEN 0 AND 4`),
  ],
);

/** What a browser showed when a check of it failed, of each monitor the last one. */
export const screenshots = sqliteTable(
  "screenshots",
  {
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    /** Of the heartbeat, in Unix milliseconds. */
    at: integer("at").notNull(),
    /** JPEG in Base64. */
    image: text("image").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId] }),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/** Keys of deleted monitors whose results are still to be removed. */
export const removedMonitors = sqliteTable("removed_monitors", {
  key: integer("key").primaryKey(),
});

// The period comes first: one minute's checks touch a few pages, however many monitors there are.
const rollup = (name: string, period: string) =>
  sqliteTable(
    name,
    {
      /** Whole periods since 1970, UTC. */
      period: integer(period).notNull(),
      monitorKey: integer("monitor_key").notNull(),
      upSeconds: integer("up_seconds").notNull(),
      degradedSeconds: integer("degraded_seconds").notNull(),
      downSeconds: integer("down_seconds").notNull(),
      unknownSeconds: integer("unknown_seconds").notNull(),
      maintenanceSeconds: integer("maintenance_seconds").notNull(),
      /** Of the checks that measured a latency. */
      latencyCount: integer("latency_count").notNull(),
      latencySum: integer("latency_sum").notNull(),
      latencyMin: integer("latency_min"),
      latencyMax: integer("latency_max"),
      /** How many took about how long, as a JSON object; null for sums of an older version. */
      latencyCounts: text("latency_counts", { mode: "json" }).$type<Record<string, number>>(),
    },
    (t) => [primaryKey({ columns: [t.period, t.monitorKey] })],
  );

/** Sums of heartbeats, written with them: equal to what the heartbeats themselves add up to. */
export const uptimeHours = rollup("uptime_hours", "hour");

export const uptimeDays = rollup("uptime_days", "day");

/** Planned work: once, or as often as its rule says. */
export const maintenanceWindows = sqliteTable(
  "maintenance_windows",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    /** Of the first occurrence. */
    startsAt: text("starts_at").notNull(),
    endsAt: text("ends_at").notNull(),
    /** IANA name: what the rule's days and hours mean. */
    timeZone: text("time_zone").notNull(),
    /** RFC 5545 RRULE, without DTSTART; null where it is done once. */
    rrule: text("rrule"),
    /** Whether results of that time count in figures of uptime. */
    countsUptime: flag("counts_uptime").notNull(),
    public: flag("public").notNull(),
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
