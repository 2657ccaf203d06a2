/** Tables of alert channels, alerts, deliveries and open problems. */
import { sql } from "drizzle-orm";
import {
  check,
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId, reference } from "./columns.ts";
import { memberships } from "./accounts.ts";
import { schedules } from "./schedules.ts";
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
    /** Whether the channel is also notified of incidents of all monitors. */
    incidents: flag("incidents").notNull(),
    /** JSON list of the kinds of messages that the channel gets; null for all. */
    notifyOn: text("notify_on"),
    /** JSON of `QuietHours`, in which only critical alerts are sent at once; null for none. */
    quietHours: text("quiet_hours"),
    /** JSON of the fields of the channel's type. */
    settings: text("settings").notNull(),
    /** JSON of the secrets of the channel's type, each sealed separately. */
    secrets: text("secrets").notNull(),
    lastDeliveryAt: text("last_delivery_at"),
    lastError: text("last_error"),
    /** Time of the first attempt that failed, or probably failed, permanently; null after a success. */
    failingSince: text("failing_since"),
    /** Owner of a contact method; null for an ordinary channel. Only contact methods use the following columns. */
    personId: text("person_id"),
    /** Position among the contact methods of the person. */
    position: integer("position"),
    /** Minutes after a page at which the contact method is used; null for never. */
    afterMinutes: integer("after_minutes"),
    criticalAfterMinutes: integer("critical_after_minutes"),
    /** Time at which the person entered the last code. Only verified contact methods are used. */
    verifiedAt: text("verified_at"),
    /** SHA-256 of the code that was sent last; null without a valid one. */
    codeHash: text("code_hash"),
    /** Unix milliseconds. */
    codeExpiresAt: integer("code_expires_at"),
    /** Number of wrong codes since the code was sent. */
    codeAttempts: integer("code_attempts"),
    /** Channel whose gateway sends the messages of a contact method; null if it has its own. */
    gatewayId: text("gateway_id"),
    /** Messages that the channel's gateway accepted or is being sent on a day in UTC, such as `2026-11-20`; null before the first one. */
    sentOn: text("sent_on"),
    sentMessages: integer("sent_messages"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("alert_channels_by_person")
      .on(t.organizationId, t.personId, t.position)
      .where(sql`person_id is not null`),
  ],
);

/** Rules of escalation: whom to notify if no one acknowledges an alert. */
export const escalationPolicies = sqliteTable(
  "escalation_policies",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    /** Number of repetitions of all steps after the first run. */
    repeat: integer("repeat").notNull(),
    /** Whether monitors without a policy use it. At most one policy of an organization is the default. */
    isDefault: flag("is_default").notNull(),
    /** JSON list of the severities of incidents that use the policy. */
    incidentSeverities: text("incident_severities").notNull(),
    /** JSON of the day and the hours of monthly drills; null for none. */
    drill: text("drill"),
    /** Time of the next monthly drill, in Unix milliseconds; null for none. */
    drillDueAt: integer("drill_due_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("escalation_policies_drill_due")
      .on(t.drillDueAt)
      .where(sql`drill_due_at is not null`),
  ],
);

/** Targets of the steps of escalation policies. Each row has exactly one target. */
export const escalationTargets = sqliteTable(
  "escalation_targets",
  {
    organizationId: text("organization_id").notNull(),
    policyId: text("policy_id").notNull(),
    /** Number of the step, from 0. */
    step: integer("step").notNull(),
    /** Position in the step, from 0. */
    position: integer("position").notNull(),
    /** Minutes from the start of the alert, the same in all targets of a step. */
    afterMinutes: integer("after_minutes").notNull(),
    personId: text("person_id"),
    scheduleId: text("schedule_id"),
    channelId: text("channel_id"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.policyId, t.step, t.position] }),
    index("escalation_targets_by_person").on(t.organizationId, t.personId),
    index("escalation_targets_by_schedule").on(t.organizationId, t.scheduleId),
    index("escalation_targets_by_channel").on(t.organizationId, t.channelId),
    check(
      "escalation_targets_target",
      sql`(${t.personId} IS NOT NULL) + (${t.scheduleId} IS NOT NULL) + (${t.channelId} IS NOT NULL) = 1`,
    ),
    reference([t.organizationId, t.policyId], escalationPolicies).onDelete("cascade"),
    foreignKey({
      columns: [t.organizationId, t.personId],
      foreignColumns: [memberships.organizationId, memberships.personId],
    }),
    reference([t.organizationId, t.scheduleId], schedules),
    reference([t.organizationId, t.channelId], alertChannels),
  ],
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

