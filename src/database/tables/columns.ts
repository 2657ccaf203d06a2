import { type AnySQLiteColumn, foreignKey, integer, text } from "drizzle-orm/sqlite-core";
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
