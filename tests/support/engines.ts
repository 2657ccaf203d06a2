/** Fresh databases for tests, in memory or on rqlite. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach } from "bun:test";
import { assets } from "../../src/core/assets.ts";
import { systemClock } from "../../src/core/time/clock.ts";
import { embeddedStore, openDatabase, withSettings } from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { unavailable } from "../../src/database/rqlite/errors.ts";
import { ownTables } from "../../src/database/rqlite/migrate.ts";
import { rqliteStore } from "../../src/database/rqlite/store.ts";
import type { Store } from "../../src/database/store.ts";
import { addressOf, type RqliteNode, startOneNode } from "./rqlite.ts";
import { synchronousDatabase } from "./synchronous.ts";

/** Under `STORE=rqlite bun test …` the stores of tests are on rqlite. */
export const isOnRqlite = process.env["STORE"] === "rqlite";

/** A fresh store, and its database for tests that bypass the store. */
export type TestStore = { store: Store; database: Database };

let migrated: Uint8Array | undefined;

/** A fresh store after all migrations, copied from a template. */
export async function migratedStore(): Promise<TestStore> {
  return storeOf(migratedImage());
}

const migratedImage = () =>
  (migrated ??= imageOf((database) => void migrate(database, assets.migrations)));

const storeOf = async (image: Uint8Array) => (isOnRqlite ? onRqlite(image) : embedded(image));

/** Creates fresh stores as copies of a template that this function wrote once. */
export function storesWith<T>(
  write: (store: Store) => Promise<T>,
): () => Promise<TestStore & { written: T }> {
  let made: Promise<{ image: Uint8Array; written: T }> | undefined;
  async function make() {
    const { store, database } = embedded(migratedImage());
    using _ = database;
    const written = await write(store);
    return { image: database.serialize(), written };
  }
  return async () => {
    const { image, written } = await (made ??= make());
    return { ...(await storeOf(image)), written };
  };
}

/** A fresh store with these tables and the guard table. */
export async function storeWith(...tables: string[]): Promise<TestStore> {
  const image = imageOf((database) => {
    database.run("CREATE TABLE guards (holds INTEGER NOT NULL CHECK (holds = 1)) STRICT");
    for (const table of tables) database.run(table);
  });
  return storeOf(image);
}

function imageOf(make: (database: Database) => void, forRqlite = isOnRqlite): Uint8Array {
  using database = openDatabase(":memory:");
  make(database);
  if (forRqlite) for (const table of ownTables) database.run(table);
  return database.serialize();
}

function embedded(image: Uint8Array): TestStore {
  const database = withSettings(Database.deserialize(image, { strict: true }));
  return { store: embeddedStore(database), database };
}

/** Idle nodes: 13 ms for another database, 100 ms for a start. */
const idle: RqliteNode[] = [];
let running = 0;
/**
 * Releases the nodes of finished tests. Nodes that were started outside of tests remain until the
 * end of their file.
 */
let ends: (() => void)[] = [];

if (isOnRqlite) {
  beforeEach(() => void running++);
  afterEach(() => {
    // Owners are unknown for concurrent tests.
    if (--running > 0) return;
    for (const end of ends) end();
    ends = [];
  });
}

/** Replaces a node's database by a fresh one after all migrations. */
export async function loadMigrated({ host }: Pick<RqliteNode, "host">) {
  await load(
    host,
    imageOf((database) => void migrate(database, assets.migrations), true),
  );
}

async function load(host: string, image: Uint8Array) {
  const loaded = await fetch(`http://${host}/db/load`, { method: "POST", body: image.slice() });
  if (!loaded.ok) throw new Error(`A database could not be loaded: ${await loaded.text()}`);
}

async function onRqlite(image: Uint8Array): Promise<TestStore> {
  const node = idle.pop() ?? (await startOneNode());
  await load(node.host, image);
  let isOver = false;
  if (running > 0)
    ends.push(() => {
      isOver = true;
      idle.push(node);
    });
  const client = whileUsed(new RqliteClient(addressOf(node)), () => isOver);
  const database = synchronousDatabase(node.host) as unknown as Database;
  return { store: rqliteStore(client, systemClock), database };
}

/** Leftover work of a test must not write into the next test's database. */
function whileUsed(client: RqliteClient, isOver: () => boolean): RqliteClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) =>
        isOver()
          ? Promise.reject(unavailable("the test is over"))
          : (member.apply(target, given) as unknown);
    },
  });
}
