import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

// All tables have the organization in their keys. Composite foreign keys (organization_id, id) prevent references to
// other organizations. Only people can belong to several organizations. Timestamps of records are RFC 3339 text, as
// in the API. The migrations add STRICT.

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  createdAt: text("created_at").notNull(),
  /** Time of the deletion. The organization is inaccessible, and its data is removed in small batches. */
  deletedAt: text("deleted_at"),
});

/** Rows and bytes per organization, counted by triggers for tables with limits. */
export const organizationUsage = sqliteTable(
  "organization_usage",
  {
    organizationId: text("organization_id")
      .notNull()
      .references(() => organizations.id),
    tableName: text("table_name").notNull(),
    rowCount: integer("row_count").notNull(),
    byteCount: integer("byte_count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.organizationId, t.tableName] })],
);
