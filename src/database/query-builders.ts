import { DrizzleQueryError, NoopLogger } from "drizzle-orm";
import { NoopCache } from "drizzle-orm/cache/core";
import { BaseSQLiteDatabase, SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import {
  type AsyncRemoteCallback,
  RemotePreparedQuery,
  SQLiteRemoteSession,
} from "drizzle-orm/sqlite-proxy";
import type { Store } from "./store.ts";

type NoSchema = Record<string, never>;
type PrepareQuery = SQLiteRemoteSession<NoSchema, NoSchema>["prepareQuery"];

const [logger, cache] = [new NoopLogger(), new NoopCache()];

/** Creates Drizzle's query builders for a function that reads rows. */
export function createQueryBuilders(read: AsyncRemoteCallback): Store["db"] {
  const dialect = new SQLiteAsyncDialect();
  return new BaseSQLiteDatabase("async", dialect, new Session(read, dialect), undefined);
}

class Session extends SQLiteRemoteSession<NoSchema, NoSchema> {
  readonly #read: AsyncRemoteCallback;

  constructor(read: AsyncRemoteCallback, dialect: SQLiteAsyncDialect) {
    super(read, dialect, undefined);
    this.#read = read;
  }

  override prepareQuery(
    ...[query, fields, method, isArray, mapper, metadata, caching]: Parameters<PrepareQuery>
  ) {
    const parameters = [fields, method, isArray, mapper] as const;
    return new ReadQuery(this.#read, query, logger, cache, metadata, caching, ...parameters);
  }
}

/** Unwraps read errors, because Drizzle hides their class and puts all parameters into the message. */
class ReadQuery extends RemotePreparedQuery {
  override all(values?: Record<string, unknown>) {
    return super.all(values).catch(throwCause);
  }
  override get(values?: Record<string, unknown>) {
    return super.get(values).catch(throwCause);
  }
  override values<T extends unknown[] = unknown[]>(values?: Record<string, unknown>) {
    return super.values<T>(values).catch(throwCause);
  }
}

function throwCause(error: unknown): never {
  throw error instanceof DrizzleQueryError ? error.cause : error;
}
