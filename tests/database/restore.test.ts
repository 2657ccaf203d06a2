/** Restoring backups: keys, passphrases, damage and interruptions. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createOrganization, listOrganizations } from "../../src/accounts/organizations/service.ts";
import { copyDatabase } from "../../src/database/backup/copy.ts";
import { decryptFile } from "../../src/database/backup/encrypted-file.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { restore, type RestoreOptions } from "../../src/database/backup/restore.ts";
import { buildStagingPaths } from "../../src/database/backup/unfinished-restore.ts";
import { getBuiltMigrations, writeMigrationFolder } from "../support/migration-folder.ts";
import { useCheapEncryption } from "../support/cheap-encryption.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const clock = () => Date.parse("2026-11-22T13:01:12.000Z");
const open = (path: string, migrations = getBuiltMigrations(), upgrade = false) =>
  openDataDirectory(path, { migrations, clock, upgrade });

/** A data directory with this organization, and a secret unless `hasSecret` is false. */
async function createUsedDirectory({
  name = "Ours",
  hasSecret = true,
  migrations = getBuiltMigrations(),
} = {}) {
  const path = join(newDirectory(), "data");
  const data = open(path, migrations);
  await createOrganization(data.store, clock, name);
  if (hasSecret)
    data.database
      .query(
        `insert into people (id, name, email, email_key, password_hash, totp_secret, totp_step,
           administrator, wrong_codes, version, created_at, updated_at)
         values ('ada', 'Ada', 'ada@a.example', 'ada@a.example', '', ?, 0, 1, 0, 1, '', '')`,
      )
      .run(data.vault.seal("JBSWY3DP", "person/ada/totp"));
  data.close();
  return path;
}

/** A backup of such a directory, and its key. */
async function createBackup(settings: Parameters<typeof createUsedDirectory>[0] = {}) {
  const path = await createUsedDirectory({ name: "Theirs", ...settings });
  const file = join(path, "..", "backup.db");
  await copyDatabase(path, file);
  return { file, key: join(path, "secret.key") };
}

/** Changes a backup as another program can. The checksum at its end is lost. */
function changeBackup(file: string, text: string) {
  using database = new Database(file);
  database.run("PRAGMA foreign_keys = OFF");
  database.run(text);
  database.run("VACUUM");
  database.run("PRAGMA journal_mode = DELETE");
}

const restoreParts = (dataDir: string, file: string, options: Partial<RestoreOptions> = {}) =>
  restore({ dataDir, file, migrations: getBuiltMigrations(), clock, ...options });

function readBytes(path: string): Record<string, string> {
  const files = readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/signalbox\.lock|-shm$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(files.map((file) => [file, Bun.hash(readFileSync(file)).toString(36)]));
}

async function readSlugs(path: string): Promise<string[]> {
  const data = open(path);
  const slugs = (await listOrganizations(data.store)).map(({ slug }) => slug);
  data.close();
  return slugs;
}

const refusalOf = async (work: () => unknown) => {
  try {
    await work();
  } catch (error) {
    return { code: (error as { code?: string }).code, message: (error as Error).message };
  }
  return null;
};

