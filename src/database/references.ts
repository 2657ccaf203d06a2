import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { AppError } from "../base/errors.ts";
import { type Guard, must, StaleRead } from "./store.ts";

type Keyed = SQLiteTable & { organizationId: SQLiteColumn; id: SQLiteColumn };
export type Versioned = Keyed & { version: SQLiteColumn };

/** Ids as a table with the columns `value` and `key` (their place): one fixed statement for any number of them. */
export function listed(ids: readonly string[]): SQL {
  return sql`json_each(${JSON.stringify(ids)})`;
}

/** A LIKE pattern, with `escape '\\'`, for a text that contains this one. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Holds when each of these ids is a row of this organization. */
export function mustExist(
  table: Keyed,
  organizationId: string,
  ids: readonly string[],
  otherwise: AppError | StaleRead,
): Guard {
  const unknown = sql`select 1 from ${listed(ids)} wanted where not exists (
    select 1 from ${table} where ${table.organizationId} = ${organizationId} and ${table.id} = wanted.value)`;
  return must(sql`not exists (${unknown})`, otherwise);
}

/** NOT_FOUND for a field that names a record nobody knows here. */
export function unknownReference(path: string, noun: string): AppError {
  return new AppError("NOT_FOUND", `${path} names no ${noun} of this organization.`, {
    details: [{ path, message: `must name only existing ${noun}s` }],
  });
}

/** Holds while the record still has the version that was read; else `retrying` reads it again. */
export function mustBeUnchanged(
  table: Versioned,
  organizationId: string,
  record: { id: string; version: number },
): Guard {
  return must(
    sql`exists (select 1 from ${table} where ${table.organizationId} = ${organizationId}
      and ${table.id} = ${record.id} and ${table.version} = ${record.version})`,
    new StaleRead(),
  );
}
