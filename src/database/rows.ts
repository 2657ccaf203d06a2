import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { listed } from "./references.ts";
import type { Statement, Store } from "./store.ts";

/** Whose rows are read and written; every Scope is one. */
export type Tenant = { store: Store; organizationId: string };

type Keyed = SQLiteTable & { organizationId: SQLiteColumn; id: SQLiteColumn };

type Values<T extends SQLiteTable> = {
  [K in keyof T["$inferSelect"]]?: NonNullable<T["$inferSelect"][K]> | undefined;
};

/** True of rows that have these values; one that is undefined restricts nothing. */
export function matching<T extends SQLiteTable>(table: T, values: Values<T>): SQL | undefined {
  const columns = getTableColumns(table);
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return and(...given.map(([name, value]) => eq(columns[name] as SQLiteColumn, value)));
}

export function removeRow({ store, organizationId }: Tenant, table: Keyed, id: string): Statement {
  return store.db.delete(table).where(matching(table, { organizationId, id }));
}

/** Has `owner`, the columns that name it, link to exactly these: `member` is the column that names them, `position` their order. */
export function replaceLinks<T extends SQLiteTable & { position: SQLiteColumn }>(
  store: Store,
  table: T,
  owner: Values<T>,
  member: keyof T["$inferSelect"] & string,
  ids: readonly string[],
): Statement[] {
  const columns = getTableColumns(table);
  const names = [...Object.keys(owner), member, "position"].map((name) =>
    sql.identifier((columns[name] as SQLiteColumn).name),
  );
  const values = Object.values(owner).map((value) => sql`${value}`);
  return [
    store.db.delete(table).where(matching(table, owner)),
    sql`insert into ${table} (${sql.join(names, sql`, `)})
      select ${sql.join([...values, sql`value, key`], sql`, `)} from ${listed(ids)}`,
  ];
}
