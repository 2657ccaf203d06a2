import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizationId } from "./columns.ts";

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
    /** What it was called that this removed; the names of others are looked up, since they may change. */
    subjectName: text("subject_name"),
  },
  (t) => [
    index("audit_entries_by_organization").on(t.organizationId, t.seq),
    // What was done to an incident.
    index("audit_entries_of_incidents")
      .on(t.organizationId, t.subjectId, t.seq)
      .where(
        sql`action IN ('incident.opened', 'incident.updated', 'incident.resolved', 'incident.reopened', 'incident.postmortem-published', 'incident.postmortem-deleted')`,
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

/** How far each reader of the events has come. */
export const followers = sqliteTable("followers", {
  name: text("name").primaryKey(),
  seq: integer("seq").notNull(),
  /** Counts its writes: of two processes that read alike only one writes. */
  version: integer("version").notNull(),
  /** JSON of how far it is with the event after that one, where that takes more than one write. */
  part: text("part"),
});

/** What the appliance remembers of its own upkeep: when it was done, in Unix milliseconds, and how far it came. */
export const housekeeping = sqliteTable("housekeeping", {
  name: text("name").primaryKey(),
  value: integer("value").notNull(),
});
