/** Opens the data of a cluster, and verifies that all reachable nodes are usable. */
import { Database } from "bun:sqlite";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import type { Clock } from "../../core/time/clock.ts";
import { AppError, DataError } from "../../core/errors.ts";
import { createId, sha256 } from "../../core/ids.ts";
import { type Vault, createVault } from "../../core/security/secrets.ts";
import type { ClusterAddress } from "../address.ts";
import { copyPrefix, writeBackup, writeEncryptedBackup } from "../backup/backup-file.ts";
import { downloadSnapshot } from "./cluster-image.ts";
import { fingerprintName, removeClusterState } from "../backup/content.ts";
import { assertCanBeCreated, type Sealing } from "../backup/copy.ts";
import {
  applicationId,
  type Data,
  createDirectory,
  createKey,
  type OpenOptions,
  readKey,
} from "../file/data-directory.ts";
import { buildCopyPath, handleMissingCopy, removeOlderCopies } from "../file/upgrade-copies.ts";
import { getDataFiles, writeOnce } from "../file/data-files.ts";
import { lockDirectory } from "../file/directory-lock.ts";
import { createClockWatch, assertClockInTime } from "./clock.ts";
import { RqliteClient } from "./client.ts";
import { RefusedCredentials, unavailableError } from "./errors.ts";
import { createOwnTables, migrateRqlite, countPendingRqliteMigrations } from "./migrate.ts";
import { createRqliteStore } from "./store.ts";
import { isKeyOfStore } from "../sealed-values.ts";
import type { Store } from "../store.ts";

/** Oldest supported version of rqlite. Earlier versions can commit parts of a failed batch. */
const oldestVersion = "8.26";
/** Oldest supported version of SQLite. Earlier versions lack ordered aggregates. */
const oldestSqlite = "3.44";