describe("a backup that is restored", () => {
  test("replaces the data, which is preserved with its key under a dated name", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    const before = readFileSync(join(path, "signalbox.db"));
    const oldKey = readFileSync(join(path, "secret.key"), "utf8");
    const aside = join(path, "before-restore-2026-11-22-130112");
    expect(await restoreParts(path, file, { key })).toEqual({
      dataDir: path,
      keptAside: aside,
      organizations: 1,
      monitors: 0,
      migrations: 0,
      secrets: "open",
    });
    expect(await readSlugs(path)).toEqual(["theirs"]);
    expect(readFileSync(join(aside, "signalbox.db")).equals(before)).toBe(true);
    expect(readFileSync(join(aside, "secret.key"), "utf8")).toBe(oldKey);
    expect(readFileSync(join(path, "secret.key"), "utf8")).toBe(readFileSync(key, "utf8"));
    expect(readdirSync(path).filter((name) => name.startsWith("restore-"))).toEqual([]);
  });

  test.each([
    ["create trigger evil after insert on audit_entries begin delete from events; end", "evil"],
    ["drop trigger incidents_counted_on_insert", "lacks the trigger incidents_counted_on_insert"],
    ["drop table monitor_dependencies", "lacks the table monitor_dependencies"],
    ["drop index monitor_dependencies_by_parent", "lacks the index"],
    ["alter table monitors rename column description to d", "lacks the column description"],
  ])("is rejected with another schema: %s", async (change, issue) => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    changeBackup(file, change);
    const before = readBytes(path);
    const { code, message } = (await refusalOf(() => restoreParts(path, file, { key }))) ?? {};
    expect([code, message]).toEqual(["DATA_UNUSABLE", expect.stringContaining(issue)]);
    expect(readBytes(path)).toEqual(before);
  });

  test("can have tables, views and indexes of other programs", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    changeBackup(file, "create table _litestream_seq (id integer primary key, seq integer)");
    changeBackup(file, "create view names as select name from organizations");
    changeBackup(file, "create index own on events (at)");
    expect(await restoreParts(path, file, { key })).toMatchObject({ organizations: 1 });
  });

  test("can be restored twice within a second without losing the first preserved data", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    const first = await restoreParts(path, file, { key });
    const second = await restoreParts(path, file, { key });
    expect(second.keptAside).toBe(`${first.keptAside}-2`);
    expect(await readSlugs(String(first.keptAside))).toEqual(["ours"]);
    expect(await readSlugs(String(second.keptAside))).toEqual(["theirs"]);
  });

  test("can be restored into an empty or missing directory", async () => {
    const { file, key } = await createBackup();
    const [empty, missing] = [newDirectory(), join(newDirectory(), "a", "b")];
    for (const path of [empty, missing]) {
      expect(await restoreParts(path, file, { key })).toMatchObject({
        keptAside: null,
        secrets: "open",
      });
      expect(await readSlugs(path)).toEqual(["theirs"]);
    }
  });

  test("leaves other files in the directory unchanged", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    writeFileSync(join(path, "letters.txt"), "Dear");
    await restoreParts(path, file, { key });
    expect(readFileSync(join(path, "letters.txt"), "utf8")).toBe("Dear");
  });

  test("is not affected by the log of the old database", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    const running = open(path);
    await createOrganization(running.store, clock, "Late");
    const log = readFileSync(join(path, "signalbox.db-wal"));
    expect(log.length).toBeGreaterThan(0);
    const { keptAside } = await restoreParts(path, file, { key });
    running.close();
    expect(await readSlugs(path)).toEqual(["theirs"]);
    expect(await readSlugs(String(keptAside))).toEqual(["late", "ours"]);
  });

  test("is opened by the key in the directory if it fits", async () => {
    const path = await createUsedDirectory();
    const file = join(newDirectory(), "backup.db");
    await copyDatabase(path, file);
    expect((await restoreParts(path, file)).secrets).toBe("open");
    expect(await readSlugs(path)).toEqual(["ours"]);
  });

  test("without a key needs its key to start, and rejects any other", async () => {
    const { file, key } = await createBackup();
    const path = newDirectory();
    expect((await restoreParts(path, file)).secrets).toBe("closed");
    expect(await refusalOf(() => open(path))).toEqual({
      code: "DATA_UNUSABLE",
      message: expect.stringContaining(`${join(path, "secret.key")} is missing`),
    });
    copyFileSync(join(await createUsedDirectory(), "secret.key"), join(path, "secret.key"));
    expect(await refusalOf(() => open(path))).toEqual({
      code: "DATA_UNUSABLE",
      message: expect.stringContaining(`${join(path, "secret.key")} is another key`),
    });
    copyFileSync(key, join(path, "secret.key"));
    expect(await readSlugs(path)).toEqual(["theirs"]);
  });

  test("without secrets needs no key", async () => {
    const { file } = await createBackup({ hasSecret: false });
    const path = newDirectory();
    expect((await restoreParts(path, file)).secrets).toBe("none");
    expect(await readSlugs(path)).toEqual(["theirs"]);
  });

  test("of an older version is upgraded by the next start", async () => {
    const migrations = writeMigrationFolder(newDirectory(), [
      "ALTER TABLE people ADD COLUMN x TEXT;",
    ]);
    const { file, key } = await createBackup();
    const path = newDirectory();
    expect((await restoreParts(path, file, { key, migrations })).migrations).toBe(1);
    const data = open(path, migrations, true);
    expect(data.migrated).toBe(1);
    data.close();
  });

  test("can be a copy that SQLite itself created, in any journal mode", async () => {
    const { file, key } = await createBackup();
    const copy = join(newDirectory(), "copy.db");
    const database = new Database(file);
    database.query("VACUUM INTO ?").run(copy);
    database.close();
    const other = new Database(copy);
    other.run("PRAGMA journal_mode = WAL");
    other.close();
    const path = newDirectory();
    await restoreParts(path, copy, { key });
    expect(await readSlugs(path)).toEqual(["theirs"]);
  });

  test("is only verified by a dry run", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    const before = readBytes(path);
    expect((await restoreParts(path, file, { key, dryRun: true })).organizations).toBe(1);
    expect(readBytes(path)).toEqual(before);
    const nowhere = join(newDirectory(), "a", "b");
    await restoreParts(nowhere, file, { key, dryRun: true });
    expect(existsSync(join(nowhere, ".."))).toBe(false);
  });
});

