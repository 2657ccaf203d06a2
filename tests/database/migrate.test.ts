import { expect, test } from "bun:test";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { openDatabase } from "../../src/database/file/embedded.ts";
import { migrate, countPendingMigrations } from "../../src/database/migrate.ts";
import { writeMigrationFolder } from "../support/migration-folder.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

const parents = "CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;";
const children = `CREATE TABLE children (id INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE) STRICT;`;
const first = `${parents}--> statement-breakpoint\n${children}`;
const addColumn = "ALTER TABLE parents ADD COLUMN note TEXT;";
// As drizzle-kit generates it, including its pragmas.
const rebuild = [
  "PRAGMA foreign_keys=OFF;",
  "CREATE TABLE __new_parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL, rank INTEGER) STRICT;",
  "INSERT INTO __new_parents (id, name) SELECT id, name FROM parents;",
  "DROP TABLE parents;",
  "ALTER TABLE __new_parents RENAME TO parents;",
  "PRAGMA foreign_keys=ON;",
].join("--> statement-breakpoint\n");

/** A folder of exactly these migrations. */
const writeFolder = (...texts: string[]) => writeMigrationFolder(newDirectory(), texts, null);

/** A database with the first migration, two parents and three children. */
function createFilledDatabase() {
  const database = openDatabase(":memory:");
  migrate(database, writeFolder(first));
  database.run("INSERT INTO parents VALUES (1, 'Ada'), (2, 'Bob')");
  database.run("INSERT INTO children VALUES (1, 1), (2, 1), (3, 2)");
  return database;
}

type Database = ReturnType<typeof createFilledDatabase>;

function dump(database: Database): string {
  const tables = database
    .query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_schema ORDER BY name")
    .all();
  return JSON.stringify(
    tables.map(({ name, sql }) => [name, sql, database.query(`SELECT * FROM "${name}"`).values()]),
  );
}

const hasForeignKeys = (database: Database) =>
  database.query("PRAGMA foreign_keys").values()[0]?.[0] === 1;

/** Message of a rejected migration. The database must be unchanged, with its foreign keys on. */
function readRejection(database: Database, folder: string): string {
  const before = dump(database);
  let message = "";
  try {
    migrate(database, folder);
  } catch (error) {
    expect(error).toMatchObject({ name: "DataError", code: "MIGRATION_REFUSED" });
    message = (error as Error).message;
  }
  expect([dump(database) === before, hasForeignKeys(database)]).toEqual([true, true]);
  return message;
}

test("an empty database gets every migration, and none a second time", () => {
  const database = openDatabase(":memory:");
  const pending = countPendingMigrations(database, assets.migrations);
  expect(pending).toBeGreaterThan(0);
  expect(migrate(database, assets.migrations)).toBe(pending);
  expect(migrate(database, assets.migrations)).toBe(0);
  expect(countPendingMigrations(database, assets.migrations)).toBe(0);
});

test("an older database gets only new migrations, and its rows are preserved", () => {
  const database = createFilledDatabase();
  const folder = writeFolder(first, addColumn, "CREATE TABLE more (id INTEGER) STRICT;");
  expect(migrate(database, folder)).toBe(2);
  expect(database.query("SELECT * FROM parents").values()).toEqual([
    [1, "Ada", null],
    [2, "Bob", null],
  ]);
});

test("rows that could be lost are saved first, and only then", () => {
  const database = openDatabase(":memory:");
  const saved: string[] = [];
  const save = () => void saved.push(dump(database));
  migrate(database, writeFolder(first), save);
  expect(saved).toEqual([]);
  const before = dump(database);
  const folder = writeFolder(first, addColumn);
  migrate(database, folder, save);
  migrate(database, folder, save);
  expect(saved).toEqual([before]);
});

test("rebuilding a table preserves the rows that refer to it", () => {
  const database = createFilledDatabase();
  expect(migrate(database, writeFolder(first, rebuild))).toBe(1);
  expect(database.query("SELECT * FROM children").values()).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
  expect(hasForeignKeys(database)).toBe(true);
  database.run("DELETE FROM parents WHERE id = 1");
  expect(database.query("SELECT id FROM children").values()).toEqual([[3]]);
});

test("data of a newer version is rejected", () => {
  const database = createFilledDatabase();
  migrate(database, writeFolder(first, addColumn));
  expect(readRejection(database, writeFolder(first))).toContain("newer Signalbox");
});

test("edited, replaced or reordered migrations are rejected", () => {
  const more = "CREATE TABLE more (id INTEGER) STRICT;";
  const database = createFilledDatabase();
  migrate(database, writeFolder(first, addColumn));
  for (const texts of [
    [`${first} -- edited`, addColumn],
    [first, more],
    [addColumn, first],
    [more, first, addColumn],
  ])
    expect(readRejection(database, writeFolder(...texts))).toContain("history");
});

test.each([
  ["is invalid SQL", "CREATE TABLE more (id INTEGER) STRICT;--> statement-breakpoint\nNONSENSE;"],
  [
    "violates a constraint",
    "INSERT INTO parents VALUES (9, 'Eve');--> statement-breakpoint\nINSERT INTO parents VALUES (1, 'Again');",
  ],
  ["would leave a row without its parent", "DELETE FROM parents WHERE id = 1;"],
])("a migration that %s changes nothing, nor do those before it", (_what, broken) => {
  const database = createFilledDatabase();
  const message = readRejection(database, writeFolder(first, addColumn, rebuild, broken));
  expect(message).toContain("changed nothing");
});

test("of two processes that migrate one file, each migration runs once", () => {
  const file = join(newDirectory(), "shared.db");
  const [one, two] = [openDatabase(file), openDatabase(file)];
  const folder = writeFolder(first);
  expect([migrate(one, folder), migrate(two, folder)]).toEqual([1, 0]);
  one.close();
  two.close();
});
