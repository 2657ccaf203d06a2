/** Moves data from a file to a cluster and back, and compares both copies. */
import { Database } from "bun:sqlite";
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { vaultOf } from "../../core/security/secrets.ts";
import { bytesInWords } from "../../core/text/words.ts";
import type { ClusterAddress } from "../address.ts";
import { copyPrefix } from "../backup/backup-file.ts";
import { contentIn, download, replaceAll } from "./cluster-image.ts";
import {
  type Content,
  contentOf,
  differences,
  keyName,
  removeClusterState,
  rowCounts,
} from "../backup/content.ts";
import {
  applicationId,
  makeDirectory,
  openDataDirectory,
  readKey,
} from "../file/data-directory.ts";
import { files, freeBytesOf, putInPlace, syncDirectory } from "../file/data-files.ts";
import { lockDirectory } from "../file/directory-lock.ts";
import { RqliteClient } from "./client.ts";
import { withReason, fingerprintOf, mustBeUsable } from "./data.ts";
import { ownTables } from "./migrate.ts";
import { isKeyOf } from "../sealed-values.ts";

/** Maximum age of the last heartbeat of a running server, in milliseconds. Heartbeats are 2 s apart. */
const aliveMs = 10_000;

export type MoveOptions = {
  dataDir: string;
  cluster: ClusterAddress;
  migrations: string;
  clock: Clock;
  /** Reports progress. */
  say: (line: string) => void;
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
  replaced: string | null;
};

/**
 * Moves all data of a directory to a cluster, including sessions and waiting alerts. Throws DataError and leaves both
 * unchanged.
 */
export async function importToCluster(
  options: MoveOptions & { replace: boolean },
): Promise<Imported> {
  const { cluster, clock, migrations, say, replace } = options;
  const path = resolve(options.dataDir);
  const from = files(path).database;
  if (!existsSync(from)) throw unusable(`There is no database at ${from}.`);
  const work = workIn(path, clock);
  const data = openDataDirectory(path, { migrations, clock, exclusive: true });
  try {
    const client = new RqliteClient(cluster);
    await mustBeUsable(client);
    await download(client, work.before);
    mustBeStopped(work.before, clock());
    // Blocks writes of other commands, which would be lost.
    data.database.run("BEGIN IMMEDIATE");
    const wanted = contentOf(data.database);
    const held = filledTables(work.before);
    const isThere = held.length > 0 && differences(wanted, contentIn(work.before)).length === 0;
    if (held.length > 0 && !isThere && !replace)
      throw unusable(
        `The cluster is not empty: it has rows in ${held.join(", ")}. Nothing was changed. To replace the cluster's data, add --replace.`,
      );
    const isReplaced = held.length > 0 && !isThere;
    const replaced = isReplaced ? `${from}.replaced-${clock()}` : null;
    if (isThere) say("The cluster already has exactly this data, from an earlier import.");
    else {
      mustHaveSpace(path, statSync(from).size);
      say(`Copying ${from} …`);
      makeImage(from, work.image, fingerprintOf(readKey(files(path).key)));
      if (replaced !== null) keep(work.before, replaced);
      await replaceAll(client, { image: work.image, wanted, before: work.before, say }).catch(
        (error: unknown) => {
          // Preserves the copy of the previous data if the state of the cluster is unknown.
          if (error instanceof DataError && replaced !== null) rmSync(replaced);
          throw error;
        },
      );
    }
    const { size: bytes } = statSync(from);
    data.database.run("ROLLBACK");
    data.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    data.store.close();
    const keptAside = `${from}.before-cluster-${clock()}`;
    renameSync(from, keptAside);
    removeLog(from);
    syncDirectory(path);
    return { file: from, key: files(path).key, ...sizeOf(wanted), bytes, keptAside, replaced };
  } catch (error) {
    throw withReason(error);
  } finally {
    data.close();
    work.remove();
  }
}

/** Creates a copy of the database, with the additional tables of a cluster. */
function makeImage(from: string, to: string, fingerprint: number) {
  using source = new Database(from, { readonly: true });
  source.query("VACUUM INTO ?").run(to);
  using image = new Database(to, { strict: true });
  mustBeWhole(image, from);
  for (const table of ownTables) image.run(table);
  image.run("insert or replace into housekeeping (name, value) values (?, ?)", [
    keyName,
    fingerprint,
  ]);
}

/**
 * Moves the data of a cluster to a directory, which then serves it. Throws DataError and leaves the directory
 * unchanged. The cluster retains its data.
 */