describe("a backup under a passphrase", () => {
  useCheapEncryption();
  const passphrase = "correct horse battery";
  async function createEncrypted(withKey: boolean) {
    const path = await createUsedDirectory({ name: "Theirs" });
    const file = join(path, "..", "backup.sealed");
    await copyDatabase(path, file, { passphrase, withKey });
    return { path, file, key: join(path, "secret.key") };
  }

  test("is restored with all its rows, and with its key if it contains one", async () => {
    const { path: from, file, key } = await createEncrypted(true);
    const path = join(newDirectory(), "data");
    expect(await restoreParts(path, file, { passphrase })).toMatchObject({ secrets: "open" });
    expect(await readSlugs(path)).toEqual(["theirs"]);
    expect(readFileSync(join(path, "secret.key"), "utf8")).toBe(readFileSync(key, "utf8"));
    const sealed = readFileSync(file);
    expect(sealed.includes("theirs")).toBe(false);
    expect(sealed.includes(Buffer.from(readFileSync(key, "utf8"), "hex"))).toBe(false);
    // No decrypted file is left next to it, or in its source folder.
    const names = [...readdirSync(join(file, "..")), ...readdirSync(from)];
    expect(names.filter((name) => /part|backup-/.test(name))).toEqual([]);
  });

  test("without a key is opened by the given one, or needs it later", async () => {
    const { file, key } = await createEncrypted(false);
    expect((await restoreParts(newDirectory(), file, { passphrase, key })).secrets).toBe("open");
    expect((await restoreParts(newDirectory(), file, { passphrase })).secrets).toBe("closed");
  });

  test("is a plain backup with its key once it is decrypted", async () => {
    const { file, key } = await createEncrypted(true);
    const path = join(newDirectory(), "data");
    await decryptFile(file, `${file}.db`, passphrase);
    expect(await restoreParts(path, `${file}.db`)).toMatchObject({ secrets: "open" });
    expect(readFileSync(join(path, "secret.key"), "utf8")).toBe(readFileSync(key, "utf8"));
  });

  test("changes nothing without its passphrase, with a wrong one, or if it is damaged", async () => {
    const { file } = await createEncrypted(true);
    const path = await createUsedDirectory();
    const nowhere = join(newDirectory(), "a", "b");
    const before = readBytes(path);
    const bytes = readFileSync(file);
    const assertRefused = async (words: string | null, text: string, directories = [path]) => {
      for (const dataDir of directories)
        expect(await refusalOf(() => restoreParts(dataDir, file, { passphrase: words }))).toEqual({
          code: "DATA_UNUSABLE",
          message: expect.stringContaining(text),
        });
    };
    const needsPassphrase =
      "is encrypted. Nothing was changed. Give its passphrase with --passphrase-file";
    await assertRefused(null, needsPassphrase, [path, nowhere]);
    const wrong = "does not open with this passphrase. Nothing was changed";
    await assertRefused("another passphrase", wrong, [path, nowhere]);
    writeFileSync(file, bytes.subarray(0, -1));
    await assertRefused(passphrase, "was changed or cut short. Nothing was changed");
    bytes[bytes.length - 20] = (bytes.at(-20) ?? 0) ^ 1;
    writeFileSync(file, bytes);
    await assertRefused(passphrase, "was changed or cut short. Nothing was changed");
    expect(readBytes(path)).toEqual(before);
    expect(existsSync(join(nowhere, ".."))).toBe(false);
  });
});

