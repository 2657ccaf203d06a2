import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

// Every table belongs to one organization and says so in its keys: a composite foreign key
// (organization_id, id) makes a reference to another organization's row impossible in SQL itself.
// People alone, with what is theirs, belong to as many as they are members of.
// Timestamps of people's records are RFC 3339 text, as on the wire. The migrations add STRICT.

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  createdAt: text("created_at").notNull(),
  /** Since when it is deleted: nobody gets to it any more, and what is left of it goes in small portions. */
  deletedAt: text("deleted_at"),
});

/** Rows and bytes that an organization has in tables with a bound on them, counted by triggers. */
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
