/** The Store, its statements and guards: the interface of one file and of a cluster. */
import { type Column, getTableColumns, getTableName, type SQL } from "drizzle-orm";
import {
  type BaseSQLiteDatabase,
  type SQLiteColumn,
  SQLiteSyncDialect,
  type SQLiteTable,
} from "drizzle-orm/sqlite-core";
import type { AppError } from "../core/errors.ts";
import type { WriteHealth } from "./write-health.ts";

/**
 * One persistence layer for one file or a cluster. There is no transaction(): between a read and
 * its write another request may have run, so conditions are part of the write (see `must`).
 */
export type Store = {
  /** Drizzle's builders, asynchronous: a forgotten await is a type error. */
  db: Pick<
    BaseSQLiteDatabase<"async", unknown>,
    "select" | "insert" | "update" | "delete" | "$count"
  >;
  /** All of it or nothing, durable when the promise resolves. Throws what a failed `must` names, else UNAVAILABLE when the disk can't take it. */
  atomic(statements: readonly Statement[]): Promise<void>;
  /** Rows of a fixed text, prepared once: for the hottest reads, where a builder's mapping costs more than the query. */
  query<Row>(text: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /** Whether regular writes are stored at the moment. */
  writes: WriteHealth;
  /** How long writes that nobody waits for are worth gathering for one commit, in milliseconds. */
  batchWindowMs: number;
  /**
   * Differs after every write, by this process or another, and when `writes` begin or cease to fail; null
   * where that can't be known at once. With tables, only after writes to one of them, or after any write of
   * another process.
   */
  revision(tables?: readonly string[]): string | null;
  /** Calls `listener` after every write of this process; returns how to end that. */
  onCommit(listener: () => void): () => void;
  /**
   * The same for who would rather see what was true a minute ago than nothing: where no node can say
   * what is true now, reads take what one of them knew last. Never for a decision.
   */
  relaxed(): Store;
};

export type Parameter = string | number | null;

/** A write without RETURNING: a Drizzle builder, a piece of SQL, or a text that was made once. */
export type Statement = { toSQL(): { sql: string; params: unknown[] } } | SQL | Prepared;

export type Prepared = {
  text: string;
  parameters: readonly Parameter[];
  /** About how many rows it looks at, where these may be many. */
  rows?: number;
  /** Makes it a guard: what its whole batch fails with when the condition does not hold at the moment of the write. */
  otherwise?: () => AppError | StaleRead;
};

/** What was read is no longer so: read again, decide again. Never leaves `retrying`. */
export class StaleRead extends Error {}

const dialect = new SQLiteSyncDialect();

/** A guard: without RETURNING, a statement can only fail by breaking a constraint. */
export function must(condition: SQL, otherwise: () => AppError | StaleRead): Prepared {
  const { sql: text, params } = dialect.sqlToQuery(condition);
  return { ...mustText(text), parameters: params as Parameter[], otherwise };
}

/** The text of a guard whose condition is SQL text itself. */
export function mustText(condition: string): Pick<Prepared, "text"> {
  return { text: `insert into guards (holds) select 0 where (${condition}) is not true` };
}

export function compiled(statement: Statement): Prepared {
  if ("text" in statement) return statement;
  const query = "toSQL" in statement ? statement.toSQL() : dialect.sqlToQuery(statement);
  return { text: query.sql, parameters: query.params as Parameter[] };
}

/** Rows that one statement changes in one go, after which others have their turn. */
export const portion = 250;

/** The statements for these ids, for so many of them at a time that none holds up anybody. */
export const inPortions = <T>(ids: readonly T[], make: (some: readonly T[]) => Statement[]) =>
  Array.from({ length: Math.ceil(ids.length / portion) }, (_, index) => {
    const some = ids.slice(index * portion, (index + 1) * portion);
    return make(some).map((statement): Prepared => ({ ...compiled(statement), rows: some.length }));
  }).flat();

/** The table that a write is to; null where its text begins in another way. */
export function tableWrittenBy(text: string): string | null {
  const [, table] =
    /^\s*(?:insert(?: or \w+)? into|update|delete from)\s+"?(\w+)/i.exec(text) ?? [];
  return table?.toLowerCase() ?? null;
}

/**
 * An INSERT whose text is made once: on the hottest writes, building it each time costs more than
 * the write. Absent columns are null. With `insert or replace` it takes the place of a row with its keys.
 */
export function insertInto<T extends SQLiteTable>(
  table: T,
  verb: "insert" | "insert or replace" = "insert",
): (row: T["$inferInsert"]) => Prepared {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, column]) => `"${column.name}"`).join(", ");
  const values = columns.map(() => "?").join(", ");
  const text = `${verb} into "${getTableName(table)}" (${names}) values (${values})`;
  return (row) => ({ text, parameters: columns.map(valueIn(row)) });
}

/** The same for an UPDATE of one row of an organization by its id. */
export function updateOf<T extends SQLiteTable, K extends keyof T["$inferInsert"] & string>(
  table: T,
  keys: readonly K[],
): (
  organizationId: string,
  row: { id: string } & Required<Pick<T["$inferInsert"], K>>,
) => Prepared {
  const all = getTableColumns(table) as Record<string, SQLiteColumn>;
  const columns = keys.map((key) => [key, all[key] as SQLiteColumn] as const);
  const changes = columns.map(([, column]) => `"${column.name}" = ?`).join(", ");
  const text = `update "${getTableName(table)}" set ${changes} where organization_id = ? and id = ?`;
  return (organizationId, row) => ({
    text,
    parameters: [...columns.map(valueIn(row)), organizationId, row.id],
  });
}

function valueIn(row: object) {
  return ([key, column]: readonly [string, Column]): Parameter => {
    const value = (row as Record<string, unknown>)[key];
    return value === undefined || value === null
      ? null
      : (column.mapToDriverValue(value) as Parameter);
  };
}

/** One of what `make` returns for each store: whoever asks shares what it knows. */
export function perStore<T extends object>(make: (store: Store) => T) {
  const made = new WeakMap<Store, T>();
  return (store: Store): T => {
    const known = made.get(store) ?? make(store);
    made.set(store, known);
    return known;
  };
}

/** Runs `attempt` again for as long as others change what it read: each round lets at least one writer through. */
export async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error;
    }
  }
}
