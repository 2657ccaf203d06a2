/** Guards a write against missing references, exceeded limits and changed versions. */
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { AppError } from "../core/errors.ts";
import type { LimitName, Limits } from "../core/limits.ts";
import { guardCondition, type Prepared, StaleRead } from "./store.ts";

type KeyedTable = SQLiteTable & { organizationId: SQLiteColumn; id: SQLiteColumn };
export type VersionedTable = KeyedTable & { version: SQLiteColumn };

/** SQL table of IDs with the columns `value` and `key` (position). Its text does not depend on the number of IDs. */
export function buildIdTable(ids: readonly string[]): SQL {
  return sql`json_each(${JSON.stringify(ids)})`;
}

/** Guard that fails unless each ID is a row of this organization that satisfies the condition. */
export function guardExists(
  table: KeyedTable,
  organizationId: string,
  ids: readonly string[],
  otherwise: () => AppError | StaleRead,
  condition = "true",
  conditionParameters: readonly string[] = [],
): Prepared[] {
  if (ids.length === 0) return [];
  const text = `not exists (select 1 from json_each(?) wanted where not exists (
    select 1 from ${getTableName(table)}
    where organization_id = ? and id = wanted.value and ${condition}))`;
  const parameters = [JSON.stringify(ids), organizationId, ...conditionParameters];
  return [guardCondition(text, parameters, otherwise)];
}

/**
 * Guard that fails if the organization exceeds its limit for this table. Must follow the inserts. With `condition`,
 * only matching rows count.
 */
export function guardLimit(
  { organizationId, limits }: { organizationId: string; limits: Limits },
  name: LimitName,
  table: SQLiteTable,
  condition = "true",
): Prepared {
  return guardCondition(
    `(select count(*) from ${getTableName(table)} where organization_id = ? and ${condition}) <= ?`,
    [organizationId, limits[name]],
    () => overLimitError(limits, name),
  );
}

export function overLimitError(limits: Limits, name: LimitName): AppError {
  const [thing = "", whole] = name.replaceAll("-", " ").split(" of a ");
  const owner = whole === undefined ? "An organization" : `A ${whole}`;
  return new AppError(
    "CONFLICT",
    `${owner} may have at most ${limits[name]} ${thing}, the limit ${name}. An administrator of the machine can raise it: serve --limit ${name}=NUMBER.`,
  );
}

/** Creates a NOT_FOUND error for a field that refers to an unknown record. */
export function unknownReferenceError(path: string, noun: string): AppError {
  return new AppError("NOT_FOUND", `${path} names no ${noun} of this organization.`, {
    details: [{ path, message: `must name only existing ${noun.replace(/y$/, "ie")}s` }],
  });
}

/**
 * Guard that fails with StaleRead if the record's version has changed since it was read. `retryOnStaleRead` then
 * repeats the attempt.
 */
export function guardVersion(
  table: VersionedTable,
  organizationId: string,
  record: { id: string; version: number },
): Prepared {
  return guardCondition(
    `exists (select 1 from ${getTableName(table)}
      where organization_id = ? and id = ? and version = ?)`,
    [organizationId, record.id, record.version],
  );
}

/** Guard that fails with NOT_FOUND unless each ID in a request field is a member's. */
export const guardMembers = (
  { organizationId }: { organizationId: string },
  field: string,
  ids: readonly string[],
): Prepared =>
  guardCondition(
    `not exists (select 1 from json_each(?) wanted where not exists (
  select 1 from memberships where organization_id = ? and person_id = wanted.value))`,
    [JSON.stringify(ids), organizationId],
    () => unknownReferenceError(field, "person"),
  );
