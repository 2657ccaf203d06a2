/** Creation, locking, upgrades and protection of a data directory. */
import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import {
  createEmptyDatabase,
  type OpenOptions,
  openDataDirectory,
} from "../../src/database/file/data-directory.ts";
import { createOrganization, listOrganizations } from "../../src/accounts/organizations/service.ts";
import { formatBytes } from "../../src/core/text/formatting.ts";
import { getBuiltMigrations, writeMigrationFolder } from "../support/migration-folder.ts";
import { restore } from "../../src/database/backup/restore.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-20T10:00:00.000Z");
const clock = () => now;

/** Opens as the executable does, which sets this umask for its whole process. */
function open(path: string, options: Partial<OpenOptions> = {}) {
  const before = process.umask(0o077);
  try {
    return openDataDirectory(path, { migrations: getBuiltMigrations(), clock, ...options });
  } finally {
    process.umask(before);
  }
}

/** A directory that an organization used, and its database file. */
async function createUsedDirectory() {
  const path = newDirectory();
  const data = open(path);
  await createOrganization(data.store, clock, "Ours");
  data.close();
  return { path, file: join(path, "signalbox.db") };
}

function readBytes(path: string): Map<string, string> {
  const names = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
    .map(({ name }) => name);
  return new Map(names.map((name) => [name, Bun.hash(readFileSync(join(path, name))).toString()]));
}

/** Error of a rejected opening. Every file must be unchanged. */
function readRejection(path: string, options: Partial<OpenOptions> = {}) {
  const before = readBytes(path);
  try {
    open(path, options).close();
  } catch (error) {
    for (const [name, hash] of before)
      expect([name, readBytes(path).get(name)]).toEqual([name, hash]);
    return { code: (error as { code: string }).code, message: (error as Error).message };
  }
  return null;
}

