/** Moves data from a file to a cluster and back, and compares both copies. */
import { Database } from "bun:sqlite";
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { createVault } from "../../core/security/secrets.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import type { ClusterAddress } from "../address.ts";
import { copyPrefix } from "../backup/backup-file.ts";
import { readContentOfFile, downloadSnapshot, replaceAll } from "./cluster-image.ts";
import {
  type Content,
  readContent,
  listDifferences,
  fingerprintName,
  removeClusterState,
  countRows,
} from "../backup/content.ts";
import {
  applicationId,
  createDirectory,
  type DataDirectory,
  openDataDirectory,
  readKey,
} from "../file/data-directory.ts";
import {
  getDataFiles,
  measureFreeBytes,
  moveIntoPlace,
  unusableError,
  syncDirectory,
} from "../file/data-files.ts";
import { lockDirectory } from "../file/directory-lock.ts";
import { RqliteClient } from "./client.ts";
import { explainError, computeFingerprint, assertUsable } from "./data.ts";
import { ownTables } from "./migrate.ts";
import { isKeyOf } from "../sealed-values.ts";

/** Maximum age of the last heartbeat of a running server, in milliseconds. Heartbeats are 2 s apart. */
const aliveWindowMs = 10_000;

export type MoveOptions = {
  dataDir: string;
  cluster: ClusterAddress;
  migrations: string;
  clock: Clock;
  /** Reports progress. */
  print: (line: string) => void;
};

export type Moved = {
  /** Paths of the database file and the key. */
  file: string;
  key: string;
  tables: number;
  rows: number;
  bytes: number;
};

type Imported = Moved & {
  /** Path of the previous database file. */
  keptAside: string;
  /** Path of a copy of the cluster's previous data; null if the cluster was empty. */
  previousCopy: string | null;
};

/**
 * Moves all data of a directory to a cluster, including sessions and waiting alerts. Throws DataError and leaves both
 * unchanged.
 */
export async function importToCluster(
  options: MoveOptions & { replace: boolean },
): Promise<Imported> {
  const { cluster, clock, migrations, print, replace } = options;
  const path = resolve(options.dataDir);
  const from = getDataFiles(path).database;
  if (!existsSync(from)) throw unusableError(`There is no database at ${from}.`);
  const work = createWorkPaths(path, clock);
  const data = openDataDirectory(path, { migrations, clock, isExclusive: true });
  try {
    const client = new RqliteClient(cluster);
    await assertUsable(client);
    await downloadSnapshot(client, work.before);
    assertStopped(work.before, clock());
    // Blocks writes of other commands, which would be lost.
    data.database.run("BEGIN IMMEDIATE");
    const expectedContent = readContent(data.database);
    const tablesWithRows = listFilledTables(work.before);
    const isThere =
      tablesWithRows.length > 0 &&
      listDifferences(expectedContent, readContentOfFile(work.before)).length === 0;
    if (tablesWithRows.length > 0 && !isThere && !replace)
      throw unusableError(
        `The cluster is not empty: it has rows in ${tablesWithRows.join(", ")}. Nothing was changed. To replace the cluster's data, add --replace.`,
      );
    const isReplaced = tablesWithRows.length > 0 && !isThere;
    const previousCopy = isReplaced ? `${from}.replaced-${clock()}` : null;
    if (isThere) print("The cluster already has exactly this data, from an earlier import.");
    else {
      assertFreeSpace(path, statSync(from).size);
      print(`Copying ${from} …`);
      createImage(from, work.image, computeFingerprint(readKey(getDataFiles(path).key)));
      if (previousCopy !== null) saveBefore(work.before, previousCopy);
      await replaceAll(client, {
        image: work.image,
        wanted: expectedContent,
        before: work.before,
        print,
      }).catch((error: unknown) => {
        // Preserves the copy of the previous data if the state of the cluster is unknown.
        if (error instanceof DataError && previousCopy !== null) rmSync(previousCopy);
        throw error;
      });
    }
    const { size: bytes } = statSync(from);
    const keptAside = `${from}.before-cluster-${clock()}`;
    renameDatabase(data, keptAside);
    const { key } = getDataFiles(path);
    return { file: from, key, ...measureContent(expectedContent), bytes, keptAside, previousCopy };
  } catch (error) {
    throw explainError(error);
  } finally {
    data.close();
    work.remove();
  }
}

/** Closes the database and renames its file, so that no command opens it by mistake. */
function renameDatabase({ database, store, path }: DataDirectory, renamed: string) {
  database.run("ROLLBACK");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  store.close();
  const { database: file } = getDataFiles(path);
  renameSync(file, renamed);
  removeLog(file);
  syncDirectory(path);
}

/** Creates a copy of the database, with the additional tables of a cluster. */
function createImage(from: string, to: string, fingerprint: number) {
  using source = new Database(from, { readonly: true });
  source.query("VACUUM INTO ?").run(to);
  using image = new Database(to, { strict: true });
  assertWhole(image, from);
  for (const table of ownTables) image.run(table);
  image.run("insert or replace into housekeeping (name, value) values (?, ?)", [
    fingerprintName,
    fingerprint,
  ]);
}

/**
 * Moves the data of a cluster to a directory, which then serves it. Throws DataError and leaves the directory
 * unchanged. The cluster retains its data.
 */
