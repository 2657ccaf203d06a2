/** Tables of alert sources: tools that send their alerts to an address, their open alerts, and their requests. */
import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { alertChannels } from "./alerting.ts";
import { flag, oneOf, organizationId, reference } from "./columns.ts";

export const alertSources = sqliteTable(
  "alert_sources",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    /** Name of the format of its requests, such as `alertmanager`. */
    type: text("type").notNull(),
    enabled: flag("enabled").notNull(),
    /** Priority of all alerts of the source; null uses the priority in each request. */
    priority: text("priority"),
    escalationPolicyId: text("escalation_policy_id"),
    /** Severity of the incidents that its alerts open; null for none. */
    incidentSeverity: text("incident_severity"),
    /** Minutes without a report after which an alert is resolved; null for never. */
    resolveAfterMinutes: integer("resolve_after_minutes"),
    /** JSON of the paths that find an alert in a request; null for a format that needs none. */
    mapping: text("mapping"),
    /** JSON of the rules by which mails are read; null for the default words, and for all other formats. */
    mailRules: text("mail_rules"),
    /** JSON of the sealed token of its address, as in the secrets of other records. */
    secrets: text("secrets").notNull(),
    /** SHA-256 of the same token, hexadecimal, by which a request is looked up. */
    tokenHash: text("token_hash").notNull().unique(),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("alert_sources_by_policy")
      .on(t.organizationId, t.escalationPolicyId)
      .where(sql`escalation_policy_id is not null`),
  ],
);

export const alertSourceChannels = sqliteTable(
  "alert_source_channels",
  {
    organizationId: text("organization_id").notNull(),
    sourceId: text("source_id").notNull(),
    channelId: text("channel_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.sourceId, t.channelId] }),
    index("alert_source_channels_by_channel").on(t.organizationId, t.channelId),
    reference([t.organizationId, t.sourceId], alertSources).onDelete("cascade"),
    reference([t.organizationId, t.channelId], alertChannels).onDelete("cascade"),
  ],
);

/** The last known state of each problem that a source reported. Resolved ones are stored for a day. */
export const sourceAlerts = sqliteTable(
  "source_alerts",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    sourceId: text("source_id").notNull(),
    /** The sender's identity of the problem, by which its reports are deduplicated. */
    key: text("key").notNull(),
    status: text("status", { enum: ["open", "acknowledged", "resolved"] }).notNull(),
    /** JSON of the title, text, link and priority of the last report. */
    content: text("content").notNull(),
    /** Start of the problem according to the sender, by which late reports are recognized after its end. Null if unknown. */
    episode: text("episode"),
    openedAt: text("opened_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** The incident that the alert opened; null for none. */
    incidentId: text("incident_id"),
    /** When the alert is resolved without another report; null for never. Unix milliseconds. */
    dueAt: integer("due_at"),
    version: integer("version").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("source_alerts_due")
      .on(t.dueAt)
      .where(sql`due_at is not null`),
    uniqueIndex("source_alerts_by_key").on(t.organizationId, t.sourceId, t.key),
    index("source_alerts_by_status").on(t.organizationId, t.sourceId, t.status, t.updatedAt),
    index("source_alerts_by_incident")
      .on(t.organizationId, t.incidentId)
      .where(sql`incident_id is not null`),
    reference([t.organizationId, t.sourceId], alertSources).onDelete("cascade"),
    oneOf("source_alerts_status", t.status),
  ],
);

/** Requests to alert sources. Those of a deleted source stay until their retention is over. */
export const alertSourceRequests = sqliteTable(
  "alert_source_requests",
  {
    /** Order of the requests, independent of clocks. */
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: organizationId(),
    sourceId: text("source_id").notNull(),
    id: text("id").notNull(),
    at: text("at").notNull(),
    /** Number of equal requests in a row. */
    count: integer("count").notNull().default(1),
    /** Time of the last of them; null for a single one. */
    lastAt: text("last_at"),
    /** Path after the token, or of the format's own API, with its query. */
    path: text("path").notNull(),
    /** JSON of the headers that formats read. */
    headers: text("headers").notNull(),
    /** The body without the token. Null if it was too long or not text. */
    body: text("body"),
    bytes: integer("bytes").notNull(),
    /** HTTP status of the response. */
    status: integer("status").notNull(),
    /** Outcome of the request, as one sentence. */
    outcome: text("outcome").notNull(),
    /** The request that this one replays; null if it is not a replay. */
    replayOf: text("replay_of"),
  },
  (t) => [uniqueIndex("alert_source_requests_by_source").on(t.organizationId, t.sourceId, t.id)],
);
