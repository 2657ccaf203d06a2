import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  check,
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

// Every table belongs to one organization and says so in its keys: a composite foreign key
// (organization_id, id) makes a reference to another organization's row impossible in SQL itself.
// People alone, with what is theirs, belong to as many as they are members of.
// Timestamps of people's records are RFC 3339 text, as on the wire. The migrations add STRICT.

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  createdAt: text("created_at").notNull(),
  /** Since when it is deleted: nobody gets to it any more, and what is left of it goes in small portions. */
  deletedAt: text("deleted_at"),
});

const organizationId = () =>
  text("organization_id")
    .notNull()
    .references(() => organizations.id);
const reference = (
  columns: [AnySQLiteColumn, AnySQLiteColumn],
  to: { organizationId: AnySQLiteColumn; id: AnySQLiteColumn },
) => foreignKey({ columns, foreignColumns: [to.organizationId, to.id] });
const incidentStatus = () =>
  text("status", { enum: ["investigating", "identified", "monitoring", "resolved"] });
const flag = (name: string) => integer(name, { mode: "boolean" });

/** What an organization sets for itself; each has one row. */
export const organizationSettings = sqliteTable(
  "organization_settings",
  {
    organizationId: organizationId(),
    /** Equal to the organization's. */
    id: text("id").notNull(),
    /** JSON of the mail server, without its password; null where none is set. */
    smtp: text("smtp"),
    /** JSON of the sealed secrets by field. */
    secrets: text("secrets").notNull(),
    /** IANA name: in which the admin page tells times. */
    timeZone: text("time_zone").notNull(),
    version: integer("version").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

/** Who signs in to the admin page. */
export const people = sqliteTable(
  "people",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    /** The address as it is compared: in lower case. Unique in an organization, not in the appliance: nobody learns who else signs in. */
    emailKey: text("email_key").notNull(),
    /** argon2id. */
    passwordHash: text("password_hash").notNull(),
    /** Sealed; null without two-factor. */
    totpSecret: text("totp_secret"),
    /** Sealed; to be confirmed by a first code. */
    totpPending: text("totp_pending"),
    /** The latest step a code was taken of: none is taken twice. */
    totpStep: integer("totp_step").notNull(),
    /** Runs the appliance; one of the people does, always. */
    administrator: flag("administrator").notNull().default(false),
    /** Wrong codes after the right password that the person has not been told of yet, and when the last one came. */
    wrongCodes: integer("wrong_codes").notNull().default(0),
    wrongCodeAt: text("wrong_code_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    index("people_by_email").on(t.emailKey),
    index("administrators")
      .on(t.id)
      .where(sql`administrator`),
  ],
);

const personId = () =>
  text("person_id")
    .notNull()
    .references(() => people.id, { onDelete: "cascade" });
const role = () => text("role", { enum: ["viewer", "member", "admin", "owner"] }).notNull();

export const memberships = sqliteTable(
  "memberships",
  {
    organizationId: organizationId(),
    personId: personId(),
    role: role(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.personId] }),
    index("memberships_by_person").on(t.personId),
    check("memberships_role", sql`${t.role} IN ('viewer', 'member', 'admin', 'owner')`),
  ],
);

/** Codes that stand in once each for a lost phone. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    personId: personId(),
    /** SHA-256, hexadecimal. */
    hash: text("hash").notNull(),
  },
  (t) => [primaryKey({ columns: [t.personId, t.hash] })],
);

export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    personId: personId(),
    /** SHA-256 of the cookie, hexadecimal; the cookie itself is never stored. */
    tokenHash: text("token_hash").notNull().unique(),
    /** `two-factor` waits for a code and opens nothing yet. */
    stage: text("stage", { enum: ["two-factor", "signed-in"] }).notNull(),
    /** Codes that were wrong while it waited. */
    wrongCodes: integer("wrong_codes").notNull(),
    address: text("address").notNull(),
    userAgent: text("user_agent").notNull(),
    createdAt: text("created_at").notNull(),
    /** Written at most once a minute. */
    lastSeenAt: text("last_seen_at").notNull(),
  },
  (t) => [
    index("sessions_by_person").on(t.personId),
    check("sessions_stage", sql`${t.stage} IN ('two-factor', 'signed-in')`),
  ],
);

