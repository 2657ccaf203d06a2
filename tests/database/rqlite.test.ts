/** The Store on rqlite: lost responses, leaders, batches and quorum. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { AppError } from "../../src/core/errors.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { type Patience, defaultPatience } from "../../src/database/rqlite/connection.ts";
import { ownTables } from "../../src/database/rqlite/migrate.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import { guard, type Store } from "../../src/database/store.ts";
import { organizations } from "../../src/database/tables/organizations.ts";
import { getFreePort } from "../support/binary.ts";
import { startLyingProxy } from "../support/faulty-proxy.ts";
import {
  buildClusterAddress,
  hasRqlite,
  findLeader,
  type RqliteNode,
  startCluster,
  startOneNode,
} from "../support/rqlite.ts";
import { waitUntil } from "../support/poll.ts";

const tables = [
  ...ownTables,
  "create table if not exists guards (holds integer not null check (holds = 1)) strict",
  "create table if not exists stock (item text primary key, count integer not null check (count >= 0)) strict",
];

const add = (item: string, count = 1) => sql`insert into stock values (${item}, ${count})`;
const buildIncrement = (item: string) =>
  sql`update stock set count = count + 1 where item = ${item}`;
const codeOf = (error: unknown) => (error as { code?: string }).code;
const readUsed = () => new AppError("CONFLICT", "Taken.");

async function readStock(store: Pick<Store, "query">) {
  const rows = await store.query<{ item: string; count: number }>(
    "select item, count from stock order by item",
    [],
  );
  return Object.fromEntries(rows.map(({ item, count }) => [item, count]));
}

describe.skipIf(!hasRqlite)("one node", () => {
  let node: RqliteNode;
  let proxy: Awaited<ReturnType<typeof startLyingProxy>>;

  beforeAll(async () => {
    node = await startOneNode();
    proxy = await startLyingProxy(node.host);
  });
  afterAll(async () => {
    proxy.stop();
    await node.kill();
  });
  beforeEach(async () => {
    const clear = ["delete from stock", "delete from write_markers"];
    const client = new RqliteClient(buildClusterAddress(node));
    await client.execute(
      [...tables, ...clear].map((text) => [text] as const),
      async () => false,
    );
    proxy.requests.length = 0;
  });

  const storeOf = (patience: Partial<Patience> = {}) =>
    createRqliteStore(
      new RqliteClient(buildClusterAddress(proxy), { ...defaultPatience, ...patience }),
      Date.now,
    );

  test.each(["answer lost", "request lost"] as const)(
    "%s: the write is looked up by its marker, and happens once",
    async (trouble) => {
      const store = storeOf();
      await store.atomic([add("a", 0)]);
      proxy.requests.length = 0;
      proxy.troubles.push(trouble);
      await store.atomic([buildIncrement("a")]);
      expect(await readStock(store)).toEqual({ a: 1 });
      // The outcome was found before the write was repeated.
      const repeated = trouble === "answer lost" ? [] : ["/db/execute"];
      expect(proxy.requests.slice(0, -1)).toEqual(["/db/execute", "/db/query", ...repeated]);
    },
  );

  test.each([
    [
      "an error next to the results",
      { results: [], error: "leadership lost while committing log" },
    ],
    ["fewer results than statements", { results: [{}] }],
    ["no results", {}],
  ])("%s is ambiguous: the stored outcome counts", async (_, response) => {
    const store = storeOf();
    await store.atomic([add("a", 0)]);
    proxy.troubles.push({ instead: response });
    await store.atomic([buildIncrement("a")]);
    proxy.troubles.push({ refusal: response });
    await store.atomic([buildIncrement("a")]);
    expect(await readStock(store)).toEqual({ a: 2 });
  });

  test("a cluster without a leader is retried for the duration of an election", async () => {
    const store = storeOf();
    const refusal = { refusal: "leader not found", status: 503 };
    proxy.troubles.push(refusal, refusal, refusal);
    await store.atomic([add("a")]);
    expect(await readStock(store)).toEqual({ a: 1 });
  });

  test("the first read after an election goes through the log, because the new leader may be behind", async () => {
    const store = storeOf();
    const read = () => store.query("select 1", []);
    proxy.levels.length = 0;
    for (let i = 0; i < 3; i++) await read();
    expect(proxy.levels).toEqual(["strong", "weak", "weak"]);
    // A write also goes through the log.
    proxy.troubles.push({ refusal: "leadership lost", status: 503 });
    await store.atomic([add("a")]);
    await read();
    expect(proxy.levels.splice(3)).toEqual(["weak"]);
    proxy.troubles.push("request lost");
    await store.atomic([add("b")]);
    await read();
    expect(proxy.levels.splice(3)).toEqual(["strong", "weak"]);
  });

  test("a write that no node accepts is UNAVAILABLE with Retry-After, and is never applied later", async () => {
    const store = storeOf({ tryMs: 0, resolveMs: 0 });
    await store.atomic([add("a", 0)]);
    proxy.troubles.push("delayed", { refusal: "leader not found", status: 503 });
    proxy.troubles.push({ refusal: "leader not found", status: 503 });
    const error = await store.atomic([buildIncrement("a")]).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "UNAVAILABLE", headers: { "Retry-After": "5" } });
    proxy.troubles.length = 0;
    await store.atomic([add("b")]);
    await proxy.release();
    expect(await readStock(store)).toEqual({ a: 0, b: 1 });
  });

  test("the failure of a repeated write is final: the first request can't be applied later", async () => {
    const store = storeOf();
    proxy.troubles.push("delayed");
    const guardItem = guard(sql`exists (select 1 from stock where item = 'a')`, readUsed);
    expect(await store.atomic([guardItem, add("b")]).catch(codeOf)).toBe("CONFLICT");
    await store.atomic([add("a")]);
    await proxy.release();
    expect(await readStock(store)).toEqual({ a: 1 });
  });

  test("a statement that rqlite would not roll back is rejected before it is sent", async () => {
    const store = storeOf();
    const wrong = [
      "select 1",
      "insert into stock values ('a', 1) returning item",
      "begin",
      "COMMIT",
      "savepoint a",
      "pragma foreign_keys = off",
      "insert into stock values ('a', 1); delete from stock",
      "with x as (select 1) select * from x",
      "attach 'other.db' as other",
      "vacuum",
    ];
    for (const text of wrong) {
      const refused = store.atomic([add("b"), { text, parameters: [] }]);
      expect([text, await refused.catch(String)]).toEqual([
        text,
        expect.stringContaining("A batch takes writes without RETURNING"),
      ]);
    }
    expect(proxy.requests).toEqual([]);
    await store.atomic([sql`insert into stock values ('select; returning "begin"', 1)`]);
    expect(await readStock(store)).toEqual({ 'select; returning "begin"': 1 });
  });

  test("a batch that is too large is rejected with its size", async () => {
    const store = storeOf();
    const error = await store.atomic([add("x".repeat(65 * 2 ** 20))]).catch((error) => error);
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect(error.message).toMatch(/6815\d+ bytes/);
    expect(proxy.requests).toEqual([]);
  });

  test("an older program writes nothing once a newer one has upgraded the data", async () => {
    const client = new RqliteClient(buildClusterAddress(node));
    const [older, newer] = [1, 2].map((migrations) =>
      createRqliteStore(client, Date.now, { migrations }),
    );
    const migration = sql`insert into __drizzle_migrations (hash, created_at) values ('a', 1)`;
    await older?.atomic([migration, add("a")]);
    await newer?.atomic([migration, add("b")]);
    const refused = await older?.atomic([add("c")]).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "UNAVAILABLE",
      cause: { message: expect.stringContaining("a newer Signalbox has upgraded the data") },
    });
    await newer?.atomic([add("d"), sql`delete from __drizzle_migrations`]);
    expect(await readStock(storeOf())).toEqual({ a: 1, b: 1, d: 1 });
  });

  test("many writes in one event-loop turn share requests", async () => {
    const store = storeOf();
    const items = Array.from({ length: 500 }, (_, i) => `item ${i}`);
    await Promise.all(items.map((item) => store.atomic([add(item), buildIncrement(item)])));
    expect(Object.values(await readStock(store))).toEqual(items.map(() => 2));
    expect(proxy.requests.filter((path) => path === "/db/execute").length).toBeLessThan(10);
  });

  test("values are returned unchanged", async () => {
    const store = storeOf();
    const values = ["\u2028 é😀 \\ \" ' \t", 9_007_199_254_740_991, -1.5, 1e300, null, ""];
    const [row] = await store.query<Record<string, unknown>>(
      "select ? as a, ? as b, ? as c, ? as d, ? as e, ? as f",
      values,
    );
    expect(Object.values(row ?? {})).toEqual(values);
    const failed = await store.query("select colour from stock", []).catch((error) => error);
    expect(failed.message).toContain("no such column");
  });

  test("a node that stopped responding is replaced by the next one within two seconds", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const gone = { host: `127.0.0.1:${getFreePort()}` };
    const address = buildClusterAddress(gone, { host: `127.0.0.1:${silent.port}` }, node);
    const client = new RqliteClient(address, { ...defaultPatience, silentMs: 50, probeMs: 50 });
    const store = createRqliteStore(client, Date.now);
    await store.atomic([add("a")]);
    expect(await readStock(store)).toEqual({ a: 1 });
    silent.stop(true);
  });
});

/** On a busy machine an election takes longer. */
const enduring = { ...defaultPatience, tryMs: 60_000, resolveMs: 60_000 };

