/** Opens a data directory: its lock, database, key and migrations. */
import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { formatTimestamp } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { type Vault, createVault } from "../../core/security/secrets.ts";
import type { Store } from "../store.ts";
import { type EmbeddedStore, createEmbeddedStore, isTemporary, openDatabase } from "./embedded.ts";
import { migrate, countPendingMigrations } from "../migrate.ts";
import {
  getDataFiles,
  noDiskError,
  moveIntoPlace,
  unusableError,
  createFile,
  writeOnce,
} from "./data-files.ts";
import { isDirectoryLocked, lockDirectory } from "./directory-lock.ts";
import { type CopyOptions, copyBeforeUpgrade } from "./upgrade-copies.ts";
import { finishRestore, hasUnfinishedRestore } from "../backup/unfinished-restore.ts";
import { assertEnded, recordRunEnd, recordRunStart, writeMarker } from "./run-marker.ts";
import { countMissingFrames } from "./write-ahead-log.ts";
import { hasSealedValues, isKeyOf } from "../sealed-values.ts";

/** SQLite application ID of our databases: "SBOX". */
export const applicationId = 0x53424f58;

/** Size limit for the integrity check at start. `doctor` checks databases of any size. */
const checkedAtStartBytes = 128 * 1024 * 1024;
/** Size limit for also checking indexes at start, which takes three times as long. */
const comparedAtStartBytes = 16 * 1024 * 1024;

/** A database node, as reported by the leader, or by any node if there is no leader. */
export type DatabaseNode = {
  id: string;
  /** `host:port` for requests; if unknown, the Raft address. */
  host: string;
  isLeader: boolean;
  isReachable: boolean;
};

/** Open data, in the data directory or in a cluster. A cluster also needs the directory, for local files. */
export type Data = {
  path: string;
  store: Store;
  vault: Vault;
  /** Number of migrations that ran while opening. */
  migrated: number;
  /** Cluster information, such as this node's ID and the offset of its clock. Null for a single file. */
  shared: {
    nodeId: () => string;
    clockOffsetMs: () => number | null;
    /** Returns the nodes of the database. Throws UNAVAILABLE. */
    databaseNodes: () => Promise<DatabaseNode[]>;
  } | null;
  /** Overwrites the remains of deleted values. */
  scrub(): Promise<void>;
  close(): Promise<void>;
};

export type DataDirectory = {
  path: string;
  database: Database;
  store: EmbeddedStore;
  vault: Vault;
  /** Number of migrations that ran while opening. */
  migrated: number;
  close(): void;
};

export type OpenOptions = CopyOptions & {
  migrations: string;
  /** Creates a new database if the existing one is missing or empty. */
  createsMissing?: boolean;
  /** Opens data after an unclean shutdown, even if the write-ahead log is missing. */
  acceptMissingLog?: boolean;
  /** Upgrades older data. Without it, older data is rejected, because an old server can still be running. */
  upgrade?: boolean;
  /** Called when this process waits for another machine's upgrade. */
  onWait?: () => void;
  /** Locks the directory for this process. */
  isExclusive?: boolean;
  /** Evaluated for each write; see `createEmbeddedStore`. */
  sharesCommits?: () => boolean;
};

/**
 * Opens the data directory, or creates it with mode 0700 and files with 0600, subject to the umask. Throws DataError
 * (DATA_UNUSABLE, MIGRATION_REFUSED or ALREADY_RUNNING) without overwriting anything.
 */
export function openDataDirectory(directory: string, options: OpenOptions): DataDirectory {
  const path = resolve(directory);
  createDirectory(path);
  // Checked before the lock, because another process can be creating its files at the same time.
  const wasUsed = existsSync(getDataFiles(path).marker);
  const unlock = options.isExclusive ? lockDirectory(path) : () => {};
  if (options.isExclusive) finishRestore(path);
  else if (hasUnfinishedRestore(path)) {
    const unlock = lockDirectory(path);
    finishRestore(path);
    unlock();
  }
  createDatabase(path, wasUsed, options);
  if (wasUsed) assertKeyExists(path);
  const database = openChecked(getDataFiles(path).database, options);
  const vault = createVault(getOrCreateKey(path, database));
  assertKeyOpensSecrets(path, database, vault);
  const migrated = upgradeDatabase(database, path, options);
  if (!wasUsed) writeMarker(path, formatTimestamp(options.clock()));
  const ended = options.isExclusive ? recordRunStart(path, database) : () => {};
  const store = createEmbeddedStore(database, options.sharesCommits);
  return {
    path,
    database,
    store,
    vault,
    migrated,
    close() {
      // Removes the run marker, because the last process to close the database removes the log of all runs.
      if (options.isExclusive || !isDirectoryLocked(path)) recordRunEnd(path);
      ended();
      store.close();
      unlock();
    },
  };
}

