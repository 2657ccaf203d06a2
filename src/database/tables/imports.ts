import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { flag, oneOf, organizationId } from "./columns.ts";

/** What was brought along from elsewhere, and what came of it. */
export const imports = sqliteTable(
  "imports",
  {
    organizationId: organizationId(),
    id: text("id").notNull(),
    /** What it came from, such as `uptime-kuma:1f3a…`. */
    source: text("source").notNull(),
    status: text("status", { enum: ["running", "done", "undone"] }).notNull(),
    /** JSON of every decision; null while it runs. */
    report: text("report"),
    /** Keys that its results are written under before their monitors exist. */
    firstKey: integer("first_key").notNull(),
    lastKey: integer("last_key").notNull(),
    /** When it wrote last, in Unix milliseconds: one that stopped on its way is cleared away. */
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

/** Which record here is which record there: an import that is repeated changes it. */
export const externalRecords = sqliteTable(
  "external_records",
  {
    organizationId: organizationId(),
    source: text("source").notNull(),
    noun: text("noun").notNull(),
    externalId: text("external_id").notNull(),
    recordId: text("record_id").notNull(),
    /** The import that made it. */
    importId: text("import_id").notNull(),
    /** Whether the record was here before. */
    adopted: flag("adopted").notNull(),
    /** JSON of the record as it was there last, sealed: what has changed since is changed here. */
    secrets: text("secrets").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.source, t.noun, t.externalId] }),
    index("external_records_by_external_id").on(t.noun, t.externalId),
    index("external_records_by_import").on(t.organizationId, t.importId),
  ],
);
