/** The Store: atomic writes, guards, retries and revisions. */
import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { join } from "node:path";
import { AppError } from "../../src/core/errors.ts";
import { createEmbeddedStore, openDatabase } from "../../src/database/file/embedded.ts";
import { guard, retryOnStaleRead, StaleRead } from "../../src/database/store.ts";
import { organizations } from "../../src/database/tables/organizations.ts";
import { createStoreWithTables, type TestStore } from "../support/engines.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

const stock = "CREATE TABLE stock (item TEXT PRIMARY KEY, count INTEGER CHECK (count >= 0)) STRICT";

/** A store with the table of guards and a small one for writes. */
async function createMemoryStore() {
  return addStockHelpers(await createStoreWithTables(stock));
}

/** A store in a file. */
function createFileStore(file: string) {
  const database = openDatabase(file);
  database.run("CREATE TABLE guards (holds INTEGER NOT NULL CHECK (holds = 1)) STRICT");
  database.run(stock);
  const store = createEmbeddedStore(database);
  return { ...addStockHelpers({ store, database }), store };
}

function addStockHelpers({ store, database }: TestStore) {
  const put = (item: string, count = 1) =>
    sql`insert into stock values (${item}, ${count}) on conflict do update set count = ${count}`;
  const readItems = () => database.query("SELECT item FROM stock ORDER BY item").values().flat();
  return { database, store, put, readItems };
}

const codeOf = (error: unknown) => (error as { code?: string }).code;
const readUsed = () => new AppError("CONFLICT", "Taken.");