/** Damages of a backup, each with the expected message. */
const damages: [what: string, damage: (file: string) => void, said: RegExp][] = [
  ["missing", (file) => rmSync(file), /does not exist/],
  ["empty", (file) => truncateSync(file), /is empty/],
  ["a directory", (file) => (rmSync(file), mkdirSync(file)), /is not a file/],
  [
    "a link",
    (file) => {
      copyFileSync(file, `${file}.real`);
      rmSync(file);
      symlinkSync(`${file}.real`, file);
    },
    /is a link.*backup\.db\.real/,
  ],
  ["a link to nothing", (file) => (rmSync(file), symlinkSync(`${file}.gone`, file)), /is a link/],
  ["text", (file) => writeFileSync(file, "Dear diary ".repeat(999)), /not a SQLite database/],
  [
    "a database of another program",
    (file) => {
      rmSync(file);
      const foreign = new Database(file, { create: true });
      foreign.run("CREATE TABLE theirs (id INTEGER)");
      foreign.close();
    },
    /not one of Signalbox/,
  ],
  ["a database in use", (file) => writeFileSync(`${file}-wal`, "part of it"), /signalbox backup/],
  [
    "ours only by name",
    (file) => {
      rmSync(file);
      const foreign = new Database(file, { create: true });
      foreign.run(`PRAGMA application_id = ${0x53424f58}`);
      foreign.run("CREATE TABLE theirs (id INTEGER)");
      foreign.close();
    },
    /is damaged/,
  ],
  ["longer than it was", (file) => appendFileSync(file, "more"), /is damaged/],
  [
    "with a row that lacks its parent",
    (file) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.subarray(0, -48));
      const database = new Database(file);
      database.run("INSERT INTO incident_counts VALUES ('nobody', 'resolved', 'minor', 1)");
      database.close();
    },
    /rows without what they refer to/,
  ],
];

