import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId } from "./columns.ts";

/** Imports with their reports. */
export const imports = sqliteTable(
  "imports",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** ID of the source, such as `uptime-kuma:1f3a…`. */
    source: text("source").notNull(),
    status: text("status", { enum: ["running", "done", "undone"] }).notNull(),
    /** JSON of all decisions; null during the import. */
    report: text("report"),
    /** First key for heartbeats, which are written before their monitors exist. */
    firstKey: integer("first_key").notNull(),
    lastKey: integer("last_key").notNull(),
    /** Time of the last write, in Unix milliseconds. Stalled imports are discarded. */
    touchedAt: integer("touched_at").notNull(),
    actorName: text("actor_name").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("imports_running")
      .on(t.touchedAt)
      .where(sql`status = 'running'`),
    oneOf("imports_status", t.status),
  ],
);

/** Source prefix of configuration files. Records of one-time imports have other prefixes. */
export const configurationPrefix = "config:";

/** Links between our records and those of a source. A repeated import uses them to update records. */
export const externalRecords = sqliteTable(
  "external_records",
  {
    organizationId: organizationId(),
    source: text("source").notNull(),
    noun: text("noun").notNull(),
    externalId: text("external_id").notNull(),
    recordId: text("record_id").notNull(),
    /** ID of the import that created the link. */
    importId: text("import_id").notNull(),
    /** Whether the record existed before the import. */
    adopted: flag("adopted").notNull(),
    /** Encrypted JSON of the last imported state, for detecting changes in the source. */
    secrets: text("secrets").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.source, t.noun, t.externalId] }),
    index("external_records_by_external_id").on(t.noun, t.externalId),
    index("external_records_by_import").on(t.organizationId, t.importId),
  ],
);