export const invitations = sqliteTable(
  "invitations",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    role: role(),
    /** SHA-256 of the link's token, hexadecimal. */
    tokenHash: text("token_hash").notNull().unique(),
    invitedBy: text("invited_by").notNull(),
    /** The person who invites; theirs end when they may no longer invite. */
    invitedById: text("invited_by_id"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    uniqueIndex("invitations_by_email").on(t.organizationId, t.emailKey),
    check("invitations_role", sql`${t.role} IN ('viewer', 'member', 'admin', 'owner')`),
  ],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    scope: text("scope", { enum: ["read", "write"] }).notNull(),
    /** SHA-256 of the key, hexadecimal; the key itself is never stored. */
    hash: text("hash").notNull().unique(),
    /** The person who made it; null for the command line. */
    createdById: text("created_by_id"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at"),
    revokedAt: text("revoked_at"),
    /** Written at most once a minute. */
    lastUsedAt: text("last_used_at"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    check("api_keys_scope", sql`${t.scope} IN ('read', 'write')`),
  ],
);

/** Who changed what; appended in the same write as the change. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: organizationId(),
    at: text("at").notNull(),
    actorType: text("actor_type", {
      enum: ["api-key", "person", "command-line", "monitor", "visitor"],
    }).notNull(),
    actorId: text("actor_id"),
    actorName: text("actor_name").notNull(),
    action: text("action").notNull(),
    subjectId: text("subject_id").notNull(),
    /** JSON list of the fields that were changed; never their values, which may be secret. */
    fields: text("fields"),
    requestId: text("request_id"),
  },
  (t) => [
    index("audit_entries_by_organization").on(t.organizationId, t.seq),
    // Who posted to an incident.
    index("audit_entries_of_incidents")
      .on(t.organizationId, t.subjectId, t.seq)
      .where(
        sql`action IN ('incident.opened', 'incident.updated', 'incident.resolved', 'incident.reopened')`,
      ),
  ],
);

/** What happened, in order; alerts, live pages and caches follow it by `seq`. */
export const events = sqliteTable(
  "events",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: organizationId(),
    at: text("at").notNull(),
    type: text("type").notNull(),
    subjectId: text("subject_id").notNull(),
    data: text("data"),
  },
  (t) => [
    index("events_of_organization").on(t.organizationId, t.seq),
    // The history of a monitor's states.
    index("events_of_states")
      .on(t.organizationId, t.subjectId, t.seq)
      .where(
        sql`type IN ('monitor.pending', 'monitor.up', 'monitor.degraded', 'monitor.down', 'monitor.maintenance', 'monitor.paused', 'monitor.resumed')`,
      ),
  ],
);

/** Answers of POST requests that carried an Idempotency-Key, stored in the same write as what they did. */
export const idempotentAnswers = sqliteTable(
  "idempotent_answers",
  {
    organizationId: organizationId(),
    /** Of the API key or the person who asked. */
    actorId: text("actor_id").notNull(),
    route: text("route").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    bodyHash: text("body_hash").notNull(),
    status: integer("status").notNull(),
    location: text("location"),
    etag: text("etag").notNull(),
    body: text("body").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.actorId, t.route, t.idempotencyKey] }),
    index("idempotent_answers_by_age").on(t.createdAt),
  ],
);

