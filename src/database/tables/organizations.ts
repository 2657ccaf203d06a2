import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

// Each table has the organization in its keys. A composite foreign key (organization_id, id) prevents references to
// other organizations. Only people can belong to several organizations. Timestamps of records are RFC 3339 text, as
// in the API. The migrations add STRICT.

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  createdAt: text("created_at").notNull(),
  /** Time of deletion. The organization is inaccessible, and its data is removed in small batches. */
  deletedAt: text("deleted_at"),
});

/** Rows and bytes per organization in limited tables, counted by triggers. */
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
