/** Helpers for rows of one organization: conditions, links, lookups and versions. */
import {
  and,
  eq,
  getTableColumns,
  getTableName,
  gt,
  inArray,
  lt,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { listed, mustExist, unknownReference } from "./references.ts";
import type { Prepared, Statement, Store } from "./store.ts";

/** Whose rows are read and written; every Scope is one. */
export type Tenant = { store: Store; organizationId: string };

type Owned = SQLiteTable & { organizationId: SQLiteColumn };
type Keyed = Owned & { id: SQLiteColumn };

type Values<T extends SQLiteTable> = {
  [K in keyof T["$inferSelect"]]?: NonNullable<T["$inferSelect"][K]> | undefined;
};
type Wanted<T extends SQLiteTable> = {
  [K in keyof Values<T>]: Values<T>[K] | readonly NonNullable<Values<T>[K]>[];
};

/** True of rows that have these values, or one of a list; what is undefined restricts nothing. */
export function matching<T extends SQLiteTable>(table: T, values: Wanted<T>): SQL | undefined {
  const columns = getTableColumns(table);
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return and(
    ...given.map(([name, value]) => {
      const column = columns[name] as SQLiteColumn;
      return Array.isArray(value) ? inArray(column, value) : eq(column, value);
    }),
  );
}

/** Clocks of several processes differ by less. */
const clockToleranceMs = 3_600_000;

/** True where a time replaces the stored one: it is later, or the stored one is of a clock that was ahead. */
export function isLaterThan(stored: SQLiteColumn, at: number): SQL | undefined {
  return or(lt(stored, timestamp(at)), gt(stored, timestamp(at + clockToleranceMs)));
}

/** True where the column names the row of `to`, of the same organization: what a join is made on. */
export function naming(from: Owned, column: SQLiteColumn, to: Keyed) {
  return and(eq(to.organizationId, from.organizationId), eq(to.id, column));
}

/**
 * All columns of a table for a query whose text is made once: what to select from the table under an
 * alias, and the row in what was found.
 */
export function columnsOf<T extends SQLiteTable>(table: T, alias: string) {
  const columns = Object.entries(getTableColumns(table)).map(([key, column]) => ({
    key,
    column,
    name: `${alias}_${column.name}`,
  }));
  return {
    text: columns.map(({ column, name }) => `${alias}.${column.name} as ${name}`).join(", "),
    read(found: object): T["$inferSelect"] {
      const row: Record<string, unknown> = {};
      for (const { key, column, name } of columns) {
        const value = (found as Record<string, unknown>)[name];
        row[key] = value === null ? null : column.mapFromDriverValue(value);
      }
      return row;
    },
  };
}

/** The record that was asked for. Throws NOT_FOUND where there is none. */
export function found<T>(record: T | null | undefined, noun: string): T {
  if (record === null || record === undefined) throw noSuch(noun);
  return record;
}

export const noSuch = (noun: string) => new AppError("NOT_FOUND", `There is no such ${noun}.`);

/** Holds where every id that a field of the request names is a row; else the write fails as NOT_FOUND. */
export function mustName(
  { organizationId }: Pick<Tenant, "organizationId">,
  field: string,
  table: Keyed,
  ids: readonly string[] = [],
): Prepared[] {
  return mustExist(table, organizationId, ids, () => unknownReference(field, nounOf(table)));
}

/** `alert channel` of `alert_channels`. */
const nounOf = (table: Keyed) => getTableName(table).replace("_", " ").slice(0, -1);

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

/** The version of a record that is new … */
export const firstVersion = (at: string) => ({ version: 1, createdAt: at, updatedAt: at });

/** … and of one that changes. */
export const nextVersion = ({ version }: { version: number }, at: string) => ({
  version: version + 1,
  updatedAt: at,
});