async function readSlugs(path: string, options: Partial<OpenOptions> = {}) {
  const data = open(path, options);
  const slugs = (await listOrganizations(data.store)).map(({ slug }) => slug);
  data.close();
  return slugs;
}

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe("creation and access", () => {
  test("a new database is in WAL mode, because two processes that switch a file at once fail", () => {
    const file = join(newDirectory(), "empty.db");
    createEmptyDatabase(file, assets.migrations);
    // Versions for writing and reading (https://sqlite.org/fileformat2.html, 1.3.3); 2 is WAL.
    expect([...readFileSync(file).subarray(18, 20)]).toEqual([2, 2]);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test("a new directory is created with its parents, private to its owner, and so are its files", () => {
    const path = join(newDirectory(), "a", "b");
    const data = open(path, { isExclusive: true });
    expect(modeOf(path)).toBe("700");
    const names = readdirSync(path);
    for (const name of ["signalbox.db", "secret.key", "instance.json", "signalbox.lock"])
      expect(names).toContain(name);
    for (const name of names) expect([name, modeOf(join(path, name))]).toEqual([name, "600"]);
    data.close();
  });

  test("a directory that was accessible to others becomes private", async () => {
    const { path } = await createUsedDirectory();
    chmodSync(path, 0o755);
    open(path).close();
    expect(modeOf(path)).toBe("700");
  });

  test("a directory has one server at a time", async () => {
    const { path } = await createUsedDirectory();
    const server = open(path, { isExclusive: true });
    expect(readRejection(path, { isExclusive: true })).toMatchObject({ code: "ALREADY_RUNNING" });
    expect(await readSlugs(path)).toEqual(["ours"]);
    server.close();
    expect(await readSlugs(path, { isExclusive: true })).toEqual(["ours"]);
  });

  test("a lock that is a link, a folder or foreign is reported as such", () => {
    const [elsewhere, path] = [newDirectory(), newDirectory()];
    const running = open(elsewhere, { isExclusive: true });
    const file = join(path, "signalbox.lock");
    const spoils = [
      () => symlinkSync(join(elsewhere, "signalbox.lock"), file),
      () => symlinkSync(join(elsewhere, "missing"), file),
      () => mkdirSync(file),
      () => writeFileSync(file, "not a lock ".repeat(100)),
    ];
    for (const spoil of spoils) {
      spoil();
      const message = expect.stringContaining(`${file} can't be locked`);
      expect(readRejection(path, { isExclusive: true })).toEqual({
        code: "DATA_UNUSABLE",
        message,
      });
      rmSync(file, { recursive: true });
    }
    expect(existsSync(join(elsewhere, "missing"))).toBe(false);
    running.close();
    open(path, { isExclusive: true }).close();
  });

  test("a lock file of a dead process blocks no start", async () => {
    const { path } = await createUsedDirectory();
    writeFileSync(join(path, "signalbox.lock"), "");
    expect(await readSlugs(path, { isExclusive: true })).toEqual(["ours"]);
  });

  test("a path that can't be a directory is unusable", () => {
    const file = join(newDirectory(), "file");
    writeFileSync(file, "");
    expect(() => open(file)).toThrow("can't be used");
  });
});

describe("an unusable database is rejected, and nothing is overwritten", () => {
  const damages: [what: string, damage: (file: string) => void][] = [
    ["missing", (file) => rmSync(file)],
    ["empty", (file) => truncateSync(file)],
    ["garbage", (file) => writeFileSync(file, crypto.getRandomValues(new Uint8Array(20_000)))],
    ["shorter than a header", (file) => truncateSync(file, 50)],
    ["cut in half", (file) => truncateSync(file, statSync(file).size / 2)],
    ["cut after its first page", (file) => truncateSync(file, 4096)],
    [
      "of another program",
      (file) => {
        rmSync(file);
        const foreign = new Database(file, { create: true });
        foreign.run("CREATE TABLE theirs (id INTEGER)");
        foreign.close();
      },
    ],
    [
      "damaged inside",
      (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0xa5, 3 * 4096, 5 * 4096);
        writeFileSync(file, bytes);
      },
    ],
  ];
  test.each(damages)("%s", async (_what, damage) => {
    const { path, file } = await createUsedDirectory();
    damage(file);
    const refused = readRejection(path, { isExclusive: true, upgrade: true });
    expect(refused).toEqual({ code: "DATA_UNUSABLE", message: expect.stringContaining(file) });
    expect(refused?.message).toMatch(/backup/);
  });
});

describe("starting over without data", () => {
  test("an empty database is moved aside, a missing one is created; the key is preserved", async () => {
    for (const damage of [truncateSync, rmSync]) {
      const { path, file } = await createUsedDirectory();
      const key = readFileSync(join(path, "secret.key"), "utf8");
      damage(file);
      expect(await readSlugs(path, { createsMissing: true })).toEqual([]);
      expect(readFileSync(join(path, "secret.key"), "utf8")).toBe(key);
      expect(existsSync(`${file}.empty-${now}`)).toBe(damage === truncateSync);
    }
  });

  test("a database with data is opened, not replaced", async () => {
    const { path } = await createUsedDirectory();
    expect(await readSlugs(path, { createsMissing: true })).toEqual(["ours"]);
  });

  test("a foreign or damaged database is rejected anyway", async () => {
    const { path, file } = await createUsedDirectory();
    writeFileSync(file, "not a database ".repeat(100));
    expect(readRejection(path, { createsMissing: true })).toMatchObject({ code: "DATA_UNUSABLE" });
  });
});

describe("the key of the stored secrets", () => {
  test("is the same at every start", async () => {
    const { path } = await createUsedDirectory();
    const [first, second] = [open(path), open(path)];
    expect(second.vault.open(first.vault.seal("secret", "place"), "place")).toBe("secret");
    first.close();
    second.close();
  });

  test("is neither replaced when it is missing, nor accepted when it is invalid", async () => {
    const { path } = await createUsedDirectory();
    const key = join(path, "secret.key");
    writeFileSync(key, "abc");
    expect(readRejection(path)).toMatchObject({ code: "DATA_UNUSABLE" });
    rmSync(key);
    const refused = readRejection(path);
    expect(refused).toEqual({ code: "DATA_UNUSABLE", message: expect.stringContaining(key) });
    expect(existsSync(key)).toBe(false);
  });
});

describe("data of another version", () => {
  const writeNewer = () =>
    writeMigrationFolder(newDirectory(), ["ALTER TABLE organizations ADD COLUMN motto TEXT;"]);

  test("older data stays unchanged without a request to upgrade", async () => {
    const { path } = await createUsedDirectory();
    expect(readRejection(path, { migrations: writeNewer() })).toEqual({
      code: "MIGRATION_REFUSED",
      message: expect.stringContaining("signalbox migrate"),
    });
    expect(readdirSync(path).filter((name) => name.includes("before-upgrade"))).toEqual([]);
    expect(await readSlugs(path)).toEqual(["ours"]);
  });

  test("an upgrade leaves a complete, private copy of the older data next to it", async () => {
    const { path, file } = await createUsedDirectory();
    const data = open(path, { migrations: writeNewer(), upgrade: true });
    expect(data.migrated).toBe(1);
    expect(data.database.query("SELECT slug, motto FROM organizations").values()).toEqual([
      ["ours", null],
    ]);
    data.close();
    const copy = `${file}.before-upgrade-${now}`;
    expect(modeOf(copy)).toBe("600");
    const older = new Database(copy, { readonly: true });
    expect(older.query("SELECT slug FROM organizations").values()).toEqual([["ours"]]);
    expect(() => older.query("SELECT motto FROM organizations")).toThrow("no such column");
    older.close();
  });

  test("the copies of the last two upgrades are preserved, and can be restored", async () => {
    const { path, file } = await createUsedDirectory();
    for (const [index, later] of [1_000, 2_000, 20_000].entries()) {
      const texts = ["motto", "song", "flag"]
        .slice(0, index + 1)
        .map((name) => `ALTER TABLE organizations ADD COLUMN ${name} TEXT;`);
      const migrations = writeMigrationFolder(newDirectory(), texts);
      open(path, { migrations, upgrade: true, clock: () => now + later }).close();
    }
    const copies = readdirSync(path).filter((name) => name.includes("before-upgrade"));
    expect(copies.toSorted()).toEqual(
      [2_000, 20_000].map((later) => `signalbox.db.before-upgrade-${now + later}`).toSorted(),
    );
    await restore({
      dataDir: path,
      file: `${file}.before-upgrade-${now + 2_000}`,
      migrations: writeMigrationFolder(newDirectory(), [
        "ALTER TABLE organizations ADD COLUMN motto TEXT;",
      ]),
      clock,
    });
    expect(() => open(path)).toThrow("newer");
  });

  test("without space for the copy the upgrade reports it and continues, or is rejected if a copy is required", async () => {
    const { path } = await createUsedDirectory();
    const texts: string[] = [];
    const options = {
      migrations: writeNewer(),
      upgrade: true,
      freeBytes: () => 1024 ** 2,
      onMissingCopy: (message: string) => texts.push(message),
    };
    const database = new Database(join(path, "signalbox.db"));
    database.run("CREATE TABLE filler (text TEXT) STRICT");
    database.run("INSERT INTO filler VALUES (hex(randomblob(1000000)))");
    database.close();
    // One and a half times the size of the database.
    const needed = formatBytes(1.5 * statSync(join(path, "signalbox.db")).size);
    const refused = readRejection(path, { ...options, requireCopy: true });
    expect(refused).toEqual({
      code: "MIGRATION_REFUSED",
      message: expect.stringMatching(
        new RegExp(`1.0 MB are free, ${needed} are needed.*--require-copy`),
      ),
    });
    expect(texts).toEqual([]);
    const data = open(path, options);
    expect(data.migrated).toBe(1);
    data.close();
    expect(texts).toEqual([expect.stringContaining("1.0 MB are free")]);
    expect(readdirSync(path).filter((name) => name.includes("before-upgrade"))).toEqual([]);
  });

  test("newer data is rejected, also by an upgrade", async () => {
    const { path } = await createUsedDirectory();
    open(path, { migrations: writeNewer(), upgrade: true }).close();
    for (const upgrade of [false, true])
      expect(readRejection(path, { upgrade })).toMatchObject({ code: "MIGRATION_REFUSED" });
  });

  test("a failing upgrade leaves the older data in use", async () => {
    const { path } = await createUsedDirectory();
    const migrations = writeMigrationFolder(newDirectory(), [
      "DELETE FROM organizations;",
      "NONSENSE;",
    ]);
    expect(readRejection(path, { migrations, upgrade: true })).toMatchObject({
      code: "MIGRATION_REFUSED",
    });
    expect(await readSlugs(path)).toEqual(["ours"]);
  });
});

test("a directory with other files keeps its mode, an empty one becomes private", () => {
  const [home, empty] = [newDirectory(), newDirectory()];
  writeFileSync(join(home, "letters.txt"), "Dear");
  for (const path of [home, empty]) {
    chmodSync(path, 0o755);
    open(path).close();
    open(path).close();
  }
  expect(statSync(home).mode & 0o777).toBe(0o755);
  expect(statSync(empty).mode & 0o777).toBe(0o700);
});
