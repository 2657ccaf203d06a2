/** Runs migrations on a SQLite file in one transaction. */
import { Database } from "bun:sqlite";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { DataError } from "../core/errors.ts";

export type Applied = { hash: string; created_at: number };

export const appliedTable =
  "CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT";

/**
 * Migrates the database to this binary's schema atomically, and returns the number of migrations. Calls
 * `beforeChange` first if the database is not new. Throws MIGRATION_REFUSED without changes if the database has other
 * migrations than this binary, or if one fails.
 */
export function migrate(database: Database, folder: string, beforeChange: () => void = () => {}) {
  const ours = readMigrationFiles({ migrationsFolder: folder });
  if (findPending(listApplied(database), ours).length === 0) return 0;
  if (listApplied(database).length > 0) beforeChange();

  // Outside the transaction, because SQLite ignores this pragma inside. Otherwise the DROP TABLE of a table rebuild
  // would delete the children.
  database.run("PRAGMA foreign_keys = OFF");
  try {
    // A second process can have migrated during the wait for the lock, so check again.
    database.run("BEGIN IMMEDIATE");
    const pending = findPending(listApplied(database), ours);
    database.run(appliedTable);
    for (const migration of pending) {
      for (const statement of migration.sql) database.run(statement);
      database
        .query("INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)")
        .run(migration.hash, migration.folderMillis);
    }
    const orphans = database.query("PRAGMA foreign_key_check").all();
    if (orphans.length > 0)
      throw new Error(`it would leave ${orphans.length} rows that refer to deleted ones`);
    database.run("COMMIT");
    return pending.length;
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    if (error instanceof DataError) throw error;
    throw new DataError(
      "MIGRATION_REFUSED",
      `The migration failed and changed nothing: ${error instanceof Error ? error.message : String(error)}.`,
    );
  } finally {
    database.run("PRAGMA foreign_keys = ON");
  }
}

/** Number of pending migrations. Throws the same errors as `migrate`. */
export function countPendingMigrations(database: Database, folder: string): number {
  return findPending(listApplied(database), readMigrationFiles({ migrationsFolder: folder }))
    .length;
}

const tablesSql = "SELECT name FROM sqlite_schema WHERE type = 'table'";

/** Parts of a schema in words, such as `the column name of monitors`, with the text of triggers. */
function listSchemaParts(database: Database): Map<string, string> {
  const rows = database
    .query<{ type: string; name: string; owner: string; text: string }, []>(
      `SELECT type, name, tbl_name AS owner, iif(type = 'trigger', sql, '') AS text
         FROM sqlite_schema WHERE type IN ('table', 'index', 'trigger') AND name NOT LIKE 'sqlite_%'
       UNION ALL SELECT 'column', c.name, t.name, '' FROM (${tablesSql}) t, pragma_table_xinfo(t.name) c`,
    )
    .all();
  const describe = ({ type, name, owner }: (typeof rows)[number]) =>
    type === "table" ? `the table ${name}` : `the ${type} ${name} of ${owner}`;
  return new Map(rows.map((row) => [describe(row), row.text.replace(/\s+/g, " ")]));
}

/**
 * Returns how the schema of a database differs from its migrations, as the end of a sentence; null for no difference.
 * Other programs can add tables, views and indexes. Their triggers on our tables are a difference, because they would
 * run with our writes.
 */
export function findSchemaIssue(database: Database, folder: string): string | null {
  const applied = listApplied(database).length;
  using model = new Database(":memory:");
  for (const migration of readMigrationFiles({ migrationsFolder: folder }).slice(0, applied))
    for (const statement of migration.sql) model.run(statement);
  const expected = listSchemaParts(model);
  const found = listSchemaParts(database);
  for (const part of expected.keys()) if (!found.has(part)) return `lacks ${part}`;
  for (const [part, text] of found) {
    const owner = /^the trigger .* of (.*)$/s.exec(part)?.[1];
    if (owner !== undefined && expected.has(`the table ${owner}`) && expected.get(part) !== text)
      return `has ${part}, which Signalbox did not create`;
  }
  return null;
}

function listApplied(database: Database): Applied[] {
  const known = database
    .query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__drizzle_migrations'")
    .get();
  if (known === null) return [];
  return database
    .query<Applied, []>("SELECT hash, created_at FROM __drizzle_migrations ORDER BY id")
    .all();
}

/**
 * Returns the migrations that are not applied yet. Throws MIGRATION_REFUSED if the applied migrations are not the first
 * ones of this version.
 */
export function findPending<M extends { hash: string }>(
  applied: readonly Applied[],
  ours: readonly M[],
): M[] {
  if (applied.length > ours.length)
    throw new DataError(
      "MIGRATION_REFUSED",
      "This data was written by a newer Signalbox. Start that version, or restore a backup made by this one.",
    );
  for (const [index, migration] of applied.entries()) {
    if (migration.hash !== ours[index]?.hash)
      throw new DataError(
        "MIGRATION_REFUSED",
        "The history of this data is not the history of this binary. Use the version that wrote it.",
      );
  }
  return ours.slice(applied.length);
}
