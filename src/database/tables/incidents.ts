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
    /** The first of its monitors: of one that a monitor opened, that monitor. */
    monitorId: text("monitor_id"),
    origin: text("origin", { enum: ["manual", "monitor"] }).notNull(),
    public: flag("public").notNull(),
    resolvedAt: text("resolved_at"),
    version: integer("version").notNull(),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** JSON of the facts behind a title that a monitor gave; null for one that people wrote. */
    automatic: text("automatic"),
    /** JSON of all its monitors where there are several: a list reads no other table. */
    monitorIds: text("monitor_ids"),
    /** Updates, revisions and notes, and the bytes of their texts with the postmortem's; counted by triggers. */
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

/** The monitors that an incident is about, in their order. */
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
    /** The incident's version that this update made: the order of the timeline, whatever the clock says. */
    seq: integer("seq").notNull(),
    id: text("id").notNull(),
    status: incidentStatus().notNull(),
    message: text("message").notNull(),
    createdAt: text("created_at").notNull(),
    /** JSON of the facts behind what a monitor wrote; null for people's words. */
    automatic: text("automatic"),
    editedAt: text("edited_at"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.incidentId, t.seq] }),
    reference([t.organizationId, t.incidentId], incidents).onDelete("cascade"),
  ],
);

/** What an update said before it was edited, and who edited it. */
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

/**
 * What an incident is told among those who may read it, and nobody else: a table of its own, which nothing
 * that is public reads.
 */
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

/** What people learned from an incident; public once it is published and the incident is resolved. */
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

/** Words to begin an incident or an update with. */
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