export async function exportFromCluster(options: MoveOptions): Promise<Moved> {
  const { cluster, clock, say } = options;
  const path = resolve(options.dataDir);
  makeDirectory(path);
  const { database: to, key } = files(path);
  const work = workIn(path, clock);
  const unlock = lockDirectory(path);
  try {
    if (existsSync(to)) throw unusable(`${to} exists already. Nothing was written.`);
    const secretKey = readKey(key);
    const client = new RqliteClient(cluster);
    await mustBeUsable(client);
    say("Copying the cluster …");
    await download(client, work.before);
    mustBeStopped(work.before, clock());
    mustHaveSpace(path, statSync(work.before).size);
    makeFile(work.before, work.image);
    const wanted = contentIn(work.image);
    mustOpenSecrets(work.image, secretKey, key);
    say("Reading the cluster again and comparing it …");
    await download(client, work.before);
    const wrong = differences(wanted, contentIn(work.before));
    if (wrong.length > 0)
      throw new DataError(
        "ALREADY_RUNNING",
        `Somebody has written to the cluster meanwhile (${wrong.join(", ")}). Nothing was changed. Stop whoever does, and try again.`,
      );
    const { size: bytes } = statSync(work.image);
    removeLog(to);
    putInPlace(work.image, to);
    syncDirectory(path);
    return { file: to, key, ...sizeOf(wanted), bytes };
  } catch (error) {
    throw withReason(error);
  } finally {
    work.remove();
    unlock();
  }
}

/** Saves the previous data of a cluster as a file. `restore` accepts it if it is from Signalbox. */
function keep(before: string, to: string) {
  using database = new Database(before, { readonly: true });
  const isOurs = "select 1 from sqlite_schema where name = 'housekeeping'";
  if (database.query(isOurs).get() === null) database.query("VACUUM INTO ?").run(to);
  else makeFile(before, to);
}

/** Creates a copy of the database, without the data that only clusters need. */
function makeFile(from: string, to: string) {
  using source = new Database(from, { strict: true });
  mustBeWhole(source, "the copy of the cluster");
  source.query("VACUUM INTO ?").run(to);
  using file = new Database(to, { strict: true });
  removeClusterState(file);
  file.run("delete from housekeeping where name = ?", [keyName]);
  file.run(`pragma application_id = ${applicationId}`);
}

function sizeOf(content: Content) {
  const counts = [...rowCounts(content).values()];
  return { tables: counts.length, rows: counts.reduce((sum, rows) => sum + rows, 0) };
}

function mustBeWhole(database: Database, name: string) {
  const [[damage] = []] = database.query("PRAGMA integrity_check(1)").values();
  const orphans = database.query("PRAGMA foreign_key_check").values().length;
  if (damage !== "ok" || orphans > 0)
    throw unusable(
      `${name} is damaged: ${damage === "ok" ? `${orphans} rows without what they refer to` : String(damage)}. Nothing was changed.`,
    );
}

function mustOpenSecrets(file: string, secretKey: Uint8Array, key: string) {
  using database = new Database(file, { readonly: true });
  if (!isKeyOf(database, vaultOf(secretKey)))
    throw unusable(
      `${key} is another key than that of this cluster: it opens none of the stored secrets. Nothing was changed. Copy it from a machine on the cluster.`,
    );
}

/** Throws ALREADY_RUNNING if a server has written a recent heartbeat. */
function mustBeStopped(file: string, now: number) {
  using database = new Database(file, { readonly: true });
  if (database.query("select 1 from sqlite_schema where name = 'nodes'").get() === null) return;
  const running = database
    .query<{ name: string }, [number]>("select name from nodes where beat_at > ? order by name")
    .all(now - aliveMs)
    .map(({ name }) => name);
  if (running.length > 0)
    throw new DataError(
      "ALREADY_RUNNING",
      `Signalbox runs on the cluster: ${running.join(", ")}. Nothing was changed. Stop it, and try again. A killed server counts as running for ${aliveMs / 1_000} seconds.`,
    );
}

/** Returns the tables with rows, including tables of other programs. */
function filledTables(file: string): string[] {
  using database = new Database(file, { readonly: true });
  const ignored = ["__drizzle_migrations", "housekeeping"];
  return [...rowCounts(contentOf(database))].flatMap(([name, rows]) =>
    rows > 0 && !ignored.includes(name) ? [name] : [],
  );
}

/** Removes the log of a missing database. SQLite would apply it to the next database of this name. */
function removeLog(database: string) {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
}

/** Throws unless the directory has space for the copy and for the download that verifies it. */
function mustHaveSpace(path: string, bytes: number) {
  const [free, needed] = [freeBytesOf(path), 2 * bytes];
  if (free < needed)
    throw unusable(
      `This temporarily needs up to ${bytesInWords(needed)} in ${path}, and ${bytesInWords(free)} are free. Nothing was changed.`,
    );
}

/** Paths of temporary files. After a crash, the next start removes them. */
function workIn(path: string, clock: Clock) {
  const name = join(path, `${copyPrefix}${newId(clock())}`);
  const all = { before: `${name}.before`, image: `${name}.image` };
  return {
    ...all,
    remove() {
      for (const file of Object.values(all)) rmSync(file, { force: true });
    },
  };
}

const unusable = (message: string) => new DataError("DATA_UNUSABLE", message);
