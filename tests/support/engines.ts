/** Fresh databases for tests, in memory or on rqlite. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach } from "bun:test";
import { assets } from "../../src/core/assets.ts";
import { readSystemClock } from "../../src/core/time/clock.ts";
import {
  createEmbeddedStore,
  openDatabase,
  applySettings,
} from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { unavailableError } from "../../src/database/rqlite/errors.ts";
import { ownTables } from "../../src/database/rqlite/migrate.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import type { Store } from "../../src/database/store.ts";
import { buildClusterAddress, type RqliteNode, startOneNode } from "./rqlite.ts";
import { openSynchronousDatabase } from "./synchronous.ts";

/** Under `STORE=rqlite bun test …` the stores of tests are on rqlite. */
export const isOnRqlite = process.env["STORE"] === "rqlite";

/** A fresh store, and its database for tests that bypass the store. */
export type TestStore = { store: Store; database: Database };

let migrated: Uint8Array | undefined;

/** A fresh store after all migrations, copied from a template. */
export async function createMigratedStore(): Promise<TestStore> {
  return openStore(getMigratedImage());
}

const getMigratedImage = () =>
  (migrated ??= buildImage((database) => void migrate(database, assets.migrations)));

const openStore = async (image: Uint8Array) =>
  isOnRqlite ? openOnRqlite(image) : openEmbedded(image);

/** Creates fresh stores as copies of a template that this function wrote once. */
export function createStoreFactory<T>(
  write: (store: Store) => Promise<T>,
): () => Promise<TestStore & { written: T }> {
  let template: Promise<{ image: Uint8Array; written: T }> | undefined;
  async function createImage() {
    const { store, database } = openEmbedded(getMigratedImage());
    using _ = database;
    const written = await write(store);
    return { image: database.serialize(), written };
  }
  return async () => {
    const { image, written } = await (template ??= createImage());
    return { ...(await openStore(image)), written };
  };
}

/** A fresh store with these tables and the guard table. */
export async function createStoreWithTables(...tables: string[]): Promise<TestStore> {
  const image = buildImage((database) => {
    database.run("CREATE TABLE guards (holds INTEGER NOT NULL CHECK (holds = 1)) STRICT");
    for (const table of tables) database.run(table);
  });
  return openStore(image);
}

function buildImage(make: (database: Database) => void, forRqlite = isOnRqlite): Uint8Array {
  using database = openDatabase(":memory:");
  // A database of 280 tables and indexes has a page for each, which every test copies.
  database.run("PRAGMA page_size = 1024");
  make(database);
  if (forRqlite) for (const table of ownTables) database.run(table);
  return database.serialize();
}

function openEmbedded(image: Uint8Array): TestStore {
  const database = applySettings(Database.deserialize(image, { strict: true }));
  return { store: createEmbeddedStore(database), database };
}

/** Idle nodes: 13 ms for another database, 100 ms for a start. */
const idleNodes: RqliteNode[] = [];
let runningNodes = 0;
/**
 * Releases the nodes of finished tests. Nodes that were started outside of tests remain until the
 * end of their file.
 */
let pendingEnds: (() => void)[] = [];

if (isOnRqlite) {
  beforeEach(() => void runningNodes++);
  afterEach(() => {
    // Owners are unknown for concurrent tests.
    if (--runningNodes > 0) return;
    for (const end of pendingEnds) end();
    pendingEnds = [];
  });
}

let migratedForRqlite: Uint8Array | undefined;

/** Replaces a node's database by a fresh one after all migrations. */
export async function loadMigrated({ host }: Pick<RqliteNode, "host">) {
  migratedForRqlite ??= buildImage((database) => void migrate(database, assets.migrations), true);
  await loadImage(host, migratedForRqlite);
}

async function loadImage(host: string, image: Uint8Array) {
  const loaded = await fetch(`http://${host}/db/load`, { method: "POST", body: image.slice() });
  if (!loaded.ok) throw new Error(`A database could not be loaded: ${await loaded.text()}`);
}

async function openOnRqlite(image: Uint8Array): Promise<TestStore> {
  const node = idleNodes.pop() ?? (await startOneNode());
  await loadImage(node.host, image);
  let isOver = false;
  if (runningNodes > 0)
    pendingEnds.push(() => {
      isOver = true;
      idleNodes.push(node);
    });
  const client = ignoreAfterEnd(new RqliteClient(buildClusterAddress(node)), () => isOver);
  const database = openSynchronousDatabase(node.host) as unknown as Database;
  return { store: createRqliteStore(client, readSystemClock), database };
}

/** Leftover work of a test must not write into the next test's database. */
function ignoreAfterEnd(client: RqliteClient, isOver: () => boolean): RqliteClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) =>
        isOver()
          ? Promise.reject(unavailableError("the test is over"))
          : (member.apply(target, given) as unknown);
    },
  });
}