export async function exportFromCluster(options: MoveOptions): Promise<Moved> {
  const { cluster, clock, print } = options;
  const path = resolve(options.dataDir);
  createDirectory(path);
  const { database: to, key } = getDataFiles(path);
  const work = createWorkPaths(path, clock);
  const unlock = lockDirectory(path);
  try {
    if (existsSync(to)) throw unusableError(`${to} exists already. Nothing was written.`);
    const secretKey = readKey(key);
    const client = new RqliteClient(cluster);
    await assertUsable(client);
    print("Copying the cluster …");
    await downloadSnapshot(client, work.before);
    assertStopped(work.before, clock());
    assertFreeSpace(path, statSync(work.before).size);
    createFile(work.before, work.image);
    const expectedContent = readContentOfFile(work.image);
    assertKeyOpensSecrets(work.image, secretKey, key);
    print("Reading the cluster again and comparing it …");
    await downloadSnapshot(client, work.before);
    const wrong = listDifferences(expectedContent, readContentOfFile(work.before));
    if (wrong.length > 0)
      throw new DataError(
        "ALREADY_RUNNING",
        `Another client has written to the cluster meanwhile (${wrong.join(", ")}). Nothing was changed. Stop that client, and try again.`,
      );
    const { size: bytes } = statSync(work.image);
    removeLog(to);
    moveIntoPlace(work.image, to);
    syncDirectory(path);
    return { file: to, key, ...measureContent(expectedContent), bytes };
  } catch (error) {
    throw explainError(error);
  } finally {
    work.remove();
    unlock();
  }
}

/** Saves the previous data of a cluster as a file. `restore` accepts it if it is from Signalbox. */
function saveBefore(before: string, to: string) {
  using database = new Database(before, { readonly: true });
  const isOurs = "select 1 from sqlite_schema where name = 'housekeeping'";
  if (database.query(isOurs).get() === null) database.query("VACUUM INTO ?").run(to);
  else createFile(before, to);
}

/** Creates a copy of the database, without the data that only clusters need. */
function createFile(from: string, to: string) {
  using source = new Database(from, { strict: true });
  assertWhole(source, "the copy of the cluster");
  source.query("VACUUM INTO ?").run(to);
  using file = new Database(to, { strict: true });
  removeClusterState(file);
  file.run("delete from housekeeping where name = ?", [fingerprintName]);
  file.run(`pragma application_id = ${applicationId}`);
}

function measureContent(content: Content) {
  const counts = [...countRows(content).values()];
  return { tables: counts.length, rows: counts.reduce((sum, rows) => sum + rows, 0) };
}

function assertWhole(database: Database, name: string) {
  const [[damage] = []] = database.query("PRAGMA integrity_check(1)").values();
  const orphans = database.query("PRAGMA foreign_key_check").values().length;
  if (damage !== "ok" || orphans > 0)
    throw unusableError(
      `${name} is damaged: ${damage === "ok" ? `${orphans} rows without what they refer to` : String(damage)}. Nothing was changed.`,
    );
}

function assertKeyOpensSecrets(file: string, secretKey: Uint8Array, key: string) {
  using database = new Database(file, { readonly: true });
  if (!isKeyOf(database, createVault(secretKey)))
    throw unusableError(
      `${key} is another key than that of this cluster: it opens none of the stored secrets. Nothing was changed. Copy it from a machine on the cluster.`,
    );
}

/** Throws ALREADY_RUNNING if a server has written a recent heartbeat. */
function assertStopped(file: string, now: number) {
  using database = new Database(file, { readonly: true });
  if (database.query("select 1 from sqlite_schema where name = 'nodes'").get() === null) return;
  const running = database
    .query<{ name: string }, [number]>("select name from nodes where beat_at > ? order by name")
    .all(now - aliveWindowMs)
    .map(({ name }) => name);
  if (running.length > 0)
    throw new DataError(
      "ALREADY_RUNNING",
      `Signalbox runs on the cluster: ${running.join(", ")}. Nothing was changed. Stop it, and try again. A killed server counts as running for ${aliveWindowMs / 1_000} seconds.`,
    );
}

/** Returns the tables with rows, including tables of other programs. */
function listFilledTables(file: string): string[] {
  using database = new Database(file, { readonly: true });
  const ignored = ["__drizzle_migrations", "housekeeping"];
  return [...countRows(readContent(database))].flatMap(([name, rows]) =>
    rows > 0 && !ignored.includes(name) ? [name] : [],
  );
}

/** Removes the log of a missing database. SQLite would apply it to the next database of this name. */
function removeLog(database: string) {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
}

/** Throws unless the directory has space for the copy and for the download that verifies it. */
function assertFreeSpace(path: string, bytes: number) {
  const [free, needed] = [measureFreeBytes(path), 2 * bytes];
  if (free < needed)
    throw unusableError(
      `This temporarily needs up to ${formatBytes(needed)} in ${path}, and ${formatBytes(free)} are free. Nothing was changed.`,
    );
}

/** Paths of temporary files. After a crash, the next start removes them. */
function createWorkPaths(path: string, clock: Clock) {
  const name = join(path, `${copyPrefix}${createId(clock())}`);
  const all = { before: `${name}.before`, image: `${name}.image` };
  return {
    ...all,
    remove() {
      for (const file of Object.values(all)) rmSync(file, { force: true });
    },
  };
}