/** Opens a directory read-only, even while a server runs. The caller must have examined it. */
export function openToRead(path: string): Pick<DataDirectory, "store" | "vault"> & Disposable {
  const { database: file, key } = getDataFiles(path);
  const database = new Database(file, { readonly: true });
  database.run("PRAGMA busy_timeout = 5000");
  const store = createEmbeddedStore(database);
  return { store, vault: createVault(readKey(key)), [Symbol.dispose]: () => store.close() };
}

export function createDirectory(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Other directories, such as a home directory by mistake, retain their mode.
    const ours = /^(signalbox\.|secret\.key|instance\.json|set-up-token|(before-)?restore-)/;
    if (readdirSync(path).every((name) => ours.test(name))) chmodSync(path, 0o700);
  } catch (error) {
    const reason = explainFileError(error, path) ?? (error as Error).message;
    // Not a DataError, so that the service manager retries until there is space.
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw new Error(reason);
    throw unusableError(`The data directory can't be used. ${reason}`);
  }
}

function createDatabase(path: string, used: boolean, options: OpenOptions) {
  const { database } = getDataFiles(path);
  const size = existsSync(database) ? statSync(database).size : null;
  if (size !== null && size > 0) return;
  if (!options.createsMissing && (size === 0 || used)) {
    throw unusableError(
      `${database} is ${size === 0 ? "empty" : "missing"}, but this directory was in use. ` +
        "Restore a backup, or start with --init to begin again with nothing.",
    );
  }
  if (size === 0) renameSync(database, `${database}.empty-${options.clock()}`);
  // Created under a temporary name and linked when complete, so that a crash leaves no partial database.
  const temporaryFile = `${database}.new-${process.pid}`;
  rmSync(temporaryFile, { force: true });
  const prebuilt = join(options.migrations, emptyDatabaseName);
  if (existsSync(prebuilt))
    createFile(temporaryFile, Bun.zstdDecompressSync(readFileSync(prebuilt)));
  else createEmptyDatabase(temporaryFile, options.migrations);
  moveIntoPlace(temporaryFile, database);
}

/** File name of the prebuilt empty database. Running all migrations would take a tenth of the first start. */
const emptyDatabaseName = "empty.db.zst";

/** Writes the prebuilt empty database into a folder of migrations. Most of it is zeros, so it is compressed. */
export function prebuildEmptyDatabase(migrations: string) {
  const file = join(migrations, "empty.db");
  createEmptyDatabase(file, migrations);
  writeFileSync(join(migrations, emptyDatabaseName), Bun.zstdCompressSync(readFileSync(file)));
  rmSync(file);
}

export function createEmptyDatabase(file: string, migrations: string) {
  const newDatabase = new Database(file, { create: true });
  newDatabase.run(`PRAGMA application_id = ${applicationId}`);
  // Two processes that switch a file to WAL at once fail, even with a busy timeout.
  newDatabase.run("PRAGMA journal_mode = WAL");
  migrate(newDatabase, migrations);
  newDatabase.close();
}

const damageAdvice = "Nothing was changed. Restore a backup, or choose another --data-dir.";

/** Checks the file header before SQLite opens the file. Throws DATA_UNUSABLE for a foreign database. */
export function assertOurs(file: string, name = file) {
  const header = Buffer.alloc(100);
  if (
    readStart(file, name, header) < 100 ||
    header.toString("latin1", 0, 16) !== "SQLite format 3\0"
  )
    throw unusableError(`${name} is not a SQLite database. ${damageAdvice}`);
  if (header.readUInt32BE(68) !== applicationId)
    throw unusableError(`${name} is a database, but not one of Signalbox. ${damageAdvice}`);
}

