import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId, reference } from "./columns.ts";
import { monitorGroups, monitors } from "./monitoring.ts";

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
    index("alert_memory_due_of_organization")
      .on(t.organizationId, t.dueAt)
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
    notifications: text("notifications").notNull(),
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
    index("open_cases_by_alert").on(t.organizationId, t.alertId),
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
    oneOf("deliveries_status", t.status),
    oneOf("deliveries_receiver", t.receiverType),
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
