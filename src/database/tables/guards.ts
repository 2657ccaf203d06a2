import { sql } from "drizzle-orm";
import { check, integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** Never holds a row: a guard statement that inserts here fails its whole batch. See `must`. */
export const guards = sqliteTable("guards", { holds: integer("holds").notNull() }, (t) => [
  check("guard", sql`${t.holds} = 1`),
]);
