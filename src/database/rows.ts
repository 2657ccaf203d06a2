/** Queries and statements for the rows of one organization: conditions, links, lookups and versions. */
import {
  and,
  desc,
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
import { formatTimestamp, hourMs } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { computeOffset, type PageRequest } from "../core/paging.ts";
import { buildIdTable, guardExists, unknownReferenceError } from "./references.ts";
import type { Prepared, Statement, Store } from "./store.ts";

/**
 * Store, and the organization whose rows are read and written. Every Scope is a Tenant. With `groupIds`, only monitors
 * of these groups exist for the reader.
 */
export type Tenant = {
  store: Store;
  organizationId: string;
  groupIds?: readonly string[] | null;
};

type OwnedTable = SQLiteTable & { organizationId: SQLiteColumn };
type KeyedTable = OwnedTable & { id: SQLiteColumn };

type Values<T extends SQLiteTable> = {
  [K in keyof T["$inferSelect"]]?: NonNullable<T["$inferSelect"][K]> | undefined;
};
type RowFilter<T extends SQLiteTable> = {
  [K in keyof Values<T>]: Values<T>[K] | readonly NonNullable<Values<T>[K]>[];
};

/** Matches rows with these values. A list matches any of its values; undefined matches all rows. */
export function matchValues<T extends SQLiteTable>(
  table: T,
  values: RowFilter<T>,
): SQL | undefined {
  const columns = getTableColumns(table);
  const conditions = Object.entries(values).filter(([, value]) => value !== undefined);
  return and(
    ...conditions.map(([name, value]) => {
      const column = columns[name] as SQLiteColumn;
      return Array.isArray(value) ? inArray(column, value) : eq(column, value);
    }),
  );
}

/** Upper bound for clock differences between processes. */
const clockToleranceMs = hourMs;

/** Whether `at` replaces the stored time: it is later, or the stored time is too far in the future. */
export function isLaterThan(stored: SQLiteColumn, at: number): SQL | undefined {
  return or(lt(stored, formatTimestamp(at)), gt(stored, formatTimestamp(at + clockToleranceMs)));
}

/** Join condition: the column refers to a row of `to` in the same organization. */
export function matchReference(from: OwnedTable, column: SQLiteColumn, to: KeyedTable) {
  return and(eq(to.organizationId, from.organizationId), eq(to.id, column));
}

/** Reads a page of rows, the highest values of `order` first, and the number of all rows. */
export async function selectPage<T extends SQLiteTable>(
  { db }: Store,
  table: T,
  order: SQLiteColumn,
  where: SQL | undefined,
  page: PageRequest,
): Promise<{ rows: T["$inferSelect"][]; total: number }> {
  const [total, rows] = await Promise.all([
    db.$count(table, where),
    db
      .select()
      .from(table as SQLiteTable)
      .where(where)
      .orderBy(desc(order))
      .limit(page.per_page)
      .offset(computeOffset(page)),
  ]);
  return { rows, total };
}

/** Columns of a table for a prepared query: the select list for a table alias, and the mapper of result rows. */
export function prepareColumns<T extends SQLiteTable>(table: T, alias: string) {
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

/** Returns the record. Throws NOT_FOUND if it is missing. */
export function assertFound<T>(record: T | null | undefined, noun: string): T {
  if (record === null || record === undefined) throw notFoundError(noun);
  return record;
}

export const notFoundError = (noun: string) =>
  new AppError("NOT_FOUND", `There is no such ${noun}.`);

/** Columns with the group of a record. Callers limited to groups can't refer to records of other groups. */
const groupColumns: Readonly<Record<string, string>> = {
  monitors: "group_id",
  monitor_groups: "id",
};

/** Guard that fails with NOT_FOUND unless every ID in a request field exists for the caller. */
export function guardFieldExists(
  { organizationId, groupIds = null }: Pick<Tenant, "organizationId" | "groupIds">,
  field: string,
  table: KeyedTable,
  ids: readonly string[] = [],
): Prepared[] {
  const name = getTableName(table);
  const groupColumn = groupIds === null ? undefined : groupColumns[name];
  const createReferenceError = () => unknownReferenceError(field, nounOf(table));
  if (groupColumn !== undefined)
    return guardExists(
      table,
      organizationId,
      ids,
      createReferenceError,
      `${groupColumn} in (select value from json_each(?))`,
      [JSON.stringify(groupIds)],
    );
  // Fields never refer to contact methods, which are channels of one person.
  const condition = name === "alert_channels" ? "person_id is null" : "true";
  return guardExists(table, organizationId, ids, createReferenceError, condition);
}

/** Converts a table name such as `alert_channels` to `alert channel`. */
const nounOf = (table: KeyedTable) =>
  getTableName(table).replace("_", " ").replace(/ies$/, "ys").slice(0, -1);

export function removeRow(
  { store, organizationId }: Tenant,
  table: KeyedTable,
  id: string,
): Statement {
  return store.db.delete(table).where(matchValues(table, { organizationId, id }));
}

/** Replaces all links of `owner`. `member` is the column of the linked IDs; `position` stores their order. */
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
    store.db.delete(table).where(matchValues(table, owner)),
    sql`insert into ${table} (${sql.join(names, sql`, `)})
      select ${sql.join([...values, sql`value, key`], sql`, `)} from ${buildIdTable(ids)}`,
  ];
}

/** Version fields of a new record. */
export const buildFirstVersion = (at: string) => ({ version: 1, createdAt: at, updatedAt: at });

/** Version fields of a changed record. */
export const buildNextVersion = ({ version }: { version: number }, at: string) => ({
  version: version + 1,
  updatedAt: at,
});