export const alertChannels = sqliteTable(
  "alert_channels",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    type: text("type").notNull(),
    enabled: flag("enabled").notNull(),
    isDefault: flag("is_default").notNull(),
    /** Whether it is told of incidents, too. */
    incidents: flag("incidents").notNull(),
    /** JSON of the type's own fields. */
    settings: text("settings").notNull(),
    /** JSON of the type's sealed secrets by field. */
    secrets: text("secrets").notNull(),
    lastDeliveryAt: text("last_delivery_at"),
    lastError: text("last_error"),
    /** Since when alerts to it are given up; null again from its next success. */
    failingSince: text("failing_since"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

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

export const monitorGroupChannels = sqliteTable(
  "monitor_group_channels",
  {
    organizationId: text("organization_id").notNull(),
    groupId: text("group_id").notNull(),
    channelId: text("channel_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.groupId, t.channelId] }),
    index("monitor_group_channels_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
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
    retryIntervalSeconds: integer("retry_interval_seconds").notNull(),
    degradedAfterMs: integer("degraded_after_ms"),
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
    status: text("status", {
      enum: ["pending", "up", "degraded", "down", "maintenance"],
    }).notNull(),
    since: text("since").notNull(),
    /** Whether the monitor or its group is paused; `followPauses` keeps it so. */
    paused: flag("paused").notNull(),
    /** Failed checks in a row. */
    failures: integer("failures").notNull(),
    /** Counts the pauses and resumptions: the result of a check that began before one is void after it. */
    epoch: integer("epoch").notNull(),
    lastCheckedAt: text("last_checked_at"),
    lastMessage: text("last_message"),
    latencyMs: integer("latency_ms"),
    certificateExpiresAt: text("certificate_expires_at"),
  },
  (t) => [
    uniqueIndex("monitor_states_by_monitor").on(t.organizationId, t.monitorId),
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
    },
    (t) => [primaryKey({ columns: [t.period, t.monitorKey] })],
  );

/** Sums of heartbeats, written with them: equal to what the heartbeats themselves add up to. */
export const uptimeHours = rollup("uptime_hours", "hour");
export const uptimeDays = rollup("uptime_days", "day");

export const monitorChannels = sqliteTable(
  "monitor_channels",
  {
    organizationId: text("organization_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    channelId: text("channel_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId, t.channelId] }),
    index("monitor_channels_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
  ],
);

export const incidents = sqliteTable(
  "incidents",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    title: text("title").notNull(),
    status: incidentStatus().notNull(),
    severity: text("severity", { enum: ["minor", "major", "critical"] }).notNull(),
    monitorId: text("monitor_id"),
    origin: text("origin", { enum: ["manual", "monitor"] }).notNull(),
    public: flag("public").notNull(),
    resolvedAt: text("resolved_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** JSON of the facts behind a title that a monitor gave; null for one that people wrote. */
    automatic: text("automatic"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("incidents_by_state").on(t.organizationId, t.status, t.severity, t.id),
    index("incidents_by_change").on(t.organizationId, t.updatedAt),
    index("incidents_by_monitor").on(t.organizationId, t.monitorId, t.id),
    index("incidents_open_by_monitor")
      .on(t.organizationId, t.monitorId)
      .where(sql`status <> 'resolved'`),
    reference([t.organizationId, t.monitorId], monitors),
    check(
      "incidents_status",
      sql`${t.status} IN ('investigating', 'identified', 'monitoring', 'resolved')`,
    ),
    check("incidents_severity", sql`${t.severity} IN ('minor', 'major', 'critical')`),
    check("incidents_origin", sql`${t.origin} IN ('manual', 'monitor')`),
  ],
);

export const incidentUpdates = sqliteTable(
  "incident_updates",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    /** The incident's version that this update made: the order of the timeline, whatever the clock says. */
    seq: integer("seq").notNull(),
    id: text("id").notNull(),
    status: incidentStatus().notNull(),
    message: text("message").notNull(),
    createdAt: text("created_at").notNull(),
    /** JSON of the facts behind what a monitor wrote; null for people's words. */
    automatic: text("automatic"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.seq] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** How many incidents stand in each state, kept by triggers: a list's total never counts rows. */
export const incidentCounts = sqliteTable(
  "incident_counts",
  {
    organizationId: organizationId(),
    status: text("status").notNull(),
    severity: text("severity").notNull(),
    count: integer("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.status, t.severity] })],
);

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

export const statusPages = sqliteTable(
  "status_pages",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** Names the page in its address, among those of all organizations. */
    slug: text("slug").notNull().unique(),
    /** The organization's own page: shows its incidents of any monitor, and can't be deleted. */
    isDefault: flag("is_default").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    /** `#rrggbb`; null for the usual one. */
    accentColor: text("accent_color"),
    theme: text("theme", { enum: ["auto", "light", "dark"] }).notNull(),
    visibility: text("visibility", { enum: ["public", "password", "hidden"] }).notNull(),
    /** argon2id; null where none is set. */
    passwordHash: text("password_hash"),
    showLatency: flag("show_latency").notNull(),
    historyDays: integer("history_days").notNull(),
    /** IANA name. */
    timeZone: text("time_zone").notNull(),
    /** Media type and Base64 of the image; null where there is none. */
    logoType: text("logo_type"),
    logoData: text("logo_data"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

const pageId = () => text("page_id").notNull();

/** Host names under which a page answers at `/`. */
export const statusPageHosts = sqliteTable(
  "status_page_hosts",
  {
    host: text("host").primaryKey(),
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    position: integer("position").notNull(),
  },
  (t) => [
    index("status_page_hosts_by_page").on(t.organizationId, t.pageId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** Parts of a page, in order: a monitor group, or a free list of monitors. */
export const statusPageSections = sqliteTable(
  "status_page_sections",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    position: integer("position").notNull(),
    /** Null where the group's own name is shown. */
    name: text("name"),
    groupId: text("group_id"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.position] }),
    index("status_page_sections_by_group").on(t.organizationId, t.groupId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.groupId], monitorGroups).onDelete("cascade"),
  ],
);

/** Monitors of a page's free lists, and public names of monitors in its groups. */
export const statusPageMonitors = sqliteTable(
  "status_page_monitors",
  {
    organizationId: text("organization_id").notNull(),
    pageId: pageId(),
    /** Of its section. */
    section: integer("section").notNull(),
    position: integer("position").notNull(),
    monitorId: text("monitor_id").notNull(),
    /** Null where the monitor's own name is shown. */
    publicName: text("public_name"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.pageId, t.section, t.monitorId] }),
    index("status_page_monitors_by_monitor").on(t.organizationId, t.monitorId),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

/** Who is told of updates of a status page. */
export const subscribers = sqliteTable(
  "subscribers",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type", { enum: ["email", "webhook"] }).notNull(),
    /** The mailbox or the URL, as it was given. */
    address: text("address").notNull(),
    /** What makes two of them the same: of a mailbox in small letters. */
    addressKey: text("address_key").notNull(),
    /** JSON: the sealed secret that signs what a webhook gets. */
    secrets: text("secrets").notNull(),
    /** Null while its owner has not said yes. */
    confirmedAt: text("confirmed_at"),
    /** It is told of events behind this one. */
    heardFrom: integer("heard_from"),
    /** Whether somebody gave it on the page itself, and not through the API. */
    byVisitor: flag("by_visitor").notNull().default(false),
    /** How often it was asked, and when last, in Unix milliseconds. */
    asked: integer("asked").notNull(),
    askedAt: integer("asked_at"),
    lastDeliveryAt: text("last_delivery_at"),
    lastError: text("last_error"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    uniqueIndex("subscribers_by_address").on(t.organizationId, t.pageId, t.type, t.addressKey),
    index("subscribers_by_page").on(t.organizationId, t.pageId, t.id),
    index("subscribers_waiting")
      .on(t.organizationId, t.pageId, t.askedAt)
      .where(sql`confirmed_at is null and by_visitor`),
    index("subscribers_unconfirmed")
      .on(t.askedAt)
      .where(sql`confirmed_at is null`),
    check("subscribers_type", sql`${t.type} IN ('email', 'webhook')`),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** What a status page told its subscribers. */
export const notices = sqliteTable(
  "notices",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    pageId: pageId(),
    type: text("type").notNull(),
    at: text("at").notNull(),
    /** JSON of what there is to tell, as it was then. */
    data: text("data").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("notices_by_time").on(t.at),
    reference([t.organizationId, t.pageId], statusPages).onDelete("cascade"),
  ],
);

/** How far each reader of the events has come. */
export const followers = sqliteTable("followers", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
  /** Counts its writes: of two processes that read alike only one writes. */
  version: integer("version").notNull(),
  /** JSON of how far it is with the event after that one, where that takes more than one write. */
  part: text("part"),
});

/** What alerting remembers of a monitor from one change of state to the next. Times are Unix milliseconds. */
export const alertMemory = sqliteTable(
  "alert_memory",
  {
    organizationId: organizationId(),
    monitorId: text("monitor_id").notNull(),
    /** JSON list of its latest changes' times, oldest first. */
    changes: text("changes").notNull(),
    flappingSince: integer("flapping_since"),
    remindAt: integer("remind_at"),
    /** When there is something to decide without an event. */
    dueAt: integer("due_at"),
    /** The certificate that was told of, and the days it had left. */
    certificateExpiresAt: text("certificate_expires_at"),
    certificateDays: integer("certificate_days"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId] }),
    index("alert_memory_due")
      .on(t.dueAt)
      .where(sql`due_at is not null`),
  ],
);

/** Problems that a channel was told of and whose end it has not been told yet. */
export const openAlerts = sqliteTable(
  "open_alerts",
  {
    organizationId: text("organization_id").notNull(),
    /** Of a monitor or an incident. */
    subjectId: text("subject_id").notNull(),
    channelId: text("channel_id").notNull(),
    since: text("since").notNull(),
    /** JSON list of the deliveries that told it, each with the state it told: without any of them delivered, its end is not told either. */
    tellings: text("tellings").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.subjectId, t.channelId] }),
    index("open_alerts_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
  ],
);

/** Cases that a channel was asked to open at its service, and not yet to close. */
export const openCases = sqliteTable(
  "open_cases",
  {
    organizationId: text("organization_id").notNull(),
    channelId: text("channel_id").notNull(),
    /** What it is about: a monitor, an incident, a channel or the organization. */
    subjectId: text("subject_id").notNull(),
    /** What is wrong with it: a case of its own each, since an acknowledged one gets no louder. */
    problem: text("problem").notNull(),
    key: text("key").notNull(),
    /** What opened it. */
    alertId: text("alert_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.channelId, t.subjectId, t.problem] }),
    index("open_cases_by_subject").on(t.organizationId, t.subjectId),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
    reference([t.organizationId, t.alertId], alerts),
  ],
);

export const alerts = sqliteTable(
  "alerts",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    type: text("type").notNull(),
    at: text("at").notNull(),
    monitorId: text("monitor_id"),
    incidentId: text("incident_id"),
    /** JSON of what there is to tell, as it was then. */
    data: text("data").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("alerts_by_monitor").on(t.organizationId, t.monitorId, t.id),
    index("alerts_by_incident").on(t.organizationId, t.incidentId, t.id),
  ],
);

/** The outbox and its log: one message to one receiver. Times to come are Unix milliseconds. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** The order in which they were made, whatever the clock says. */
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    receiverType: text("receiver_type", { enum: ["channel", "mailbox", "webhook"] }).notNull(),
    receiverId: text("receiver_id").notNull(),
    /** What a subscriber's mailbox or webhook is told; a channel is told alerts. */
    noticeId: text("notice_id"),
    /** `gathering` still takes further alerts; from its first attempt on it stays as it is. */
    status: text("status", {
      enum: ["gathering", "sending", "delivered", "failed", "skipped"],
    }).notNull(),
    attempts: integer("attempts").notNull(),
    /** Those of them that were made when they were due. */
    scheduledAttempts: integer("scheduled_attempts").notNull(),
    /** Null once it is over. */
    dueAt: integer("due_at"),
    /** Whoever makes an attempt holds it until then; a crash lets it go by itself. */
    leasedUntil: integer("leased_until"),
    firstAttemptAt: integer("first_attempt_at"),
    lastAttemptAt: integer("last_attempt_at"),
    createdAt: text("created_at").notNull(),
    deliveredAt: text("delivered_at"),
    error: text("error"),
    /** Since when it fails as if for good; null again from any other failure. */
    doubtfulSince: integer("doubtful_since"),
    /** Its receiver asked that nothing comes before. */
    heldUntil: integer("held_until"),
    /** JSON of who has it already, where it goes to several at once. */
    progress: text("progress"),
    /** So large it is, encoded, while it gathers. */
    bytes: integer("bytes"),
    /** The case that it opens or closes at the receiver. */
    caseKey: text("case_key"),
    closesCase: flag("closes_case"),
  },
  (t) => [
    uniqueIndex("deliveries_by_id").on(t.organizationId, t.id),
    index("deliveries_by_receiver").on(t.organizationId, t.receiverId, t.seq),
    index("deliveries_pending")
      .on(t.receiverType, t.organizationId, t.receiverId, t.seq, t.dueAt, t.attempts, t.heldUntil)
      .where(sql`due_at is not null`),
    index("deliveries_held")
      .on(t.receiverType, t.organizationId, t.receiverId, t.heldUntil)
      .where(sql`due_at is not null and held_until is not null`),
    check(
      "deliveries_status",
      sql`${t.status} IN ('gathering', 'sending', 'delivered', 'failed', 'skipped')`,
    ),
    check("deliveries_receiver", sql`${t.receiverType} IN ('channel', 'mailbox', 'webhook')`),
  ],
);

/** What a delivery tells, in order. */
export const deliveryAlerts = sqliteTable(
  "delivery_alerts",
  {
    organizationId: text("organization_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    position: integer("position").notNull(),
    alertId: text("alert_id").notNull(),
    /** Of a recovery: JSON list of the deliveries that told of the problem. */
    follows: text("follows"),
    /** Left out at the first attempt, because what it follows never got there. */
    withheld: flag("withheld").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.deliveryId, t.position] }),
    index("delivery_alerts_by_alert").on(t.organizationId, t.alertId),
    reference([t.organizationId, t.deliveryId], deliveries).onDelete("cascade"),
    reference([t.organizationId, t.alertId], alerts),
  ],
);

export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    organizationId: text("organization_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    number: integer("number").notNull(),
    at: text("at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    delivered: flag("delivered").notNull(),
    message: text("message").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.deliveryId, t.number] }),
    reference([t.organizationId, t.deliveryId], deliveries).onDelete("cascade"),
  ],
);

/** Never holds a row: a guard statement that inserts here fails its whole batch. See `must`. */
export const guards = sqliteTable("guards", { holds: integer("holds").notNull() }, (t) => [
  check("guard", sql`${t.holds} = 1`),
]);