/** Alerting state of a monitor between state changes. Times are Unix milliseconds. */
export const alertMemory = sqliteTable(
  "alert_memory",
  {
    organizationId: organizationId(),
    monitorId: text("monitor_id").notNull(),
    /** JSON list of the times of recent state changes, oldest first. */
    changes: text("changes").notNull(),
    flappingSince: integer("flapping_since"),
    /** Start of an outage whose alert is held, because a monitor on which it depends is, or may be, the cause. */
    heldSince: integer("held_since"),
    /** The monitor that is or may be the cause of the held outage. */
    heldBehind: text("held_behind"),
    /** When to decide again. */
    heldUntil: integer("held_until"),
    /** JSON of the cause that both have in common, if the alert belongs to that of the other monitor; null for a dependency. */
    heldCause: text("held_cause"),
    /** When the channels are notified of the alerts that belong to this monitor's. */
    joinedDueAt: integer("joined_due_at"),
    remindAt: integer("remind_at"),
    /** Time of the next timer: a reminder, or the end of flapping. Null for none. */
    dueAt: integer("due_at"),
    /** Expiry of the certificate in the last certificate alert, and the reported step (14, 7, 3 or 1 days). */
    certificateExpiresAt: text("certificate_expires_at"),
    certificateDays: integer("certificate_days"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.monitorId] }),
    index("alert_memory_due_of_organization")
      .on(t.organizationId, t.dueAt)
      .where(sql`due_at is not null`),
    index("alert_memory_held")
      .on(t.organizationId, t.heldBehind)
      .where(sql`held_behind is not null`),
  ],
);

/** Problems that a channel was notified of and that are not over. */
export const openAlerts = sqliteTable(
  "open_alerts",
  {
    organizationId: text("organization_id").notNull(),
    /** ID of a monitor or incident, or the key of a problem of the appliance. */
    subjectId: text("subject_id").notNull(),
    channelId: text("channel_id").notNull(),
    since: text("since").notNull(),
    /**
     * JSON list of deliveries about the problem, each with the reported state. A recovery is sent
     * only if one of them arrived.
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
    /** ID of a monitor, incident or channel, or the key of a problem of the appliance. */
    subjectId: text("subject_id").notNull(),
    /**
     * Kind of problem, such as `down` or `failing`. Each kind has its own case, because services
     * ignore updates of an acknowledged case.
     */
    problem: text("problem").notNull(),
    key: text("key").notNull(),
    /** The alert that opened or last updated the case. */
    alertId: text("alert_id").notNull(),
    /** Whether the case was acknowledged at the service, because the alert is acknowledged or snoozed. */
    acknowledged: flag("acknowledged"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.channelId, t.subjectId, t.problem] }),
    index("open_cases_by_subject").on(t.organizationId, t.subjectId),
    index("open_cases_by_alert").on(t.organizationId, t.alertId),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
    reference([t.organizationId, t.alertId], alerts),
  ],
);

/**
 * Alerts: problems that people are notified of, from start to end. Integer times are Unix
 * milliseconds.
 */