function readStart(file: string, name: string, start: Buffer): number {
  try {
    const handle = openSync(file, "r");
    try {
      return readSync(handle, start, 0, start.length, 0);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR") throw unusableError(`${name} is a folder. ${damageAdvice}`);
    // No advice to restore, because the files belong to another account.
    if (code === "EACCES" || code === "EPERM")
      throw unusableError(explainFileError(error, name) ?? "");
    throw error;
  }
}

function openChecked(file: string, { acceptMissingLog = false }: OpenOptions): Database {
  assertOurs(file);
  if (!acceptMissingLog) assertEnded(dirname(file));
  assertLogComplete(file);
  try {
    if (statSync(file).size <= checkedAtStartBytes) assertIntact(file);
    return openDatabase(file);
  } catch (error) {
    const { message } = error as Error;
    if (isTemporary(error)) throw noDiskError(file, message);
    throw damagedError(file, message);
  }
}

/**
 * Creates the error for a damaged file. `how` is a SQLite message, which can have several lines and a trailing
 * period.
 */
export function damagedError(file: string, how: string): DataError {
  const reason = how
    .replace(/\*\*\* in database \w+ \*\*\*\s*/g, "")
    .replace(/\s+/g, " ")
    .replace(/[.\s]+$/, "");
  return unusableError(`${file} is damaged (${reason}). ${damageAdvice}`);
}

/**
 * Throws DATA_UNUSABLE if pages of committed writes are missing from the log. SQLite would silently ignore the loss.
 */
export function assertLogComplete(file: string) {
  const missing = countMissingFrames(file);
  if (missing === 0) return;
  throw unusableError(
    `${file}-wal is damaged: ${missing} pages of the last writes are missing. Nothing was changed. ` +
      `Put it back or restore a backup; to go on without them, remove ${file}-shm and start again.`,
  );
}

/** Checks integrity over a read-only connection. A writable connection would merge the log into a damaged file. */
function assertIntact(file: string) {
  const database = new Database(file, { readonly: true });
  database.run("PRAGMA busy_timeout = 5000");
  const check = statSync(file).size <= comparedAtStartBytes ? "integrity_check" : "quick_check";
  const rows = database.query(`PRAGMA ${check}(1)`).values();
  database.close();
  const verdict = rows[0]?.[0] ?? "unreadable";
  if (verdict !== "ok") throw new Error(String(verdict));
}

function upgradeDatabase(database: Database, path: string, options: OpenOptions): number {
  if (countPendingMigrations(database, options.migrations) === 0) return 0;
  if (!options.upgrade)
    throw new DataError(
      "MIGRATION_REFUSED",
      "This data was written by an older Signalbox. Upgrade it with `signalbox migrate` or `signalbox serve`.",
    );
  return migrate(database, options.migrations, () => copyBeforeUpgrade(database, path, options));
}

function assertKeyExists(path: string) {
  const { key } = getDataFiles(path);
  if (!existsSync(key))
    throw unusableError(
      `${key} is missing: it opens the stored secrets. Put it back from your backup.`,
    );
}

/**
 * Returns the AES-256 key of secret fields. It is in a separate file, so that a copy of the database alone reveals no
 * secrets.
 */
function getOrCreateKey(path: string, database: Database): Uint8Array {
  const { key } = getDataFiles(path);
  if (!existsSync(key)) {
    // The database was copied here without its key. A new key could not decrypt its secrets.
    if (hasSealedValues(database)) {
      database.close();
      assertKeyExists(path);
    }
    writeOnce(key, createKey());
  }
  return readKey(key);
}

function assertKeyOpensSecrets(path: string, database: Database, vault: Vault) {
  if (isKeyOf(database, vault)) return;
  database.close();
  throw unusableError(
    `${getDataFiles(path).key} is another key than that of this database: it opens none of the stored secrets. Put the right one back from your backup.`,
  );
}

export function createKey(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
}

/** Reads a key file. Throws DATA_UNUSABLE for a missing or invalid key. */
export function readKey(file: string): Uint8Array {
  if (!existsSync(file)) throw unusableError(`There is no key at ${file}.`);
  const bytes = Buffer.from(readFileSync(file, "utf8").trim(), "hex");
  if (bytes.length !== 32)
    throw unusableError(`${file} is not a key of Signalbox. Restore it from your backup.`);
  return bytes;
}