describe("atomic", () => {
  test("commits all statements or none", async () => {
    const { store, put, readItems } = await createMemoryStore();
    const broken = store.atomic([put("a"), put("b", -1), put("c")]).catch(codeOf);
    expect(await broken).toBe("SQLITE_CONSTRAINT_CHECK");
    expect(readItems()).toEqual([]);
    await store.atomic([put("a"), put("b"), put("c")]);
    expect(readItems()).toEqual(["a", "b", "c"]);
  });

  test("writes of one event-loop turn share a commit, but not their failures", async () => {
    const { store, put, readItems } = await createMemoryStore();
    const results = await Promise.allSettled([
      store.atomic([put("a")]),
      store.atomic([put("b"), put("b", -1)]),
      store.atomic([guard(sql`false`, readUsed), put("c")]),
      store.atomic([sql`insert into nowhere values (1)`]),
      store.atomic([put("d")]),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(readItems()).toEqual(["a", "d"]);
  });

  test("when it resolves, another connection reads the written data", async () => {
    const file = join(newDirectory(), "stock.db");
    const { store, put } = createFileStore(file);
    const reader = openDatabase(file);
    await store.atomic([put("a")]);
    expect(reader.query("SELECT item FROM stock").values()).toEqual([["a"]]);
    reader.close();
    store.close();
  });

  describe("with very many statements", () => {
    const many = 3_000;
    const listAll = (put: ReturnType<typeof createFileStore>["put"]) =>
      Array.from({ length: many }, (_, number) => put(`item ${number}`));

    test("others read the previous data until all of it is written, and their writes follow it", async () => {
      const { store, put, readItems } = createFileStore(join(newDirectory(), "stock.db"));
      await store.atomic([put("before")]);
      const revision = store.revision();
      const counts = new Set<number>();
      let turns = 0;
      let isDone = false;
      let messageCount = 0;
      store.onCommit(() => messageCount++);
      const long = store.atomic(listAll(put)).then(() => {
        isDone = true;
      });
      const short = store.atomic([put("item 0", 7)]);
      while (!isDone) {
        await new Promise((resolve) => setImmediate(resolve));
        if (isDone) break;
        turns++;
        counts.add(readItems().length);
      }
      await Promise.all([long, short]);
      expect(turns).toBeGreaterThan(0);
      expect([...counts].every((count) => count === 1 || count === many + 1)).toBe(true);
      expect(readItems().length).toBe(many + 1);
      expect(store.revision()).not.toBe(revision);
      expect(messageCount).toBe(2);
      const [row] = await store.query("select count from stock where item = 'item 0'", []);
      expect(row).toEqual({ count: 7 });
      store.close();
    });

    test("a failed write leaves nothing behind and does not block later writes", async () => {
      const { store, put, readItems } = createFileStore(join(newDirectory(), "stock.db"));
      const failures = await Promise.all(
        [
          [...listAll(put), put("b", -1)],
          [...listAll(put), guard(sql`false`, readUsed)],
        ].map((statements) => store.atomic(statements).catch(codeOf)),
      );
      expect(failures).toEqual(["SQLITE_CONSTRAINT_CHECK", "CONFLICT"]);
      await store.atomic([put("after")]);
      expect(readItems()).toEqual(["after"]);
      store.close();
    });
  });

  test("a full disk is UNAVAILABLE, loses no acknowledged write, and recovers when there is space", async () => {
    const { database, store, put, readItems } = createFileStore(join(newDirectory(), "stock.db"));
    await store.atomic([put("before")]);
    const pages = database.query<{ page_count: number }, []>("PRAGMA page_count").get();
    database.run(`PRAGMA max_page_count = ${pages?.page_count}`);
    const big = sql`insert into stock values (${"x".repeat(100_000)}, 1)`;
    const writes = [store.atomic([put("small")]), store.atomic([put("half"), big])];
    const results = await Promise.all(writes.map((write) => write.then(() => "done", codeOf)));
    expect(results[1]).toBe("UNAVAILABLE");
    expect(readItems()).toEqual(results[0] === "done" ? ["before", "small"] : ["before"]);
    database.run("PRAGMA max_page_count = 1000000");
    await store.atomic([put("half"), big]);
    expect(readItems()).toContain("half");
    store.close();
  });

  test("a database that another process locks is UNAVAILABLE, with Retry-After", async () => {
    const file = join(newDirectory(), "stock.db");
    const { database, store, put, readItems } = createFileStore(file);
    database.run("PRAGMA busy_timeout = 0");
    const other = openDatabase(file);
    other.run("BEGIN IMMEDIATE");
    const error = await store.atomic([put("a")]).catch((error: AppError) => error);
    expect(error).toMatchObject({ code: "UNAVAILABLE", headers: { "Retry-After": "5" } });
    other.run("ROLLBACK");
    await store.atomic([put("a")]);
    expect(readItems()).toEqual(["a"]);
    other.close();
    store.close();
  });
});

test("Drizzle's builders pass on read errors unchanged", async () => {
  const { store } = await createMemoryStore();
  const buildThrown = (read: PromiseLike<unknown>) => read.then(null, (error: unknown) => error);
  const plain = (await buildThrown(store.query("select 1 from organizations", []))) as Error;
  expect(plain.message).toContain("no such table");
  for (const read of [store.db.select().from(organizations), store.db.$count(organizations)])
    expect(((await buildThrown(read)) as Error).message).toBe(plain.message);
});

describe("must", () => {
  test("fails the whole write with its own error when its condition does not hold at that moment", async () => {
    const { store, put, readItems } = await createMemoryStore();
    const free = guard(sql`not exists (select 1 from stock where item = ${"a"})`, readUsed);
    expect(await store.atomic([put("b"), free, put("a")])).toBeUndefined();
    const error = await store.atomic([put("c"), free, put("d")]).catch((error) => error);
    expect(error).toMatchObject({ code: "CONFLICT", message: "Taken." });
    expect(readItems()).toEqual(["a", "b"]);
  });

  test("sees the earlier statements of the same write, and leaves no row", async () => {
    const { database, store, put, readItems } = await createMemoryStore();
    const guardItem = guard(sql`exists (select 1 from stock where item = ${"a"})`, readUsed);
    await store.atomic([put("a"), guardItem]);
    expect(readItems()).toEqual(["a"]);
    expect(database.query("SELECT * FROM guards").all()).toEqual([]);
  });

  test("does not count an unknown condition as true", async () => {
    const { store } = await createMemoryStore();
    const unknown = guard(sql`null = 1`, readUsed);
    expect(await store.atomic([unknown]).catch((error) => error.message)).toBe("Taken.");
  });

  test("reports its error only for its own condition", async () => {
    const { store, put, readItems } = await createMemoryStore();
    const holds = guard(sql`true`, readUsed);
    expect(await store.atomic([holds, put("a", -1)]).catch(codeOf)).toBe("SQLITE_CONSTRAINT_CHECK");
    const broken = guard(sql`exists (select 1 from nowhere)`, readUsed);
    expect(await store.atomic([broken]).catch(String)).toContain("no such table");
    expect(readItems()).toEqual([]);
  });
});

test("retrying reads again after each lost race, and passes on every other error", async () => {
  let attempts = 0;
  const value = await retryOnStaleRead(async () => {
    attempts += 1;
    if (attempts < 3) throw new StaleRead();
    return "done";
  });
  expect([value, attempts]).toEqual(["done", 3]);
  const endless = retryOnStaleRead(() => Promise.reject(new StaleRead()));
  expect(await endless.catch(codeOf)).toBe("UNAVAILABLE");
  const failing = retryOnStaleRead(async () => {
    attempts += 1;
    throw readUsed();
  });
  expect(await failing.catch(codeOf)).toBe("CONFLICT");
  expect(attempts).toBe(4);
});

test("twenty concurrent increments of one number lose none", async () => {
  const { database, store, put } = await createMemoryStore();
  await store.atomic([put("a", 0)]);
  const incrementCount = () =>
    retryOnStaleRead(async () => {
      const [row] = await store.query<{ count: number }>("SELECT count FROM stock", []);
      const count = row?.count ?? 0;
      const unchanged = guard(
        sql`exists (select 1 from stock where count = ${count})`,
        () => new StaleRead(),
      );
      await store.atomic([unchanged, put("a", count + 1)]);
    });
  await Promise.all(Array.from({ length: 20 }, incrementCount));
  expect(database.query("SELECT count FROM stock").get()).toEqual({ count: 20 });
});

test("the revision differs after every write of any process, and stays the same without writes", async () => {
  const file = join(newDirectory(), "stock.db");
  const { store, put } = createFileStore(file);
  const other = openDatabase(file);
  const seen = [store.revision()];
  expect(store.revision()).toBe(seen[0] ?? null);
  await store.atomic([put("a")]);
  seen.push(store.revision());
  other.run("DELETE FROM stock");
  seen.push(store.revision());
  await store.atomic([put("b")]);
  seen.push(store.revision());
  expect(new Set(seen).size).toBe(4);
  other.close();
  store.close();
});
