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
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { timestamp } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { type Vault, vaultOf } from "../../core/security/secrets.ts";
import type { Store } from "../store.ts";
import { type EmbeddedStore, embeddedStore, isTemporary, openDatabase } from "./embedded.ts";
import { migrate, pendingMigrations } from "../migrate.ts";
import { files, noDisk, putInPlace, unusable, writeNew, writeOnce } from "./data-files.ts";
import { isDirectoryLocked, lockDirectory } from "./directory-lock.ts";
import { type CopyOptions, copyBeforeUpgrade } from "./upgrade-copies.ts";
import { finishRestore, hasUnfinishedRestore } from "../backup/unfinished-restore.ts";
import { mustHaveEnded, noteEnd, noteRun, writeMarker } from "./run-marker.ts";
import { countMissingFrames } from "./write-ahead-log.ts";
import { hasSealedValues, isKeyOf } from "../sealed-values.ts";

/** "SBOX": tells our database from any other SQLite file. */
export const applicationId = 0x53424f58;

/** Databases up to this size are read through at every start; `doctor` checks any size. */
const checkedAtStartBytes = 128 * 1024 * 1024;
/** Up to this size what indexes say is compared as well, which takes three times as long. */
const comparedAtStartBytes = 16 * 1024 * 1024;

/** A node of the database as its leader sees it, or as any other does where there is none. */
export type DatabaseNode = {
  id: string;
  /** `host:port` where it answers requests, or else where the others reach it. */
  host: string;
  isLeader: boolean;
  isReachable: boolean;
};

/** What a process works on: a file in its data directory, or a cluster beside that. */
export type Data = {
  path: string;
  store: Store;
  vault: Vault;
  /** Migrations that ran while opening. */
  migrated: number;
  /** Where several machines may serve the data: which one this is, and how far its clock is ahead of the database's, where that is known. */
  shared: {
    nodeId: () => string;
    clockOffsetMs: () => number | null;
    /** Throws UNAVAILABLE. */
    databaseNodes: () => Promise<DatabaseNode[]>;
  } | null;
  /** Overwrites what removed values have left behind. */
  scrub(): Promise<void>;
  close(): Promise<void>;
};

export type DataDirectory = {
  path: string;
  database: Database;
  store: EmbeddedStore;
  vault: Vault;
  /** Migrations that ran while opening. */
  migrated: number;
  close(): void;
};

export type OpenOptions = CopyOptions & {
  migrations: string;
  /** Makes a new database where there was one that is now missing or empty. */
  init?: boolean;
  /** Opens data whose last run did not end although its log is missing. */
  acceptMissingLog?: boolean;
  /** Upgrades older data; without it older data is refused, since a server of the old version may be running on it. */
  upgrade?: boolean;
  /** Told where another machine upgrades the data, and this one waits. */
  onWait?: () => void;
  /** Holds the directory for this process alone. */
  exclusive?: boolean;
  /** Asked at each write; see `embeddedStore`. */
  sharesCommits?: () => boolean;
};

/**
 * Opens the data directory and makes it on first use: 0700, files 0600 under the process's umask.
 * Throws DataError: DATA_UNUSABLE, MIGRATION_REFUSED or ALREADY_RUNNING; nothing is overwritten then.
 */
export function openDataDirectory(directory: string, options: OpenOptions): DataDirectory {
  const path = resolve(directory);
  makeDirectory(path);
  // Asked before anything else: another process may be making its files this very moment.
  const used = existsSync(files(path).marker);
  const unlock = options.exclusive ? lockDirectory(path) : () => {};
  if (options.exclusive) finishRestore(path);
  else if (hasUnfinishedRestore(path)) {
    const unlock = lockDirectory(path);
    finishRestore(path);
    unlock();
  }
  makeDatabase(path, used, options);
  if (used) mustHaveKey(path);
  const database = openChecked(files(path).database, options);
  const vault = vaultOf(encryptionKey(path, database));
  mustOpenSecrets(path, database, vault);
  const migrated = bringUpToDate(database, path, options);
  if (!used) writeMarker(path, timestamp(options.clock()));
  const ended = options.exclusive ? noteRun(path, database) : () => {};
  const store = embeddedStore(database, options.sharesCommits);
  return {
    path,
    database,
    store,
    vault,
    migrated,
    close() {
      // The last process to close removes the log, whichever run has left it.
      if (options.exclusive || !isDirectoryLocked(path)) noteEnd(path);
      ended();
      store.close();
      unlock();
    },
  };
}

/** The data of a directory that `examine` found usable, to be read alone, also while a server runs on it. */
export function openToRead(path: string): Pick<DataDirectory, "store" | "vault"> & Disposable {
  const { database: file, key } = files(path);
  const database = new Database(file, { readonly: true });
  database.run("PRAGMA busy_timeout = 5000");
  const store = embeddedStore(database);
  return { store, vault: vaultOf(readKey(key)), [Symbol.dispose]: () => store.close() };
}

export function makeDirectory(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Somebody's home or /tmp, named by mistake, keeps its mode.
    const ours = /^(signalbox\.|secret\.key|instance\.json|set-up-token|(before-)?restore-)/;
    if (readdirSync(path).every((name) => ours.test(name))) chmodSync(path, 0o700);
  } catch (error) {
    const reason = explainFileError(error, path) ?? (error as Error).message;
    // A full disk is no DataError: a service manager tries again until there is room.
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw new Error(reason);
    throw unusable(`The data directory can't be used. ${reason}`);
  }
}

