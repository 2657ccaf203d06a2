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

/** Enforces the `enum` of the column in the database, also for writes by other programs. */
export const oneOf = (name: string, column: AnySQLiteColumn & { enumValues: readonly string[] }) =>
  check(
    name,
    sql`${column} IN (${sql.raw(column.enumValues.map((value) => `'${value}'`).join(", "))})`,
  );
