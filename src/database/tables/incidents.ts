/** Tables of incidents with their updates, notes, postmortems and templates. */
import { incidentStatuses, severities } from "../../core/statuses.ts";
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId, reference } from "./columns.ts";
import { monitors } from "./monitoring.ts";

const incidentStatus = () => text("status", { enum: incidentStatuses });

export const incidents = sqliteTable(
  "incidents",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    title: text("title").notNull(),
    status: incidentStatus().notNull(),
    severity: text("severity", { enum: severities }).notNull(),
    /** ID of the first affected monitor. For an automatic incident, this is the monitor that opened it. */
    monitorId: text("monitor_id"),
    origin: text("origin", { enum: ["manual", "monitor"] }).notNull(),
    public: flag("public").notNull(),
    resolvedAt: text("resolved_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** JSON of the values in an automatic title; null for a title by a person. */
    automatic: text("automatic"),
    /** JSON list of the affected monitors, if there are several. It saves lists a join. */
    monitorIds: text("monitor_ids"),
    /** JSON list of the states that public pages show for its monitors; null for none. */
    impacts: text("impacts"),
    /** JSON list of the changes of these states since the incident was opened; null for none. */
    impactChanges: text("impact_changes"),
    /** Number of updates, revisions and notes, and total bytes of their texts, counted by triggers. */
    entries: integer("entries").notNull().default(0),
    textBytes: integer("text_bytes").notNull().default(0),
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
    oneOf("incidents_status", t.status),
    oneOf("incidents_severity", t.severity),
    oneOf("incidents_origin", t.origin),
  ],
);

/** Affected monitors of an incident, by position. */
export const incidentMonitors = sqliteTable(
  "incident_monitors",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    position: integer("position").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.monitorId] }),
    index("incident_monitors_by_monitor").on(t.organizationId, t.monitorId, t.incidentId),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
    reference([t.organizationId, t.monitorId], monitors).onDelete("cascade"),
  ],
);

export const incidentUpdates = sqliteTable(
  "incident_updates",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    /** Version of the incident with this update. It orders the timeline regardless of clocks. */
    seq: integer("seq").notNull(),
    id: text("id").notNull(),
    status: incidentStatus().notNull(),
    message: text("message").notNull(),
    /** JSON of the texts in other languages, by language; null without any. */
    translations: text("translations"),
    createdAt: text("created_at").notNull(),
    /** JSON of the values in an automatic update; null for a text by a person. */
    automatic: text("automatic"),
    editedAt: text("edited_at"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.seq] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** Previous texts of edited updates, with their editors. */
export const incidentUpdateRevisions = sqliteTable(
  "incident_update_revisions",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    id: text("id").notNull(),
    updateId: text("update_id").notNull(),
    message: text("message").notNull(),
    editedAt: text("edited_at").notNull(),
    authorType: text("author_type").notNull(),
    authorId: text("author_id"),
    authorName: text("author_name").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.id] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** Internal notes of an incident, in a separate table that no public page reads. */
export const incidentNotes = sqliteTable(
  "incident_notes",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    id: text("id").notNull(),
    message: text("message").notNull(),
    createdAt: text("created_at").notNull(),
    authorType: text("author_type").notNull(),
    authorId: text("author_id"),
    authorName: text("author_name").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.id] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** Postmortems. They are public after their publication and the end of the incident. */
export const incidentPostmortems = sqliteTable(
  "incident_postmortems",
  {
    organizationId: text("organization_id").notNull(),
    incidentId: text("incident_id").notNull(),
    message: text("message").notNull(),
    publishedAt: text("published_at"),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** Text templates for incidents and updates. */
export const incidentTemplates = sqliteTable(
  "incident_templates",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    name: text("name").notNull(),
    title: text("title"),
    status: incidentStatus().notNull(),
    severity: text("severity", { enum: severities }),
    message: text("message").notNull(),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.id] })],
);

/** Number of incidents per state, counted by triggers, for fast totals of lists. */
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