function makeDatabase(path: string, used: boolean, options: OpenOptions) {
  const { database } = files(path);
  const size = existsSync(database) ? statSync(database).size : null;
  if (size !== null && size > 0) return;
  if (!options.init && (size === 0 || used)) {
    throw unusable(
      `${database} is ${size === 0 ? "empty" : "missing"}, but this directory was in use. ` +
        "Restore a backup, or start with --init to begin again with nothing.",
    );
  }
  if (size === 0) renameSync(database, `${database}.empty-${options.clock()}`);
  // Made aside and linked into place when whole: a crash here never leaves half a database behind.
  const fresh = `${database}.new-${process.pid}`;
  rmSync(fresh, { force: true });
  const made = join(options.migrations, emptyDatabase);
  if (existsSync(made)) writeNew(fresh, readFileSync(made));
  else makeEmptyDatabase(fresh, options.migrations);
  putInPlace(fresh, database);
}

/** What migrations come to on an empty database: the build puts it beside them, since to run them takes a tenth of the first start. */
export const emptyDatabase = "empty.db";

export function makeEmptyDatabase(file: string, migrations: string) {
  const made = new Database(file, { create: true });
  made.run(`PRAGMA application_id = ${applicationId}`);
  migrate(made, migrations);
  made.close();
}

const advice = "Nothing was changed. Restore a backup, or choose another --data-dir.";

/** Throws DATA_UNUSABLE unless the file's header is that of a database of ours; SQLite has not touched it by then. */
export function mustBeOurs(file: string, name = file) {
  const header = Buffer.alloc(100);
  if (
    readStart(file, name, header) < 100 ||
    header.toString("latin1", 0, 16) !== "SQLite format 3\0"
  )
    throw unusable(`${name} is not a SQLite database. ${advice}`);
  if (header.readUInt32BE(68) !== applicationId)
    throw unusable(`${name} is a database, but not one of Signalbox. ${advice}`);
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
    if (code === "EISDIR") throw unusable(`${name} is a folder. ${advice}`);
    // Another account owns the data, so a restore would not help.
    if (code === "EACCES" || code === "EPERM") throw unusable(explainFileError(error, name) ?? "");
    throw error;
  }
}

function openChecked(file: string, { acceptMissingLog = false }: OpenOptions): Database {
  mustBeOurs(file);
  if (!acceptMissingLog) mustHaveEnded(dirname(file));
  mustHaveItsLog(file);
  try {
    if (statSync(file).size <= checkedAtStartBytes) mustBeIntact(file);
    return openDatabase(file);
  } catch (error) {
    const { message } = error as Error;
    if (isTemporary(error)) throw noDisk(file, message);
    throw damaged(file, message);
  }
}

/** `how` is a message of SQLite, which can have several lines and end with a full stop. */
export function damaged(file: string, how: string): DataError {
  const reason = how
    .replace(/\*\*\* in database \w+ \*\*\*\s*/g, "")
    .replace(/\s+/g, " ")
    .replace(/[.\s]+$/, "");
  return unusable(`${file} is damaged (${reason}). ${advice}`);
}

/** Throws DATA_UNUSABLE where committed writes are lost with the log: SQLite would go on without them. */
export function mustHaveItsLog(file: string) {
  const missing = countMissingFrames(file);
  if (missing === 0) return;
  throw unusable(
    `${file}-wal is damaged: ${missing} pages of the last writes are missing. Nothing was changed. ` +
      `Put it back or restore a backup; to go on without them, remove ${file}-shm and start again.`,
  );
}

/** Reads it through without writing: a connection that may write would merge the log into a damaged file on closing. */
function mustBeIntact(file: string) {
  const database = new Database(file, { readonly: true });
  database.run("PRAGMA busy_timeout = 5000");
  const check = statSync(file).size <= comparedAtStartBytes ? "integrity_check" : "quick_check";
  const rows = database.query(`PRAGMA ${check}(1)`).values();
  database.close();
  const verdict = rows[0]?.[0] ?? "unreadable";
  if (verdict !== "ok") throw new Error(String(verdict));
}

function bringUpToDate(database: Database, path: string, options: OpenOptions): number {
  if (pendingMigrations(database, options.migrations) === 0) return 0;
  if (!options.upgrade)
    throw new DataError(
      "MIGRATION_REFUSED",
      "This data was written by an older Signalbox. Upgrade it with `signalbox migrate` or `signalbox serve`.",
    );
  return migrate(database, options.migrations, () => copyBeforeUpgrade(database, path, options));
}

function mustHaveKey(path: string) {
  const { key } = files(path);
  if (!existsSync(key))
    throw unusable(`${key} is missing: it opens the stored secrets. Put it back from your backup.`);
}

/** The AES-256 key of the secret fields, in a file of its own so that a copy of the database alone opens none. */
function encryptionKey(path: string, database: Database): Uint8Array {
  const { key } = files(path);
  if (!existsSync(key)) {
    // A database that was put here by hand: another key than its own would never open its secrets.
    if (hasSealedValues(database)) {
      database.close();
      mustHaveKey(path);
    }
    writeOnce(key, newKey());
  }
  return readKey(key);
}

function mustOpenSecrets(path: string, database: Database, vault: Vault) {
  if (isKeyOf(database, vault)) return;
  database.close();
  throw unusable(
    `${files(path).key} is another key than that of this database: it opens none of the stored secrets. Put the right one back from your backup.`,
  );
}

export function newKey(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
}

/** Throws DATA_UNUSABLE for what is no key. */
export function readKey(file: string): Uint8Array {
  if (!existsSync(file)) throw unusable(`There is no key at ${file}.`);
  const bytes = Buffer.from(readFileSync(file, "utf8").trim(), "hex");
  if (bytes.length !== 32)
    throw unusable(`${file} is not a key of Signalbox. Put it back from your backup.`);
  return bytes;
}
