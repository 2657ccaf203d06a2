import { expect, test } from "bun:test";
import { sweepResponses } from "../../src/http/idempotency.ts";
import { sweepingOf } from "../../src/database/portions.ts";
import { type Client, dump, testAppliance, unknownId } from "../support/appliance.ts";
import { made } from "../support/records.ts";

const path = "/api/v1/incidents";
const day = 24 * 3600 * 1000;

const open = (api: Client, key: string, title = "Slow", at = path) =>
  api("POST", at, { body: { title }, headers: { "Idempotency-Key": key } });

const count = async (api: Client) => (await api("GET", path)).json.meta.total;

test("a repeated POST is done once and answered as the first time", async () => {
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
  const resolve = `${path}/${await made(api, "incidents")}/resolve`;
  const send = () => api("POST", resolve, { headers: { "Idempotency-Key": "once" } });
  const [first, again] = [await send(), await send()];
  expect(first.json.data.updates).toHaveLength(2);
  expect([again.text, again.headers.get("location")]).toEqual([first.text, null]);
  expect((await api("GET", resolve.replace("/resolve", ""))).json.data.updates).toHaveLength(2);
});

test("another body under the same key is refused", async () => {
  const { api } = (await testAppliance()).ours;
  await open(api, "once");
  const { status, json } = await open(api, "once", "Down");
  expect([status, json.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  expect(await count(api)).toBe(1);
});

test("of many at once one is done; the others are told that it is in flight", async () => {
  const { api } = (await testAppliance()).ours;
  const answers = await Promise.all(Array.from({ length: 10 }, () => open(api, "once")));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const { status, json, headers } of answers.filter(({ status }) => status !== 201))
    expect([status, json.error.code, headers.get("retry-after")]).toEqual([409, "CONFLICT", "1"]);
  expect((await open(api, "once")).headers.get("idempotency-replayed")).toBe("true");
  expect(await count(api)).toBe(1);
});

test("a refused request leaves its key free", async () => {
  const { api } = (await testAppliance()).ours;
  const headers = { "Idempotency-Key": "once" };
  expect((await open(api, "once", "")).status).toBe(422);
  const unknown = { title: "Slow", monitorId: unknownId };
  expect((await api("POST", path, { body: unknown, headers })).status).toBe(404);
  expect((await api("POST", path, { raw: "{", headers })).status).toBe(400);
  const { status, headers: answered } = await open(api, "once");
  expect([status, answered.get("idempotency-replayed")]).toEqual([201, null]);
});

test("an answer is kept for 24 hours", async () => {
  const { ours, time, store, database } = await testAppliance();
  const ids = new Set<string>();
  const openOnce = async () => ids.add((await open(ours.api, "once")).json.data.id).size;
  expect(await openOnce()).toBe(1);
  time.now += day - 1;
  expect(await openOnce()).toBe(1);
  time.now += 1;
  expect(await openOnce()).toBe(2);
  expect(await openOnce()).toBe(2);
  const kept = () => database.query("SELECT count(*) AS n FROM idempotent_answers").get();
  await sweepResponses(sweepingOf(store, time.now));
  expect(kept()).toEqual({ n: 1 });
  await sweepResponses(sweepingOf(store, time.now + day + 1));
  expect(kept()).toEqual({ n: 0 });
});

test("the same Idempotency-Key means another request to another API key and on another route", async () => {
  const { ours, theirs, client } = await testAppliance();
  const colleague = client((await ours.keyOf("write")).key);
  const answers = [
    await open(ours.api, "once"),
    await open(theirs.api, "once"),
    await open(colleague, "once"),
    await ours.api("POST", "/api/v1/monitor-groups", {
      body: { name: "Payments" },
      headers: { "Idempotency-Key": "once" },
    }),
  ];
  for (const { status, headers } of answers)
    expect([status, headers.get("idempotency-replayed")]).toEqual([201, null]);
  expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(4);
});

test("the answer and what was done are one write: without the one there is not the other", async () => {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  appliance.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON idempotent_answers
    BEGIN SELECT raise(ABORT, 'refused'); END`);
  const before = dump(appliance);
  expect((await open(api, "once")).status).toBe(500);
  expect(dump(appliance)).toBe(before);
  appliance.database.run("DROP TRIGGER refuse");
  expect((await open(api, "once")).status).toBe(201);
});

test("a kept answer is sealed at rest", async () => {
  const { ours, database } = await testAppliance();
  const { json } = await ours.api("POST", "/api/v1/monitors", {
    body: { type: "push", name: "Backup" },
    headers: { "Idempotency-Key": "once" },
  });
  const token = json.data.pushUrl.split("/push/")[1];
  expect(token).toMatch(/^[0-9A-Za-z]{32}$/);
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