export const alertRecords = sqliteTable(
  "alert_records",
  {
    organizationId: organizationId(),
    /** ID of the first message. */
    id: text("id").notNull(),
    /** Kind of problem. At most one alert per subject and family is open. */
    family: text("family", {
      enum: ["state", "certificate", "incident", "channel", "problem", "drill", "source"],
    }).notNull(),
    /** ID of a monitor, incident, channel, policy, person or source alert, or the key of a problem of the appliance. */
    subjectId: text("subject_id").notNull(),
    /** Type, time and data of the last message about the problem. */
    type: text("type").notNull(),
    at: text("at").notNull(),
    data: text("data").notNull(),
    priority: text("priority", { enum: ["low", "normal", "critical"] }).notNull(),
    /** Start of the problem. */
    since: text("since").notNull(),
    resolvedAt: text("resolved_at"),
    /** Why the alert ended, such as `recovered` or `muted`. */
    resolvedBecause: text("resolved_because"),
    acknowledgedAt: text("acknowledged_at"),
    snoozedUntil: integer("snoozed_until"),
    /** The escalation policy, the step that runs next, and the number of finished repetitions. */
    policyId: text("policy_id"),
    step: integer("step").notNull(),
    round: integer("round").notNull(),
    /** Time of the next timer: the end of the snooze, or the next step. Null for none. */
    dueAt: integer("due_at"),
    /** Start of the escalation, from which the times of its steps count. Null before it starts. Unix milliseconds. */
    escalatedFrom: integer("escalated_from"),
    /** JSON list of the times at which the steps of the last repetition ran, by step. Null before the first. Unix milliseconds. */
    runs: text("runs"),
    /** Random part of the keys of signed links. A new one revokes all links. */
    linkKey: text("link_key").notNull(),
    version: integer("version").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    uniqueIndex("alert_records_open")
      .on(t.organizationId, t.subjectId, t.family)
      .where(sql`resolved_at is null`),
    index("alert_records_by_subject").on(t.organizationId, t.subjectId, t.id),
    index("alert_records_due_of_organization")
      .on(t.organizationId, t.dueAt)
      .where(sql`due_at is not null`),
    index("alert_records_drills")
      .on(t.organizationId, t.subjectId, t.id)
      .where(sql`family = 'drill'`),
    index("alert_records_resolved")
      .on(t.resolvedAt)
      .where(sql`resolved_at is not null`),
    oneOf("alert_records_family", t.family),
    oneOf("alert_records_priority", t.priority),
  ],
);

