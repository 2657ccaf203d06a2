import { describe, expect, test } from "bun:test";
import type { Route } from "../../src/http/openapi.ts";
import { sweepResponses } from "../../src/http/idempotency.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { type Client, dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import { createSampleMembers } from "../support/people.ts";
import {
  apiRoutes,
  buildInput,
  createSampleRecord,
  fillIds,
  createRecordForRoute,
  needsSentCode,
  createSampleSubscriber,
} from "../support/records.ts";

const path = "/api/v1/incidents";
const day = 24 * 3600 * 1000;

const open = (api: Client, key: string, title = "Slow", at = path) =>
  api("POST", at, { body: { title }, headers: { "Idempotency-Key": key } });

const count = async (api: Client) => (await api("GET", path)).json.meta.total;

test("a repeated POST is done once and gets the first response again", async () => {
  const { api } = (await testAppliance()).ours;
  const first = await open(api, "once");
  expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([201, null]);
  await api("DELETE", `${path}/${first.json.data.id}`);
  const again = await open(api, "once");
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.headers.get("location")).toBe(`${path}/${first.json.data.id}`);
  expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  expect(await count(api)).toBe(0);
});

test("a POST without a body is done once, too", async () => {
  const { api } = (await testAppliance()).ours;
  const resolve = `${path}/${await createSampleRecord(api, "incidents")}/resolve`;
  const send = () => api("POST", resolve, { headers: { "Idempotency-Key": "once" } });
  const [first, again] = [await send(), await send()];
  expect(first.json.data.updates).toHaveLength(2);
  expect([again.text, again.headers.get("location")]).toEqual([first.text, null]);
  expect((await api("GET", resolve.replace("/resolve", ""))).json.data.updates).toHaveLength(2);
});

test("a repeated PATCH is done once and gets the first response again, with any If-Match", async () => {
  const { api } = (await testAppliance()).ours;
  const at = `${path}/${await createSampleRecord(api, "incidents")}`;
  const headers = {
    "Idempotency-Key": "once",
    "If-Match": (await api("GET", at)).headers.get("etag") ?? "",
  };
  const send = (more = {}) =>
    api("PATCH", at, { body: { message: "Found it." }, headers: { ...headers, ...more } });
  const [first, again] = [await send(), await send()];
  expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([200, null]);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  expect((await send({ "Idempotency-Key": "late" })).status).toBe(412);
  expect((await api("GET", at)).json.data.updates).toHaveLength(2);
  // A rejected request stores no response.
  const { status, headers: answered } = await send({
    "Idempotency-Key": "late",
    "If-Match": again.headers.get("etag") ?? "",
  });
  expect([status, answered.get("idempotency-replayed")]).toEqual([200, null]);
});

