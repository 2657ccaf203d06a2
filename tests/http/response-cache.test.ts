import { expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { createApiKey } from "../../src/accounts/api-keys/service.ts";
import { getBuiltMigrations } from "../support/migration-folder.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { createEmbeddedStore, openDatabase } from "../../src/database/file/embedded.ts";
import { createResponseCache } from "../../src/http/responses/response-cache.ts";
import { deleteIncident, openIncident, updateIncident } from "../../src/incidents/service.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { createAppliance, type Client, testAppliance } from "../support/appliance.ts";
import { isOnRqlite } from "../support/engines.ts";
import { apiRoutes, createSampleRecord, nounOf, sampleBodies } from "../support/records.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

const cached = apiRoutes.filter(
  ({ path, hooks }) =>
    hooks.detail?.endpoint?.cached !== undefined && path.split("/").filter(Boolean).length <= 4,
);

test.each(cached.map(({ path }) => path))("%s shows the last write", async (route) => {
  const { api } = (await testAppliance()).ours;
  const noun = nounOf(route);
  const id = await createSampleRecord(api, noun);
  const path = route.replace(":id", id);
  const field = Object.keys(sampleBodies[noun]?.patch ?? {})[0] ?? "";
  for (let round = 0; round < 5; round++) {
    const value = `Round ${round}`;
    await Promise.all([
      api("GET", path),
      api("PATCH", `/api/v1/${noun}/${id}`, { body: { [field]: value } }),
      api("GET", path),
    ]);
    for (const _ of ["made", "kept"]) {
      const { data } = (await api("GET", path)).json;
      const record = Array.isArray(data) ? data.find((one) => one.id === id) : data;
      expect(record[field]).toBe(value);
    }
  }
});

const tableRoutes = cached.filter(({ hooks }) => hooks.detail?.endpoint?.cached !== true);

// On rqlite no response is cached; the tables that its statements read are the same.
test
  .skipIf(isOnRqlite)
  .each(tableRoutes.map(({ path, hooks }) => [path, hooks.detail?.endpoint] as const))(
  "%s names every table that it reads, and its other dependencies",
  async (route, endpoint) => {
    const cached = endpoint?.cached;
    const named = new Set(cached as readonly string[]);
    const { ours, database } = await testAppliance();
    const id = await createSampleRecord(ours.api, nounOf(route));
    const path = route.replace(":id", id);
    // The lookup of the key is cached beforehand.
    await ours.api("GET", "/api/v1/incidents");
    const texts: string[] = [];
    const query = database.query.bind(database);
    const spy = spyOn(database, "query").mockImplementation((text: string) => {
      texts.push(text);
      return query(text);
    });
    const filters = endpoint?.query === undefined ? [] : ["?status=up&tag=a&q=b&paused=false"];
    for (const filter of ["", ...filters])
      expect((await ours.api("GET", `${path}${filter}`)).status).toBe(200);
    spy.mockRestore();
    const tables = database
      .query<{ name: string; page: number }, []>(
        "SELECT tbl_name AS name, rootpage AS page FROM sqlite_master WHERE rootpage > 0",
      )
      .all();
    const read = new Set<string>();
    for (const text of texts.filter((one) => !/^pragma/i.test(one)))
      for (const { opcode, p2 } of database.query<Step, []>(`EXPLAIN ${text}`).all())
        if (opcode === "OpenRead")
          for (const { name, page } of tables) if (page === p2) read.add(name);
    expect(read.size).toBeGreaterThan(0);
    expect([...read].filter((table) => !named.has(table))).toEqual([]);

    for (const table of named) {
      const parents = database
        .query<{ table: string; on_delete: string; on_update: string }, []>(
          `PRAGMA foreign_key_list(${table})`,
        )
        .all()
        .filter(({ on_delete, on_update }) =>
          [on_delete, on_update].some((action) => /CASCADE|SET/.test(action)),
        );
      expect(parents.filter((one) => !named.has(one.table))).toEqual([]);
    }
    const triggers = database
      .query<{ name: string; on: string; sql: string }, []>(
        "SELECT name, tbl_name AS 'on', sql FROM sqlite_master WHERE type = 'trigger'",
      )
      .all();
    const writes = new RegExp(`(INTO|UPDATE|FROM)\\s+[\`"]?(${[...named].join("|")})\\b`, "i");
    expect(triggers.filter((one) => writes.test(one.sql) && !named.has(one.on))).toEqual([]);
  },
);

type Step = { opcode: string; p2: number };

test("a response that changes with the hour is not cached into the next", async () => {
  const { ours, time, database, store } = await testAppliance();
  await createSampleRecord(ours.api, "monitors");
  const readUptime = async () => (await ours.api("GET", "/api/v1/monitors")).json.data[0].uptime24h;
  const [{ key }] = database.query("SELECT key FROM monitor_states").all() as [{ key: number }];
  const hour = Math.floor(time.now / 3_600_000) - 23;
  const text = `INSERT INTO uptime_hours VALUES (${hour}, ${key}, 60, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL)`;
  await store.atomic([{ text, parameters: [] }]);
  expect(await readUptime()).toBe(1);
  time.now += 3_600_000;
  expect(await readUptime()).toBeNull();
});

test("one organization's cached response is never used for another", async () => {
  const { ours, theirs } = await testAppliance();
  const id = await createSampleRecord(ours.api, "incidents");
  const readTotal = async (api: Client) => (await api("GET", "/api/v1/incidents")).json.meta.total;
  expect([await readTotal(ours.api), await readTotal(theirs.api)]).toEqual([1, 0]);
  expect((await ours.api("GET", `/api/v1/incidents/${id}`)).status).toBe(200);
  expect((await theirs.api("GET", `/api/v1/incidents/${id}`)).status).toBe(404);
});

/** A second server on this directory, with its own connection and cache. */
function openNode(directory: string) {
  const clock = () => Date.parse("2026-11-20T10:00:00.000Z");
  const data = openDataDirectory(directory, { migrations: getBuiltMigrations(), clock });
  const { appliance, app } = createAppliance({ ...data, clock });
  return { ...data, scope: { ...appliance, ...commandLine }, app };
}

const commandLine = {
  actor: { type: "command-line" as const, id: null, name: "test" },
  mayWrite: true,
  requestId: null,
  tool: null,
  origin: "",
  groupIds: null,
  ifMatch: null,
  signal: null,
  remember: null,
  isRehearsal: false,
};

test("a response is never older than a write of another process into the same data directory", async () => {
  const directory = newDirectory();
  const [mine, another] = [openNode(directory), openNode(directory)];
  const { id: organizationId } = await createOrganization(mine.store, mine.scope.clock, "Ours");
  const scope = { ...another.scope, organizationId };
  const input = { name: "Deploy", scope: "read" as const, expiresInMs: null };
  const { key } = await createApiKey(scope, input);
  const headers = { Host: "localhost", Authorization: `Bearer ${key}` };
  const read = async (path: string): Promise<unknown> => {
    const url = `http://localhost/api/v1/incidents${path}`;
    return (await mine.app.handle(new Request(url, { headers }))).json();
  };
  const fields = { monitorId: null, severity: "minor" as const, message: "Opened.", public: true };

  expect(await read("")).toMatchObject({ meta: { total: 0 } });
  const { id } = await openIncident(scope, { title: "Slow", ...fields });
  expect(await read("")).toMatchObject({ meta: { total: 1 } });
  expect(await read(`/${id}`)).toMatchObject({ data: { title: "Slow" } });
  await updateIncident(scope, id, { title: "Slower" });
  expect(await read(`/${id}`)).toMatchObject({ data: { title: "Slower" } });
  await deleteIncident(scope, id);
  expect(await read(`/${id}`)).toMatchObject({ error: { code: "NOT_FOUND" } });
  mine.close();
  another.close();
});

test("a cached response survives writes to other tables", async () => {
  const database = openDatabase(join(newDirectory(), "tables.db"));
  database.run("CREATE TABLE notes (text TEXT) STRICT");
  database.run("CREATE TABLE other (text TEXT) STRICT");
  const store = createEmbeddedStore(database);
  const cache = createResponseCache(store);
  const response = { status: 200, body: "old", etag: '"x"', location: null };
  const isKeptAfter = async (...texts: string[]) => {
    const read = cache.get("key", ["notes"]);
    if ("revision" in read) cache.set("key", read, response, ["notes"]);
    await store.atomic(texts.map((text) => ({ text, parameters: [] })));
    return cache.get("key", ["notes"]) === response;
  };
  expect(await isKeptAfter("insert into other values ('new')", "delete from other")).toBe(true);
  expect(await isKeptAfter("insert into other values ('new')", "UPDATE notes SET text = ''")).toBe(
    false,
  );
  expect(await isKeptAfter('insert or replace into "notes" values (1)')).toBe(false);
  expect(await isKeptAfter("delete from notes")).toBe(false);
  expect(await isKeptAfter("with a as (select 1) delete from notes where false")).toBe(false);
  database.close();
});

test("a response whose rows were read before a write is not cached after it", async () => {
  const file = join(newDirectory(), "notes.db");
  const [mine, another] = [openDatabase(file), openDatabase(file)];
  mine.run("CREATE TABLE notes (text TEXT) STRICT");
  const store = createEmbeddedStore(mine);
  const cache = createResponseCache(store);
  const response = { status: 200, body: "old", etag: '"x"', location: null };
  const insert = { text: "INSERT INTO notes VALUES ('new')", parameters: [] };
  const isCachedAfter = async (write: () => void | Promise<void>) => {
    const read = cache.get("key");
    if (!("revision" in read)) throw new Error("There was already an answer.");
    await write();
    cache.set("key", read, response);
    return cache.get("key") === response;
  };
  expect(await isCachedAfter(() => store.atomic([insert]))).toBe(false);
  expect(await isCachedAfter(() => void another.run(insert.text))).toBe(false);
  expect(await isCachedAfter(() => {})).toBe(true);
  mine.close();
  another.close();
});
