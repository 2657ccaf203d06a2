/** Tables of the audit log, events and idempotent responses. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { actorTypes } from "../../core/statuses.ts";
import { oneOf, organizationId } from "./columns.ts";

/** Audit log. Entries are appended in the same write as the change. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: organizationId(),
    at: text("at").notNull(),
    actorType: text("actor_type", { enum: actorTypes }).notNull(),
    actorId: text("actor_id"),
    actorName: text("actor_name").notNull(),
    action: text("action").notNull(),
    subjectId: text("subject_id").notNull(),
    /** JSON list of the changed fields' names. */
    fields: text("fields"),
    /** JSON list of `FieldChange`: values of changed fields. Secret fields are missing. */
    changes: text("changes"),
    requestId: text("request_id"),
    /** Tool of the MCP server with which the change was made; null for all other changes. */
    tool: text("tool"),
    /** Name of a deleted subject. Names of existing subjects are looked up, because they can change. */
    subjectName: text("subject_name"),
  },
  (t) => [
    index("audit_entries_by_organization").on(t.organizationId, t.seq),
    // For the history of a record, and the name of a deleted one.
    index("audit_entries_by_subject").on(t.organizationId, t.subjectId, t.seq),
  ],
);

/** Events in order. Followers such as alerting, live pages and caches read them by `seq`. */
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
    // For the state history of a monitor.
    index("events_of_states")
      .on(t.organizationId, t.subjectId, t.seq)
      .where(
        sql`type IN ('monitor.pending', 'monitor.up', 'monitor.degraded', 'monitor.down', 'monitor.maintenance', 'monitor.paused', 'monitor.resumed')`,
      ),
  ],
);

/** Responses to POST requests with an Idempotency-Key, stored in the same write as the change. */
export const idempotentAnswers = sqliteTable(
  "idempotent_answers",
  {
    organizationId: organizationId(),
    /** ID of the API key or person. */
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

/** Changes that are held before they take effect, and outcomes of the last 24 hours. Undone changes are deleted. */
export const heldChanges = sqliteTable(
  "held_changes",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** Operation ID of the route that performs the change. */
    operation: text("operation").notNull(),
    /** JSON of the parameters of the path, the header If-Match, and the MCP tool. */
    params: text("params").notNull(),
    /** JSON of the request body. */
    change: text("change").notNull(),
    /** ID of the changed record; null for a new record until the change is sent. */
    subjectId: text("subject_id"),
    title: text("title"),
    /** Who opened an incident; null for other records. */
    origin: text("origin", { enum: ["manual", "monitor"] }),
    actorType: text("actor_type", { enum: actorTypes }).notNull(),
    actorId: text("actor_id"),
    actorName: text("actor_name").notNull(),
    requestId: text("request_id"),
    state: text("state", { enum: ["waiting", "sent", "failed"] }).notNull(),
    createdAt: text("created_at").notNull(),
    dueAt: text("due_at").notNull(),
    sentAt: text("sent_at"),
    error: text("error"),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("held_changes_waiting")
      .on(t.dueAt)
      .where(sql`state = 'waiting'`),
    index("held_changes_by_age").on(t.createdAt),
    oneOf("held_changes_state", t.state),
  ],
);

/** Positions of event readers. */
export const followers = sqliteTable("followers", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
  /** Write counter. If two processes read the same events, only one of them can write. */
  version: integer("version").notNull(),
  /** JSON of the progress within the next event, which can need several writes. */
  part: text("part"),
});

/** Times and progress of maintenance jobs, in Unix milliseconds. */
export const housekeeping = sqliteTable("housekeeping", {
  name: text("name").primaryKey(),
  value: integer("value").notNull(),
});
