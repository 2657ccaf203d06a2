/** Tables of alert channels, alerts, deliveries and open problems. */
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
    /** Whether the channel is also notified of incidents. */
    incidents: flag("incidents").notNull(),
    /** JSON of type-specific fields. */
    settings: text("settings").notNull(),
    /** JSON of type-specific secrets, sealed per field. */
    secrets: text("secrets").notNull(),
    lastDeliveryAt: text("last_delivery_at"),
    lastError: text("last_error"),
    /** Start of a permanent failure; null after the next success. */
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

/** Alerting state of a monitor between changes of state. Times are Unix milliseconds. */
export const alertMemory = sqliteTable(
  "alert_memory",
  {
    organizationId: organizationId(),
    monitorId: text("monitor_id").notNull(),
    /** JSON list of recent change times, oldest first. */
    changes: text("changes").notNull(),
    flappingSince: integer("flapping_since"),
    remindAt: integer("remind_at"),
    /** Time of the next decision without an event. */
    dueAt: integer("due_at"),
    /** Certificate of the last expiry alert, and its remaining days. */
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

/** Problems that a channel was notified of without a recovery message yet. */
export const openAlerts = sqliteTable(
  "open_alerts",
  {
    organizationId: text("organization_id").notNull(),
    /** ID of a monitor or an incident. */
    subjectId: text("subject_id").notNull(),
    channelId: text("channel_id").notNull(),
    since: text("since").notNull(),
    /**
     * JSON list of deliveries about the problem, each with its state. If none was delivered, no recovery message is
     * sent.
     */
    notifications: text("notifications").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.subjectId, t.channelId] }),
    index("open_alerts_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
  ],
);

/** Cases that are open at a channel's external service. */
export const openCases = sqliteTable(
  "open_cases",
  {
    organizationId: text("organization_id").notNull(),
    channelId: text("channel_id").notNull(),
    /** Subject of the case: a monitor, an incident, a channel or the organization. */
    subjectId: text("subject_id").notNull(),
    /**
     * Kind of problem. Each has a separate case, because services don't repeat notifications of acknowledged cases.
     */
    problem: text("problem").notNull(),
    key: text("key").notNull(),
    /** Alert that opened the case. */
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
    /** JSON of the message data at the time of the alert. */
    data: text("data").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("alerts_by_monitor").on(t.organizationId, t.monitorId, t.id),
    index("alerts_by_incident").on(t.organizationId, t.incidentId, t.id),
  ],
);

/** Outbox and delivery log: one message to one receiver. Future times are Unix milliseconds. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** Order of creation, independent of clocks. */
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    receiverType: text("receiver_type", { enum: ["channel", "mailbox", "webhook"] }).notNull(),
    receiverId: text("receiver_id").notNull(),
    /** Notice for a subscriber's mailbox or webhook. Deliveries to channels refer to alerts instead. */
    noticeId: text("notice_id"),
    /** `gathering` accepts further alerts. Contents are fixed from the first attempt on. */
    status: text("status", {
      enum: ["gathering", "sending", "delivered", "failed", "skipped"],
    }).notNull(),
    attempts: integer("attempts").notNull(),
    /** Number of attempts that followed the schedule. */
    scheduledAttempts: integer("scheduled_attempts").notNull(),
    /** Null after the last attempt. */
    dueAt: integer("due_at"),
    /** Lease of the process that makes the attempt. It expires after a crash. */
    leasedUntil: integer("leased_until"),
    firstAttemptAt: integer("first_attempt_at"),
    lastAttemptAt: integer("last_attempt_at"),
    createdAt: text("created_at").notNull(),
    deliveredAt: text("delivered_at"),
    error: text("error"),
    /** Start of a probably permanent failure; null after any other failure. */
    doubtfulSince: integer("doubtful_since"),
    /** No attempt before this time, as the receiver requested. */
    heldUntil: integer("held_until"),
    /** JSON list of recipients that already have the message, if there are several. */
    progress: text("progress"),
    /** Encoded size while alerts are added. */
    bytes: integer("bytes"),
    /** Case that the delivery opens or closes at the receiver. */
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

/** Alerts of a delivery, in order. */
export const deliveryAlerts = sqliteTable(
  "delivery_alerts",
  {
    organizationId: text("organization_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    position: integer("position").notNull(),
    alertId: text("alert_id").notNull(),
    /** For a recovery: JSON list of the deliveries about the problem. */
    follows: text("follows"),
    /** Omitted at the first attempt, because the message about the problem was never delivered. */
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