test("the same key with another method is another request", async () => {
  const { api } = (await testAppliance()).ours;
  const at = `${path}/${await createSampleRecord(api, "incidents")}`;
  const headers = { "Idempotency-Key": "once" };
  expect((await api("PATCH", at, { body: { title: "Slower" }, headers })).status).toBe(200);
  const gone = await api("DELETE", at, { headers });
  expect([gone.status, gone.headers.get("idempotency-replayed")]).toEqual([200, null]);
  const after = await api("PATCH", at, { body: { title: "Slower" }, headers });
  expect([after.status, after.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
});

/** Sends a request to an alert source. Returns its ID in the log. */
async function createSourceRequest(
  { app, ours }: Awaited<ReturnType<typeof testAppliance>>,
  id: string,
) {
  const source = `/api/v1/alert-sources/${id}`;
  const { address } = (await ours.api("GET", source)).json.data;
  const raw = '{"alerts":[]}';
  const headers = { Host: "localhost", "Content-Length": `${raw.length}` };
  await app.handle(new Request(address, { method: "POST", headers, body: raw }));
  return (await ours.api("GET", `${source}/requests`)).json.data[0].id as string;
}

describe("an idempotency key", () => {
  const repeatable = apiRoutes.filter(
    ({ method, path: at, hooks }) =>
      (method === "POST" || method === "PATCH") &&
      hooks.detail?.endpoint?.access !== "read" &&
      !needsSentCode(at),
  );

  async function prepareRoute(route: Route) {
    // The result of a check or a test alert does not matter here: loopback is denied.
    const appliance = await testAppliance();
    await createSampleMembers(appliance);
    const { api } = appliance.ours;
    const isOfRecord = route.path.includes(":id");
    const id = isOfRecord ? await createRecordForRoute(api, route) : unknownId;
    const childId = route.path.includes(":updateId")
      ? (await api("GET", `${path}/${id}`)).json.data.updates[0].id
      : route.path.includes(":requestId")
        ? await createSourceRequest(appliance, id)
        : route.path.includes(":subscriberId")
          ? await createSampleSubscriber(api, id)
          : unknownId;
    const at = fillIds(route.path, id, childId).replace(/\/$/, "");
    const input = route.path.includes("settings") ? { body: { smtp: null } } : buildInput(route);
    const text = input.body === undefined ? undefined : JSON.stringify(input.body);
    const send = (by: Client, raw = text) =>
      by(route.method, at, {
        headers: { "Idempotency-Key": "once" },
        ...(raw !== undefined && { raw }),
      });
    return { ...appliance, api, at, text, send, isOfRecord };
  }

  test("works on every route that adds or changes something, separately for each API key", async () => {
    expect(repeatable.map(({ method }) => method)).toContain("PATCH");
    for (const route of repeatable) {
      const ready = await prepareRoute(route);
      const { send, api, ours, theirs, client, isOfRecord, text } = ready;
      const name = [route.method, route.path];
      const first = await send(api);
      expect([...name, first.status < 300]).toEqual([...name, true]);
      const done = dumpTables(ready);
      const again = await send(api);
      expect([...name, again.status, again.text]).toEqual([...name, first.status, first.text]);
      expect([...name, again.headers.get("idempotency-replayed")]).toEqual([...name, "true"]);
      expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
      const other = await send(api, text === undefined ? "{}" : `${text} `);
      expect([...name, other.status, other.json.error?.code]).toEqual([
        ...name,
        422,
        "IDEMPOTENCY_KEY_REUSED",
      ]);
      // Authorization is checked first, so that the stored response is not revealed.
      expect([...name, (await send(client(null))).status]).toEqual([...name, 401]);
      expect([...name, (await send(ours.reader)).status]).toEqual([...name, 403]);
      if (isOfRecord) expect([...name, (await send(theirs.api)).status]).toEqual([...name, 404]);
      expect(dumpTables(ready)).toBe(done);
    }
  });

  test("stores the response in the same write as the change, on every route with a reversible write", async () => {
    for (const route of repeatable) {
      if (route.hooks.detail?.endpoint?.timeoutSeconds !== undefined) continue;
      const ready = await prepareRoute(route);
      ready.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON idempotent_answers
        BEGIN SELECT raise(ABORT, 'refused'); END`);
      const before = dumpTables(ready);
      const { status } = await ready.send(ready.api);
      expect([route.method, route.path, status]).toEqual([route.method, route.path, 500]);
      expect([route.path, dumpTables(ready) === before]).toEqual([route.path, true]);
    }
  });
});

test("with another body is rejected", async () => {
  const { api } = (await testAppliance()).ours;
  await open(api, "once");
  const { status, json } = await open(api, "once", "Down");
  expect([status, json.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  expect(await count(api)).toBe(1);
});

test("with other parameters is rejected: a request without a hold is not the held one", async () => {
  const { api } = (await testAppliance()).ours;
  const send = (query: string) =>
    api("POST", `${path}${query}`, {
      body: { title: "Slow" },
      headers: { "Idempotency-Key": "once" },
    });
  expect((await send("?hold=30")).status).toBe(202);
  expect((await send("?hold=30")).headers.get("idempotency-replayed")).toBe("true");
  const { status, json } = await send("");
  expect([status, json.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
});

test("of concurrent requests allows one; the others get a conflict", async () => {
  const { api } = (await testAppliance()).ours;
  const responses = await Promise.all(Array.from({ length: 10 }, () => open(api, "once")));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const { status, json, headers } of responses.filter(({ status }) => status !== 201))
    expect([status, json.error.code, headers.get("retry-after")]).toEqual([409, "CONFLICT", "1"]);
  expect((await open(api, "once")).headers.get("idempotency-replayed")).toBe("true");
  expect(await count(api)).toBe(1);
});

test("is free again after a rejected request", async () => {
  const { api } = (await testAppliance()).ours;
  const headers = { "Idempotency-Key": "once" };
  expect((await open(api, "once", "")).status).toBe(422);
  const unknown = { title: "Slow", monitorId: unknownId };
  expect((await api("POST", path, { body: unknown, headers })).status).toBe(404);
  expect((await api("POST", path, { raw: "{", headers })).status).toBe(400);
  const { status, headers: answered } = await open(api, "once");
  expect([status, answered.get("idempotency-replayed")]).toEqual([201, null]);
});

test("stores a response for 24 hours", async () => {
  const { ours, time, store, database } = await testAppliance();
  const ids = new Set<string>();
  const openOnce = async () => ids.add((await open(ours.api, "once")).json.data.id).size;
  expect(await openOnce()).toBe(1);
  time.now += day - 1;
  expect(await openOnce()).toBe(1);
  time.now += 1;
  expect(await openOnce()).toBe(2);
  expect(await openOnce()).toBe(2);
  const readStored = () => database.query("SELECT count(*) AS n FROM idempotent_answers").get();
  await sweepResponses(createSweeping(store, time.now));
  expect(readStored()).toEqual({ n: 1 });
  await sweepResponses(createSweeping(store, time.now + day + 1));
  expect(readStored()).toEqual({ n: 0 });
});

test("stores a response for at most 24 hours after a clock that was ahead is corrected", async () => {
  const { ours, time } = await testAppliance();
  const ids = new Set<string>();
  const openOnce = async () => ids.add((await open(ours.api, "once")).json.data.id).size;
  time.now += day - 1;
  expect(await openOnce()).toBe(1);
  time.now -= day - 1;
  expect(await openOnce()).toBe(1);
  time.now += 3_650 * day;
  expect(await openOnce()).toBe(2);
  time.now -= 3_650 * day;
  expect(await openOnce()).toBe(3);
  expect((await open(ours.api, "once", "Another title")).status).toBe(422);
});

test("is separate for each API key and each route", async () => {
  const { ours, theirs, client } = await testAppliance();
  const colleague = client((await ours.keyOf("write")).key);
  const responses = [
    await open(ours.api, "once"),
    await open(theirs.api, "once"),
    await open(colleague, "once"),
    await ours.api("POST", "/api/v1/monitor-groups", {
      body: { name: "Payments" },
      headers: { "Idempotency-Key": "once" },
    }),
  ];
  for (const { status, headers } of responses)
    expect([status, headers.get("idempotency-replayed")]).toEqual([201, null]);
  expect(new Set(responses.map(({ json }) => json.data.id)).size).toBe(4);
});

test("the response and the change are one write: both happen or neither", async () => {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  appliance.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON idempotent_answers
    BEGIN SELECT raise(ABORT, 'refused'); END`);
  const before = dumpTables(appliance);
  expect((await open(api, "once")).status).toBe(500);
  expect(dumpTables(appliance)).toBe(before);
  appliance.database.run("DROP TRIGGER refuse");
  expect((await open(api, "once")).status).toBe(201);
});

test("a stored response is encrypted", async () => {
  const { ours, database } = await testAppliance();
  const { json } = await ours.api("POST", "/api/v1/monitors", {
    body: { type: "push", name: "Backup" },
    headers: { "Idempotency-Key": "once" },
  });
  const token = json.data.pushUrl.split("/push/")[1];
  expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  const bytes = Buffer.from(database.serialize());
  expect([bytes.includes(json.data.id), bytes.includes(token)]).toEqual([true, false]);
});

test("an Idempotency-Key has 1 to 255 visible ASCII characters", async () => {
  const { api } = (await testAppliance()).ours;
  for (const key of ["", "a b", "é", "k".repeat(256)]) {
    const { status, json } = await open(api, key);
    expect([key, status, json.error?.details?.[0].path]).toEqual([key, 422, "Idempotency-Key"]);
  }
  for (const key of ["!", "~".repeat(255), '"quoted"'])
    expect([key, (await open(api, key)).status]).toEqual([key, 201]);
});
