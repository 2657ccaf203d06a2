import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { examineDirectory } from "../../src/database/examine.ts";
import { getBuiltMigrations, writeMigrationFolder } from "../support/migration-folder.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

function createHealthy() {
  const path = newDirectory();
  openDataDirectory(path, { migrations: getBuiltMigrations(), clock: Date.now }).close();
  for (const name of readdirSync(path)) chmodSync(join(path, name), 0o600);
  return { path, file: join(path, "signalbox.db") };
}

/** Problems that the examination finds. */
function buildProblems(path: string, migrations = getBuiltMigrations()): string[] {
  return examineDirectory(path, migrations)
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ verdict, subject }) => `${verdict}: ${subject}`);
}

test("a healthy directory has no problem, and the examination does not change it", () => {
  const { path, file } = createHealthy();
  const before = readFileSync(file);
  const findings = examineDirectory(path, getBuiltMigrations());
  const subjects = ["data directory", "permissions", "integrity", "references"];
  expect(findings.map(({ subject }) => subject)).toEqual(
    expect.arrayContaining([...subjects, "schema", "secrets"]),
  );
  expect(buildProblems(path)).toEqual([]);
  expect(readFileSync(file).equals(before)).toBe(true);
});

const damages: [what: string, damage: (file: string) => void, found: string][] = [
  [
    "a missing directory",
    (file) => rmSync(join(file, ".."), { recursive: true }),
    "unusable: data directory",
  ],
  ["a missing key", (file) => rmSync(join(file, "..", "secret.key")), "unusable: key"],
  ["a missing database", (file) => rmSync(file), "unusable: database"],
  [
    "garbage",
    (file) => writeFileSync(file, "not a database ".repeat(100), { mode: 0o600 }),
    "unusable: database",
  ],
  ["a database open to others", (file) => chmodSync(file, 0o640), "problem: permissions"],
  [
    "a key open to others",
    (file) => chmodSync(join(file, "..", "secret.key"), 0o604),
    "problem: permissions",
  ],
  [
    "a directory open to others",
    (file) => chmodSync(join(file, ".."), 0o711),
    "problem: permissions",
  ],
  [
    "a row without its parent",
    (file) => {
      const database = new Database(file);
      database.run("INSERT INTO incident_counts VALUES ('nobody', 'resolved', 'minor', 1)");
      database.close();
    },
    "problem: references",
  ],
  [
    "a damaged page",
    (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 3 * 4096, 5 * 4096);
      writeFileSync(file, bytes);
    },
    "unusable: database",
  ],
];
test.each(damages)("it finds %s", (_what, damage, found) => {
  const { path, file } = createHealthy();
  damage(file);
  expect(buildProblems(path)).toEqual([found]);
});

test("it finds data of an older version, and of a newer one", () => {
  const { path } = createHealthy();
  const newer = writeMigrationFolder(newDirectory(), ["CREATE TABLE more (id INTEGER) STRICT;"]);
  expect(buildProblems(path, newer)).toEqual(["problem: schema"]);
  const clock = Date.now;
  openDataDirectory(path, { migrations: newer, clock, upgrade: true }).close();
  expect(buildProblems(path)).toEqual(["unusable: database"]);
});