describe.skipIf(!hasRqlite)("three nodes", () => {
  let nodes: RqliteNode[];

  beforeAll(async () => {
    nodes = await startCluster();
    const client = new RqliteClient(buildClusterAddress(...nodes));
    await client.execute(
      tables.map((text) => [text] as const),
      async () => false,
    );
  });
  afterAll(() => Promise.all(nodes.map((node) => node.kill())));

  test.each([
    ["is killed", "SIGKILL"],
    ["stops answering", "SIGSTOP"],
  ] as const)(
    "the leader %s under twelve writers: no acknowledged write is lost or repeated",
    async (_, signal) => {
      const patience = { ...enduring, silentMs: 300, probeMs: 300 };
      const store = createRqliteStore(
        new RqliteClient(buildClusterAddress(...nodes), patience),
        Date.now,
      );
      const writers = Array.from({ length: 12 }, (_, i) => `${signal} ${i}`);
      await store.atomic(writers.map((writer) => add(writer, 0)));
      const acknowledged = new Map(writers.map((writer) => [writer, 0]));
      const failed: unknown[] = [];
      let isOver = false;
      const writing = writers.map(async (writer) => {
        while (!isOver) {
          const count = (acknowledged.get(writer) ?? 0) + 1;
          await store.atomic([buildIncrement(writer)]).then(
            () => acknowledged.set(writer, count),
            (error: unknown) => failed.push(error),
          );
        }
      });
      const buildTotal = () => acknowledged.values().reduce((sum, count) => sum + count, 0);
      const waitForTotal = (count: number) => waitUntil(() => buildTotal() >= count);
      await waitForTotal(200);
      const leader = await findLeader(nodes);
      leader.signal(signal);
      const before = buildTotal();
      await waitForTotal(before + 200);
      isOver = true;
      await Promise.all(writing);
      expect(failed).toEqual([]);
      expect(await readStock(store)).toMatchObject(Object.fromEntries(acknowledged));
      await leader.restart();
    },
  );

  test("without a quorum writes are UNAVAILABLE, relaxed reads work, and everything works afterwards", async () => {
    const patience = {
      ...defaultPatience,
      tryMs: 100,
      resolveMs: 100,
      silentMs: 200,
      probeMs: 200,
    };
    const store = createRqliteStore(
      new RqliteClient(buildClusterAddress(...nodes), patience),
      Date.now,
    );
    const leader = await findLeader(nodes);
    const again = createRqliteStore(
      new RqliteClient(buildClusterAddress(...nodes), enduring),
      Date.now,
    );
    await again.atomic([add("last")]);
    await Promise.all(nodes.filter((node) => node !== leader).map((node) => node.pause()));
    expect(await store.atomic([add("late")]).catch(codeOf)).toBe("UNAVAILABLE");
    expect(await store.query("select 1", []).catch(codeOf)).toBe("UNAVAILABLE");
    expect(await store.db.select().from(organizations).catch(codeOf)).toBe("UNAVAILABLE");
    expect(await Promise.resolve(store.db.$count(organizations)).catch(codeOf)).toBe("UNAVAILABLE");
    expect(await readStock(store.relaxed())).toMatchObject({ last: 1 });
    for (const node of nodes) node.signal("SIGCONT");
    await again.atomic([add("again")]);
    expect(await readStock(again)).toMatchObject({ last: 1, again: 1 });
  });
});