/** Opens a cluster, and the data directory for local files. Throws the errors of `openDataDirectory`. */
export async function openOnRqlite(
  directory: string,
  address: ClusterAddress,
  options: OpenOptions,
): Promise<Data> {
  const path = resolve(directory);
  const client = new RqliteClient(address);
  // Checked first, so that a command that can't reach the cluster creates no directory.
  if (!options.isExclusive) await assertUsable(client).catch(rethrowWithReason);
  createDirectory(path);
  const unlock = options.isExclusive ? lockDirectory(path) : () => {};
  try {
    if (options.isExclusive) await assertUsable(client);
    const watch = createClockWatch(client, options.clock);
    await watch.look();
    const problem = await watch.findProblem();
    if (problem !== null)
      throw new DataError("DATA_UNUSABLE", `${toSentence(problem)} Set both by NTP.`);
    const migrated = await upgradeCluster(client, path, options);
    const store = createRqliteStore(client, options.clock, {
      migrations: readMigrationFiles({ migrationsFolder: options.migrations }).length,
      inTime: () => assertClockInTime(watch),
    });
    const vault = await openVault(path, store);
    return {
      path,
      store,
      vault,
      migrated,
      shared: {
        nodeId: () => getOrCreateNodeId(path, options.clock),
        clockOffsetMs: watch.offsetMs,
        databaseNodes: () => client.listNodes(),
      },
      async scrub() {
        await client.sendRaw("/db/execute", { method: "POST", body: '["vacuum"]' });
      },
      async close() {
        await store.waitUntilIdle();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw explainError(error);
  }
}

function rethrowWithReason(error: unknown): never {
  throw explainError(error);
}

const toSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function getOrCreateNodeId(path: string, clock: Clock): string {
  const { node } = getDataFiles(path);
  if (!existsSync(node)) writeOnce(node, createId(clock()));
  return readFileSync(node, "utf8").trim();
}

/** Opens a cluster read-only, without registering this machine. Works without a leader. */
export function openClusterReadOnly(address: ClusterAddress, clock: Clock) {
  const client = new RqliteClient(address);
  const listDatabaseNodes = () =>
    client.listNodes().catch((error: unknown) => {
      throw explainError(error);
    });
  return {
    store: createRqliteStore(client, clock).relaxed(),
    clock,
    databaseNodes: listDatabaseNodes,
  };
}

/** Copies a consistent snapshot of a cluster to a backup that `restore` accepts. */
export async function copyCluster(
  address: ClusterAddress,
  directory: string,
  to: string,
  sealing: Sealing | null,
): Promise<void> {
  const path = resolve(directory);
  createDirectory(path);
  try {
    await copyClusterTo(new RqliteClient(address), path, to, sealing);
  } catch (error) {
    throw explainError(error);
  }
}

async function copyClusterTo(
  client: RqliteClient,
  path: string,
  to: string,
  sealing: Sealing | null,
) {
  assertCanBeCreated(to);
  const plainCopy = join(path, `${copyPrefix}${createId(Date.now())}.rqlite`);
  try {
    await downloadSnapshot(client, plainCopy);
    using database = new Database(plainCopy, { strict: true });
    removeClusterState(database);
    database.run(`pragma application_id = ${applicationId}`);
    const secretKey = sealing?.withKey ? readKey(getDataFiles(path).key) : null;
    if (sealing === null) writeBackup(database, to);
    else {
      const { passphrase } = sealing;
      await writeEncryptedBackup(database, to, { passphrase, secretKey, workIn: path });
    }
  } finally {
    rmSync(plainCopy, { force: true });
  }
}

type Status = {
  build?: { version?: string };
  store?: { db_conf?: { fk_constraints?: boolean }; sqlite3?: { version?: string } };
};

/**
 * Throws DATA_UNUSABLE unless each responding node is usable. A node with another version could apply the log
 * differently.
 */
export async function assertUsable(client: RqliteClient) {
  for (const [host, { build, store }] of await listReadyNodes(client)) {
    const buildRefusal = (why: string) =>
      new DataError("DATA_UNUSABLE", `The database node ${host} ${why}.`);
    if (store?.db_conf?.fk_constraints !== true)
      throw buildRefusal("does not hold references together: start it with -fk");
    const version = build?.version ?? "";
    if (isOlder(version, oldestVersion))
      throw buildRefusal(`is rqlite ${version}: the oldest supported version is ${oldestVersion}`);
    const sqlite = store.sqlite3?.version ?? "";
    if (isOlder(sqlite, oldestSqlite))
      throw buildRefusal(`has SQLite ${sqlite}: the oldest supported version is ${oldestSqlite}`);
  }
}

/** Returns the status of the nodes that have opened their database. */
async function listReadyNodes(client: RqliteClient): Promise<[string, Status][]> {
  for (let tries = 0; tries < 50; tries++) {
    const all = (await client.listStatuses()) as Map<string, Status>;
    const ready = [...all].filter(([, { store }]) => store?.db_conf !== undefined);
    if (ready.length > 0) return ready;
    await Bun.sleep(100);
  }
  throw unavailableError("they are still starting");
}

/** Compares versions. Builds from source can report only a major version, which is then compared alone. */
export function isOlder(version: string, oldest: string): boolean {
  const [found = [], wanted = []] = [version, oldest].map((text) =>
    text.replace(/^v/, "").split(".").map(Number),
  );
  for (const [i, part] of wanted.entries()) {
    const foundPart = found[i];
    if (foundPart === undefined && i > 0) return false;
    if (foundPart !== part) return !(Number(foundPart) > part);
  }
  return false;
}

async function upgradeCluster(client: RqliteClient, path: string, options: OpenOptions) {
  const { clock, migrations: folder, onWait } = options;
  const upgrade = { client, folder, workIn: path, clock, ...(onWait && { onWait }) };
  await createOwnTables(client);
  const { pending, isNew } = await countPendingRqliteMigrations(upgrade);
  if (pending === 0) return 0;
  if (!options.upgrade && !isNew)
    throw new DataError(
      "MIGRATION_REFUSED",
      "This data was written by an older Signalbox. Upgrade it with `signalbox migrate` or `signalbox serve`.",
    );
  const copyBeforeChange = async () => {
    try {
      await copyClusterTo(client, path, buildCopyPath(path, options), null);
      removeOlderCopies(path);
    } catch (error) {
      handleMissingCopy(error as Error, options);
    }
  };
  return migrateRqlite({ ...upgrade, beforeChange: copyBeforeChange });
}

async function openVault(path: string, store: Store): Promise<Vault> {
  const { key } = getDataFiles(path);
  const [known] = await store.query<{ value: number }>(
    "select value from housekeeping where name = ?",
    [fingerprintName],
  );
  if (!existsSync(key)) {
    const isFirst =
      known === undefined && (await isKeyOfStore(store, createVault(new Uint8Array(32))));
    if (!isFirst)
      throw new DataError(
        "DATA_UNUSABLE",
        `${key} is missing. All machines on one cluster have the same: copy it from another one, or from your backup.`,
      );
    writeOnce(key, createKey());
  }
  const bytes = readKey(key);
  const vault = createVault(bytes);
  const fingerprint = computeFingerprint(bytes);
  if (known === undefined && (await isKeyOfStore(store, vault)))
    await store.atomic([
      {
        text: "insert or ignore into housekeeping (name, value) values (?, ?)",
        parameters: [fingerprintName, fingerprint],
      },
    ]);
  const [now] = await store.query<{ value: number }>(
    "select value from housekeeping where name = ?",
    [fingerprintName],
  );
  if (now?.value === fingerprint) return vault;
  throw new DataError(
    "DATA_UNUSABLE",
    `${key} is another key than that of this database: it opens none of the stored secrets. All machines on one cluster have the same: copy it from another one, or from your backup.`,
  );
}

/** Fingerprint for comparing keys without revealing them. */
export const computeFingerprint = (key: Uint8Array) =>
  Number.parseInt(sha256(`signalbox/${sha256(key)}`).slice(0, 12), 16);

function explainFailure(cause: unknown): string {
  const message = cause instanceof Error ? cause.message.trim().replace(/\.+$/, "") : "";
  if (/HTTP request to an HTTPS server/i.test(message))
    return "It expects TLS: write rqlites:// instead of rqlite:// in --database.";
  if (/unable to connect|ECONNREFUSED/i.test(message))
    return "The connection was refused: check the addresses in --database, and that rqlited runs there.";
  return message === "" ? "None responds." : toSentence(message);
}

/**
 * Explains why no node responds. The error is usually no DataError, so that the service manager retries while nodes
 * start.
 */
export function explainError(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "UNAVAILABLE") return error;
  const { cause } = error;
  const message = `No node of the database can be used. ${explainFailure(cause)}`;
  return cause instanceof RefusedCredentials
    ? new DataError("DATA_UNUSABLE", message)
    : new Error(message);
}
