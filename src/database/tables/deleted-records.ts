/** Tables of deleted records, which can be restored until retention removes them. */
import { sql } from "drizzle-orm";
import { foreignKey, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { deletableNouns } from "../../core/deletable-nouns.ts";
import { oneOf, organizationId } from "./columns.ts";

export const deletedRecords = sqliteTable(
  "deleted_records",
  {
    organizationId: organizationId(),
    /** ID of the record, which it gets back. */
    id: text("id").notNull(),
    noun: text("noun", { enum: deletableNouns }).notNull(),
    name: text("name").notNull(),
    /** Time of the deletion, in Unix milliseconds. 0: can no longer be restored, and is being removed. */
    deletedAt: integer("deleted_at").notNull(),
    /** Name of the person or key that deleted the record. */
    actorName: text("actor_name").notNull(),
    /** Key of a monitor's results, which stay in their tables. */
    monitorKey: integer("monitor_key"),
    /** Size of the rows. */
    bytes: integer("bytes").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.organizationId, t.id] }),
    index("deleted_records_by_time").on(t.organizationId, t.deletedAt, t.bytes),
    index("deleted_records_of_monitors")
      .on(t.monitorKey)
      .where(sql`monitor_key is not null`),
    oneOf("deleted_records_noun", t.noun),
  ],
);

/** Rows of deleted records, from all tables. */
export const deletedRows = sqliteTable(
  "deleted_rows",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    organizationId: text("organization_id").notNull(),
    recordId: text("record_id").notNull(),
    tableName: text("table_name").notNull(),
    /** JSON of the row by column. */
    content: text("content").notNull(),
  },
  (t) => [
    index("deleted_rows_of_record").on(t.organizationId, t.recordId, t.tableName),
    foreignKey({
      columns: [t.organizationId, t.recordId],
      foreignColumns: [deletedRecords.organizationId, deletedRecords.id],
    }).onDelete("cascade"),
  ],
);