describe("an invalid backup changes nothing and is reported", () => {
  /** Directories in which a rejected restore could leave files. */
  async function createTargetDirectories() {
    const [full, empty, missing] = [
      await createUsedDirectory(),
      newDirectory(),
      join(newDirectory(), "a", "b"),
    ];
    return {
      all: [full, empty, missing],
      state: () => [readBytes(full), readdirSync(empty), existsSync(join(missing, ".."))],
    };
  }

  test.each(damages)("%s", async (what, damage, text) => {
    const { file, key } = await createBackup();
    damage(file);
    const { all, state } = await createTargetDirectories();
    const before = state();
    for (const path of all) {
      const refused = await refusalOf(() => restoreParts(path, file, { key }));
      const code = what === "missing" ? "VALIDATION_ERROR" : "DATA_UNUSABLE";
      expect(refused).toEqual({ code, message: expect.stringMatching(text) });
      expect(refused?.message).toContain(file);
      expect(refused?.message).toContain("Nothing was changed");
      expect(state()).toEqual(before);
    }
  });

  test("cut at any point, or with one bit changed anywhere", async () => {
    const { file, key } = await createBackup();
    const whole = readFileSync(file);
    const path = await createUsedDirectory();
    const before = readBytes(path);
    const step = Math.floor(whole.length / 97);
    const spots = [...Array(98).keys()].map((index) => Math.min(index * step, whole.length - 1));
    const header = [0, 16, 18, 24, 28, 44, 56, 60, 68, 92, 99, 100];
    const trailer = [1, 20, 40, 47].map((distance) => whole.length - distance);
    for (const spot of [...header, ...spots, ...trailer]) {
      const flipped = Buffer.from(whole);
      flipped[spot] = (flipped[spot] ?? 0) ^ (1 << (spot % 8));
      for (const bytes of [flipped, whole.subarray(0, spot)]) {
        writeFileSync(file, bytes);
        const refused = await refusalOf(() => restoreParts(path, file, { key }));
        expect([spot, bytes.length, refused?.code]).toEqual([spot, bytes.length, "DATA_UNUSABLE"]);
      }
    }
    expect(readBytes(path)).toEqual(before);
  });

  test("of a newer version, or of another history", async () => {
    const [newer, other] = ["ALTER TABLE people ADD x TEXT;", "ALTER TABLE people ADD y TEXT;"].map(
      (text) => writeMigrationFolder(newDirectory(), [text]),
    );
    const { file, key } = await createBackup({ migrations: newer! });
    const path = await createUsedDirectory();
    const before = readBytes(path);
    for (const migrations of [getBuiltMigrations(), other!])
      expect(await refusalOf(() => restoreParts(path, file, { key, migrations }))).toMatchObject({
        code: "MIGRATION_REFUSED",
      });
    expect(readBytes(path)).toEqual(before);
  });

  test("whose secrets neither the given key nor that of the directory can decrypt", async () => {
    const [{ file }, path] = [await createBackup(), await createUsedDirectory()];
    const missingKey = join(newDirectory(), "secret.key");
    writeFileSync(missingKey, "not a key");
    const before = readBytes(path);
    for (const [key, said] of [
      [undefined, join(path, "secret.key")],
      [join(path, "secret.key"), "another key"],
      [missingKey, "not a key"],
      [`${missingKey}.gone`, "There is no key"],
    ] as const)
      expect(await refusalOf(() => restoreParts(path, file, { key }))).toEqual({
        code: "DATA_UNUSABLE",
        message: expect.stringContaining(said),
      });
    expect(readBytes(path)).toEqual(before);
  });

  test("while a server runs on the directory", async () => {
    const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
    const server = openDataDirectory(path, {
      migrations: getBuiltMigrations(),
      clock,
      isExclusive: true,
    });
    const before = readBytes(path);
    expect(await refusalOf(() => restoreParts(path, file, { key }))).toMatchObject({
      code: "ALREADY_RUNNING",
    });
    expect(readBytes(path)).toEqual(before);
    server.close();
  });
});

test("an interrupted restore is finished by the next opening of the directory", async () => {
  const [{ file, key }, path] = [await createBackup(), await createUsedDirectory()];
  const { ready, aside } = buildStagingPaths(path, "2026-11-22-130112");
  mkdirSync(ready);
  const bytes = readFileSync(file).subarray(0, -48);
  writeFileSync(join(ready, "signalbox.db"), bytes);
  copyFileSync(key, join(ready, "secret.key"));
  expect(await readSlugs(path)).toEqual(["theirs"]);
  expect(await readSlugs(aside)).toEqual(["ours"]);
  expect(existsSync(ready)).toBe(false);
});
