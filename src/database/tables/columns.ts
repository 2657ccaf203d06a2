import { sql } from "drizzle-orm";
import { type AnySQLiteColumn, check, foreignKey, integer, text } from "drizzle-orm/sqlite-core";
import { organizations } from "./organizations.ts";

export const organizationId = () =>
  text("organization_id")
    .notNull()
    .references(() => organizations.id);

export const reference = (
  columns: [AnySQLiteColumn, AnySQLiteColumn],
  to: { organizationId: AnySQLiteColumn; id: AnySQLiteColumn },
) => foreignKey({ columns, foreignColumns: [to.organizationId, to.id] });

export const flag = (name: string) => integer(name, { mode: "boolean" });

/** Creates a constraint for a column's `enum`, which the database also enforces for other programs. */
export const oneOf = (name: string, column: AnySQLiteColumn & { enumValues: readonly string[] }) =>
  check(
    name,
    sql`${column} IN (${sql.raw(column.enumValues.map((value) => `'${value}'`).join(", "))})`,
  );
