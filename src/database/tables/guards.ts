import { sql } from "drizzle-orm";
import { check, integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** Always empty. A guard that inserts a row here makes its whole batch fail. See `guard` in `store.ts`. */
export const guards = sqliteTable("guards", { holds: integer("holds").notNull() }, (t) => [
  check("guard", sql`${t.holds} = 1`),
]);
