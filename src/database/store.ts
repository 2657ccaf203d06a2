import { type SQL, sql } from "drizzle-orm";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { AppError } from "../base/errors.ts";
import { guards } from "./tables.ts";

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
};

export type Parameter = string | number | null;

/** A write without RETURNING: a Drizzle builder, a piece of SQL, or a guard. */
export type Statement = { toSQL(): { sql: string; params: unknown[] } } | SQL | Guard;

/** Fails its whole batch with `otherwise` when the condition does not hold at the moment of the write. */
export type Guard = { guard: SQL; otherwise: AppError | StaleRead };

/** What was read is no longer so: read again, decide again. Never leaves `retrying`. */
export class StaleRead extends Error {}

export function must(condition: SQL, otherwise: AppError | StaleRead): Guard {
  return {
    guard: sql`insert into ${guards} (holds) select 0 where not (${condition})`,
    otherwise,
  };
}

const dialect = new SQLiteSyncDialect();

/** The text, the parameters and, for a guard, the error of one statement. */
export function compiled(statement: Statement): {
  text: string;
  parameters: Parameter[];
  otherwise: AppError | StaleRead | null;
} {
  const otherwise = "guard" in statement ? statement.otherwise : null;
  const query =
    "guard" in statement
      ? dialect.sqlToQuery(statement.guard)
      : "toSQL" in statement
        ? statement.toSQL()
        : dialect.sqlToQuery(statement);
  return { text: query.sql, parameters: query.params as Parameter[], otherwise };
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
