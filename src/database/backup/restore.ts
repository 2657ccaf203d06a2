/** Restores a backup into a data directory, after it was verified completely. */
import { Database } from "bun:sqlite";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Clock, formatFileStamp, formatTimestamp } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { createVault } from "../../core/security/secrets.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import { openBackup } from "./backup-file.ts";
import { refusedBackupError } from "./refused-backup.ts";
import { getDataFiles, measureFreeBytes, createFile, syncDirectory } from "../file/data-files.ts";
import { lockDirectory } from "../file/directory-lock.ts";
import { assertOurs, createKey, readKey } from "../file/data-directory.ts";
import { countPendingMigrations, findSchemaIssue } from "../migrate.ts";
import { hasSealedValues, isKeyOf } from "../sealed-values.ts";
import { finishRestore, buildStagingPaths } from "./unfinished-restore.ts";

export type RestoreOptions = {
  dataDir: string;
  file: string;
  /** Key file of the secrets. The default is the key in the backup, or else the key in the directory. */
  key?: string | undefined;
  /** Passphrase of an encrypted backup. */
  passphrase?: string | null;
  /** Verifies everything without changing the directory. */
  dryRun?: boolean;
  migrations: string;
  clock: Clock;
};

export type Restored = {
  dataDir: string;
  /** Path of the previous data; null if there was none. */
  keptAside: string | null;
  organizations: number;
  monitors: number;
  /** Migrations that the next start will run. */
  migrations: number;
  /** Whether the stored secrets can be decrypted. */
  secrets: "open" | "closed" | "none";
};

type BackupSummary = Pick<Restored, "organizations" | "monitors" | "migrations" | "secrets">;

/**
 * Atomically replaces the data of a directory with a backup, and preserves the previous data. Throws DataError
 * (DATA_UNUSABLE, MIGRATION_REFUSED or ALREADY_RUNNING) without changes.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { file, clock } = options;
  const backup = openBackup(file, options.passphrase ?? null);
  if (!backup.isEncrypted) assertOurs(file);
  const path = resolve(options.dataDir);
  const inPlace = existsSync(getDataFiles(path).key) ? getDataFiles(path).key : null;
  const suppliedKey = options.key === undefined ? null : readKey(options.key);
  return await runInDirectory(path, async () => {
    finishRestore(path);
    assertFreeSpace(path, backup.bytes);
    const staging = findFreeStaging(path, formatFileStamp(clock()));
    const staged = getDataFiles(staging.part);
    const { database, key: keyInPlace } = getDataFiles(path);
    const keptAside = [database, keyInPlace].some(existsSync) ? staging.aside : null;
    mkdirSync(staging.part, { mode: 0o700 });
    try {
      const extracted = await backup.extract(staged.database);
      const keyFile = options.key ?? (extracted.key === null ? inPlace : null);
      const key = suppliedKey ?? (keyFile === null ? extracted.key : readKey(keyFile));
      const found = examineStaged(staged.database, options, key);
      if (found === null)
        throw refusedBackupError(
          file,
          `belongs to another key than ${keyFile ?? "the one in it"}, which opens none of its secrets`,
          "Give the right one with --key",
        );
      if (key !== null) createFile(staged.key, Buffer.from(key).toString("hex"));
      else if (found.secrets === "none") createFile(staged.key, createKey());
      const marker = { createdAt: formatTimestamp(clock()) };
      createFile(staged.marker, `${JSON.stringify(marker)}\n`);
      giveToDirectoryOwner(path, staging.part);
      if (options.dryRun !== true) {
        syncDirectory(staging.part);
        renameSync(staging.part, staging.ready);
        syncDirectory(path);
        finishRestore(path);
        assertInPlace(path, extracted.bytes, found);
      }
      return { dataDir: path, keptAside, ...found };
    } finally {
      rmSync(staging.part, { recursive: true, force: true });
    }
  });
}

/** Returns the paths of a new restore. Restores within the same second get a numeric suffix. */
function findFreeStaging(
  path: string,
  stamp: string,
  attempt = 1,
): ReturnType<typeof buildStagingPaths> {
  const staging = buildStagingPaths(path, attempt === 1 ? stamp : `${stamp}-${attempt}`);
  return existsSync(staging.aside) ? findFreeStaging(path, stamp, attempt + 1) : staging;
}