/** People, keys and links that acknowledged an alert. */
export const alertAcknowledgments = sqliteTable(
  "alert_acknowledgments",
  {
    organizationId: text("organization_id").notNull(),
    recordId: text("record_id").notNull(),
    actorType: text("actor_type").notNull(),
    /** ID of the actor's record; empty for the command line. */
    actorId: text("actor_id").notNull(),
    actorName: text("actor_name").notNull(),
    at: text("at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.recordId, t.actorType, t.actorId] }),
    reference([t.organizationId, t.recordId], alertRecords).onDelete("cascade"),
  ],
);

/** Entries of an alert's timeline that no message and no delivery shows. */
export const alertTimeline = sqliteTable(
  "alert_timeline",
  {
    /** Order of the entries, independent of clocks. */
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    recordId: text("record_id").notNull(),
    at: text("at").notNull(),
    type: text("type").notNull(),
    /** Null for entries without an actor. */
    actorType: text("actor_type"),
    actorId: text("actor_id"),
    actorName: text("actor_name"),
    /** One sentence, or the text of a note. */
    message: text("message"),
  },
  (t) => [
    index("alert_timeline_by_record").on(t.organizationId, t.recordId, t.seq),
    reference([t.organizationId, t.recordId], alertRecords).onDelete("cascade"),
  ],
);

/** Planned notifications of escalation steps. A sent or canceled one is removed. */
export const alertNotifications = sqliteTable(
  "alert_notifications",
  {
    organizationId: text("organization_id").notNull(),
    recordId: text("record_id").notNull(),
    channelId: text("channel_id").notNull(),
    /** The person whose contact method the channel is; null for other channels. */
    personId: text("person_id"),
    step: integer("step").notNull(),
    round: integer("round").notNull(),
    /** Unix milliseconds. */
    dueAt: integer("due_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.recordId, t.channelId, t.step, t.round] }),
    index("alert_notifications_due_of_organization").on(t.organizationId, t.dueAt),
    index("alert_notifications_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.recordId], alertRecords).onDelete("cascade"),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
  ],
);

/** Messages about alerts, and test messages. */
export const alerts = sqliteTable(
  "alerts",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    type: text("type").notNull(),
    at: text("at").notNull(),
    monitorId: text("monitor_id"),
    incidentId: text("incident_id"),
    /** JSON of the alert's data, fixed at the time of the alert. */
    data: text("data").notNull(),
    /** The alert to which the message belongs; null for tests, and for messages of older versions. */
    recordId: text("record_id"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("alerts_by_record")
      .on(t.organizationId, t.recordId, t.id)
      .where(sql`record_id is not null`),
    index("alerts_by_monitor").on(t.organizationId, t.monitorId, t.id),
    index("alerts_by_incident").on(t.organizationId, t.incidentId, t.id),
  ],
);

/** Outbox and delivery log: messages, each to one receiver. Integer times are Unix milliseconds. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** Creation order, independent of clocks. */
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    receiverType: text("receiver_type", { enum: ["channel", "mailbox", "webhook"] }).notNull(),
    receiverId: text("receiver_id").notNull(),
    /** The notice to a subscriber. Null for alert channels, whose deliveries refer to alerts. */
    noticeId: text("notice_id"),
    /** JSON of `SentReport`, for a report that a person sent; null for all other deliveries. */
    report: text("report"),
    /** `gathering` accepts further alerts. The content is fixed from the first attempt on. */
    status: text("status", {
      enum: ["gathering", "sending", "delivered", "failed", "skipped"],
    }).notNull(),
    attempts: integer("attempts").notNull(),
    /** Number of attempts that followed the schedule, without early ones. */
    scheduledAttempts: integer("scheduled_attempts").notNull(),
    /** Time of the next attempt; null once the delivery is completed. */
    dueAt: integer("due_at"),
    /** End of the claim of the process that makes the attempt. After a crash, it expires. */
    leasedUntil: integer("leased_until"),
    firstAttemptAt: integer("first_attempt_at"),
    lastAttemptAt: integer("last_attempt_at"),
    createdAt: text("created_at").notNull(),
    deliveredAt: text("delivered_at"),
    error: text("error"),
    /** Start of a series of failures that look permanent; null after any other outcome. */
    doubtfulSince: integer("doubtful_since"),
    /** Earliest time of the next attempt, as requested by the receiver. */
    heldUntil: integer("held_until"),
    /** JSON of `Progress`: recipients that have or rejected the message. Null if all or none have it. */
    progress: text("progress"),
    /** Encoded size of a digest in bytes, compared with the channel type's limit. */
    bytes: integer("bytes"),
    /** Key of the case that the delivery opens or closes at the receiver. */
    caseKey: text("case_key"),
    closesCase: flag("closes_case"),
    /** Whether quiet hours of the channel hold the delivery until `due_at`. Null if not. */
    quiet: flag("quiet"),
    /** How the delivery changes an open case. Null if it opens or closes the case. */
    caseChange: text("case_change", { enum: ["acknowledge", "unacknowledge"] }),
    /** Whether the message reached the recipient, as a sentence, and since when; null while that is unknown. */
    receipt: text("receipt"),
    receiptAt: text("receipt_at"),
  },
  (t) => [
    uniqueIndex("deliveries_by_id").on(t.organizationId, t.id),
    index("deliveries_by_receiver").on(t.organizationId, t.receiverId, t.seq),
    index("deliveries_pending")
      .on(
        t.receiverType,
        t.organizationId,
        t.receiverId,
        t.seq,
        t.dueAt,
        t.attempts,
        t.heldUntil,
        t.quiet,
      )
      .where(sql`due_at is not null`),
    // For the receipt of an update.
    index("deliveries_by_notice")
      .on(t.organizationId, t.noticeId, t.status)
      .where(sql`notice_id is not null`),
    index("deliveries_held")
      .on(t.receiverType, t.organizationId, t.receiverId, t.heldUntil)
      .where(sql`due_at is not null and held_until is not null`),
    index("deliveries_quiet")
      .on(t.organizationId, t.receiverId)
      .where(sql`due_at is not null and quiet`),
    index("deliveries_quiet_due")
      .on(t.dueAt)
      .where(sql`due_at is not null and quiet`),
    oneOf("deliveries_status", t.status),
    oneOf("deliveries_receiver", t.receiverType),
  ],
);

/** Receipts of emergencies, which a service repeats until someone confirms them. Times are Unix milliseconds. */
export const alertReceipts = sqliteTable(
  "alert_receipts",
  {
    organizationId: text("organization_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    /** ID of the receipt at the service. */
    receipt: text("receipt").notNull(),
    /** Time of the last request for it; first, the time of the delivery. */
    polledAt: integer("polled_at").notNull(),
    /** When the service stops repeating the message. */
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.deliveryId] }),
    reference([t.organizationId, t.deliveryId], deliveries).onDelete("cascade"),
  ],
);

/** Alerts of each delivery, in order. */
export const deliveryAlerts = sqliteTable(
  "delivery_alerts",
  {
    organizationId: text("organization_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    position: integer("position").notNull(),
    alertId: text("alert_id").notNull(),
    /** For a recovery: JSON list of the deliveries about the problem. */
    follows: text("follows"),
    /** Whether the alert was left out: a recovery from a problem whose messages were never delivered. */
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
