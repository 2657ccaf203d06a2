/** Defines the Store interface, its statements and its guards, for a SQLite file or a cluster. */
import { type Column, getTableColumns, getTableName, type SQL } from "drizzle-orm";
import {
  type BaseSQLiteDatabase,
  type SQLiteColumn,
  SQLiteSyncDialect,
  type SQLiteTable,
} from "drizzle-orm/sqlite-core";
import { AppError } from "../core/errors.ts";
import type { WriteHealth } from "./write-health.ts";

/**
 * Database access, for a SQLite file or a cluster. It has no transactions: other requests can run between a read and
 * a write. A condition of a write must be a guard in the same write (see `guard`).
 */
export type Store = {
  /** Drizzle's query builders. They are asynchronous, so that a forgotten await is a type error. */
  db: Pick<
    BaseSQLiteDatabase<"async", unknown>,
    "select" | "insert" | "update" | "delete" | "$count"
  >;
  /**
   * Commits all statements or none. They are durable when the promise resolves. Throws the error of a failed guard,
   * or UNAVAILABLE if the disk rejects the write.
   */
  atomic(statements: readonly Statement[]): Promise<void>;
  /** Runs a prepared query, for hot paths where Drizzle's mapping costs more than the query. */
  query<Row>(text: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /** Whether regular writes currently succeed. */
  writes: WriteHealth;
  /** How long background writes wait to share one commit, in milliseconds. */
  batchWindowMs: number;
  /**
   * Returns a value that changes after every write of any process, and when `writes` starts or stops failing. Null if
   * the store can't determine it immediately. With `tables`, ignores this process's writes to other tables.
   */
  revision(tables?: readonly string[]): string | null;
  /** Calls `listener` after each write of this process. Returns a function that unsubscribes. */
  onCommit(listener: () => void): () => void;
  /**
   * Returns a store for reads that prefer stale data to an error. Without a leader, a cluster node reads its local
   * copy. Never use it for decisions.
   */
  relaxed(): Store;
};

export type Parameter = string | number | null;

/** A write without RETURNING: a Drizzle builder, an SQL object or a prepared text. */
export type Statement = { toSQL(): { sql: string; params: unknown[] } } | SQL | Prepared;

export type Prepared = {
  text: string;
  parameters: readonly Parameter[];
  /** Estimated number of examined rows, if it can be large. */
  rows?: number;
  /**
   * Makes the statement a guard. Returns the error of the batch if the condition is false at the time of the write.
   */
  otherwise?: () => AppError | StaleRead | RehearsalPassed;
};

/** The data has changed since it was read. `retryOnStaleRead` catches this error and repeats the attempt. */
export class StaleRead extends Error {}

/** Ends a rehearsal. All conditions of the write hold, and nothing is written. */
export class RehearsalPassed extends Error {
  /** The response of the use case. */
  readonly response: object;

  constructor(response: object) {
    super("The rehearsal passed.");
    this.response = response;
  }
}

const dialect = new SQLiteSyncDialect();

/** Creates a guard from a Drizzle condition. */
export function guard(condition: SQL, otherwise: () => AppError | StaleRead): Prepared {
  const { sql: text, params } = dialect.sqlToQuery(condition);
  return guardCondition(text, params as Parameter[], otherwise);
}

/**
 * Creates a guard from the text of a condition. It violates a constraint on failure, because statements can't return
 * rows. Without `otherwise`, the service reads and decides again.
 */
export const guardCondition = (
  condition: string,
  parameters: Prepared["parameters"],
  otherwise: NonNullable<Prepared["otherwise"]> = () => new StaleRead(),
): Prepared => ({
  text: `insert into guards (holds) select 0 where (${condition}) is not true`,
  parameters,
  otherwise,
});

export function compileStatement(statement: Statement): Prepared {
  if ("text" in statement) return statement;
  const query = "toSQL" in statement ? statement.toSQL() : dialect.sqlToQuery(statement);
  return { text: query.sql, parameters: query.params as Parameter[] };
}

/** Maximum rows per statement. Other requests can run between statements. */
export const portionRows = 250;

/** Splits IDs into statements that are small enough not to block other requests. */
export const splitIntoPortions = <T>(
  ids: readonly T[],
  make: (portion: readonly T[]) => Statement[],
) =>
  Array.from({ length: Math.ceil(ids.length / portionRows) }, (_, index) => {
    const portion = ids.slice(index * portionRows, (index + 1) * portionRows);
    return make(portion).map((statement): Prepared => ({
      ...compileStatement(statement),
      rows: portion.length,
    }));
  }).flat();

/** Like `splitIntoPortions`, but one statement for a list that one portion contains. It can share a COMMIT. */
export const splitIfLong = <T>(
  list: readonly T[],
  make: (portion: readonly T[]) => Statement[],
): Statement[] => (list.length <= portionRows ? make(list) : splitIntoPortions(list, make));

/** Returns the table that a statement writes to; null for other statements. */
export function findWrittenTable(text: string): string | null {
  const [, table] =
    /^\s*(?:insert(?: or \w+)? into|update|delete from)\s+"?(\w+)/i.exec(text) ?? [];
  return table?.toLowerCase() ?? null;
}

/**
 * Prepares an INSERT for hot paths, where building the text costs more than the write. Missing columns are null.
 * `insert or replace` replaces a row with the same key.
 */
export function createInsert<T extends SQLiteTable>(
  table: T,
  verb: "insert" | "insert or replace" = "insert",
): (row: T["$inferInsert"]) => Prepared {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, column]) => `"${column.name}"`).join(", ");
  const values = columns.map(() => "?").join(", ");
  const text = `${verb} into "${getTableName(table)}" (${names}) values (${values})`;
  return (row) => ({ text, parameters: columns.map(createValueReader(row)) });
}

/** Prepares an UPDATE of one row by organization and ID. */
export function createUpdate<T extends SQLiteTable, K extends keyof T["$inferInsert"] & string>(
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
    parameters: [...columns.map(createValueReader(row)), organizationId, row.id],
  });
}

function createValueReader(row: object) {
  return ([key, column]: readonly [string, Column]): Parameter => {
    const value = (row as Record<string, unknown>)[key];
    return value === undefined || value === null
      ? null
      : (column.mapToDriverValue(value) as Parameter);
  };
}

/** Caches the result of `make` per store. */
export function cachePerStore<T extends object>(make: (store: Store) => T) {
  const valueOfStore = new WeakMap<Store, T>();
  return (store: Store): T => {
    const known = valueOfStore.get(store) ?? make(store);
    valueOfStore.set(store, known);
    return known;
  };
}

/** More conflicts in a row mean that an attempt decides by values that it does not read again. */
const maxAttempts = 1_000;

/**
 * Repeats `attempt` on StaleRead. Each conflict means that another write succeeded, so the system makes progress. Throws
 * UNAVAILABLE instead of an attempt without end, which would stop everybody.
 */
export async function retryOnStaleRead<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error;
    }
  }
  throw new AppError("UNAVAILABLE", "The data changes too often at the moment. Try again.");
}