/** Runs `work` with the directory locked. On failure, removes a directory that it created. */
async function runInDirectory<T>(path: string, work: () => Promise<T>): Promise<T> {
  const createdParent = createDirectory(path);
  const isUnused = readdirSync(path).length === 0;
  const unlock = lockDirectory(path);
  try {
    return await work();
  } finally {
    unlock();
    const names = readdirSync(path);
    if (isUnused && names.every((name) => join(path, name) === getDataFiles(path).lock)) {
      rmSync(getDataFiles(path).lock, { force: true });
      if (createdParent !== null)
        for (let folder = path; folder.startsWith(createdParent); folder = dirname(folder))
          rmdirSync(folder);
    }
  }
}

/** Creates the directory and returns its topmost new parent; null if it existed. */
function createDirectory(path: string): string | null {
  try {
    return mkdirSync(path, { recursive: true, mode: 0o700 }) ?? null;
  } catch (error) {
    throw new DataError(
      "DATA_UNUSABLE",
      `The data directory ${path} can't be used: ${(error as Error).message}.`,
    );
  }
}

function assertFreeSpace(path: string, bytes: number) {
  const free = measureFreeBytes(path);
  if (free < bytes)
    throw new DataError(
      "DATA_UNUSABLE",
      `There is no room for it: ${path} has ${formatBytes(free)} free and needs ${formatBytes(bytes)}, since the old data is kept. Nothing was changed. Make room, or choose another --data-dir.`,
    );
}

/**
 * Verifies a staged database, and counts its contents; null if the key does not fit. Throws DATA_UNUSABLE and
 * MIGRATION_REFUSED.
 */
function examineStaged(
  staged: string,
  { file, migrations }: RestoreOptions,
  key: Uint8Array | null,
): BackupSummary | null {
  assertOurs(staged, file);
  const database = new Database(staged, { readonly: true });
  try {
    const damage = queryValue(database, "PRAGMA integrity_check(1)");
    if (damage !== "ok") throw new Error(String(damage));
    const orphans = database.query("PRAGMA foreign_key_check").values().length;
    if (orphans > 0) throw new Error(`${orphans} rows without what they refer to`);
    const pending = countPendingMigrations(database, migrations);
    const issue = findSchemaIssue(database, migrations);
    if (issue !== null)
      throw refusedBackupError(file, `was changed by another program: it ${issue}`);
    const hasSecrets = hasSealedValues(database);
    if (key !== null && !isKeyOf(database, createVault(key))) return null;
    const secrets = hasSecrets ? (key === null ? "closed" : "open") : "none";
    return { ...countRecords(database), migrations: pending, secrets };
  } catch (error) {
    throw error instanceof DataError
      ? error
      : refusedBackupError(file, `is damaged (${(error as Error).message})`);
  } finally {
    database.close();
  }
}

const queryValue = (database: Database, text: string) => database.query(text).values()[0]?.[0];

function countRecords(database: Database): Pick<Restored, "organizations" | "monitors"> {
  const count = (table: string) => Number(queryValue(database, `SELECT count(*) FROM ${table}`));
  return { organizations: count("organizations"), monitors: count("monitors") };
}

/** Gives the files to the owner of the directory, because `restore` often runs as root. */
function giveToDirectoryOwner(path: string, staging: string) {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path);
  for (const name of ["", ...readdirSync(staging)]) chownSync(join(staging, name), uid, gid);
}

function assertInPlace(path: string, bytes: number, found: BackupSummary) {
  const file = getDataFiles(path).database;
  assertOurs(file);
  const database = new Database(file, { readonly: true });
  const counts = countRecords(database);
  database.close();
  const { organizations, monitors } = found;
  if (statSync(file).size !== bytes || !Bun.deepEquals(counts, { organizations, monitors }))
    throw new Error(`${file} differs from the backup. Examine the disk, and restore again.`);
}
