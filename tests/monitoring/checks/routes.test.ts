import { expect, test } from "bun:test";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { replyWith, hang } from "../../support/target.ts";
import { type Watch, createWatch } from "../../support/check-board.ts";

const checkOf = (id: string) => `/api/v1/monitors/${id}/check`;

/** A monitor during a check, and a second requested check of it. */
async function setUp(fields: object = {}) {
  const watch = await createWatch();
  const shop = await watch.createSite(fields);
  shop.setReply(hang);
  const running = watch.engine.runOnce();
  await shop.waitUntilRequested(1);
  return { ...watch, shop, running, checked: watch.api("POST", checkOf(shop.id)) };
}

/** Yields to the event loop until a request has reached its use case. */
async function letTasksRun({ readMonitor }: Watch, id: string) {
  for (let turn = 0; turn < 5; turn++) await readMonitor(id);
}

test("a requested check returns its heartbeat, which covers the time to the next scheduled check", async () => {
  const { api, readBeats, readMonitor, createSite, time } = await createWatch();
  await using shop = await createSite({ interval: 3_600 });
  const at = new Date(time.now).toISOString();
  const { status, json } = await api("POST", checkOf(shop.id));
  expect(status).toBe(200);
  expect(json.data).toEqual({
    at,
    status: "up",
    latencyMs: expect.any(Number),
    message: null,
    period: 1,
    number: null,
  });
  expect(await readBeats(shop.id)).toEqual([json.data]);
  expect(await readMonitor(shop.id)).toMatchObject({ status: "up", lastCheckedAt: at });
  shop.failNow();
  time.now += 30_000;
  const failed = await api("POST", checkOf(shop.id), { body: {} });
  expect(failed.json.data).toMatchObject({
    status: "down",
    latencyMs: null,
    message: "HTTP 500 (Internal Server Error), expected 200-299.",
    period: 2195,
  });
  expect(await readBeats(shop.id)).toEqual([json.data, failed.json.data]);
});

test("a requested check can make a monitor down and does not move the next scheduled check", async () => {
  const { api, advance, readStatus, readBeats, readStateChanges, createSite } = await createWatch();
  await using shop = await createSite({ retries: 1, interval: 20, retryInterval: 20 });
  await advance(20);
  const last = Date.parse((await readBeats(shop.id)).at(-1)?.at ?? "");
  await advance(5);
  await api("POST", checkOf(shop.id));
  await advance(15);
  expect(Date.parse((await readBeats(shop.id)).at(-1)?.at ?? "") - last).toBe(20_000);
  shop.failNow();
  await api("POST", checkOf(shop.id));
  await api("POST", checkOf(shop.id));
  expect(await readStatus(shop.id)).toBe("down");
  expect((await readStateChanges()).map(({ type }) => type)).toEqual([
    "monitor.up",
    "monitor.down",
  ]);
});

test("a request during a check waits for its result instead of starting another", async () => {
  const world = await setUp();
  await using shop = world.shop;
  const second = world.api("POST", checkOf(shop.id));
  await letTasksRun(world, shop.id);
  shop.release(replyWith(500));
  const responses = await Promise.all([world.checked, second]);
  await world.running;
  const heartbeats = await world.readBeats(shop.id);
  expect(heartbeats).toMatchObject([{ status: "down" }]);
  for (const { status, json } of responses)
    expect([status, json.data]).toEqual([200, heartbeats[0]]);
  expect(shop.asked).toHaveLength(1);
});

test("a request after a change returns a result of the changed monitor", async () => {
  const world = await setUp();
  await using shop = world.shop;
  await letTasksRun(world, shop.id);
  shop.setReply(replyWith(), "/new");
  await world.changeMonitor(shop.id, { url: shop.at("/new") });
  const { status, json } = await world.api("POST", checkOf(shop.id));
  expect([status, json.data.status]).toEqual([200, "up"]);
  expect(shop.asked.map(({ path }) => path)).toEqual(["/", "/new"]);
  shop.release(replyWith(500));
  await Promise.all([world.running, world.checked]);
  expect(new Set((await world.readBeats(shop.id)).map((beat) => beat.status))).toEqual(
    new Set(["up"]),
  );
});

test("a request that waits while the monitor is changed returns a result of the changed monitor", async () => {
  const world = await setUp();
  await using shop = world.shop;
  await letTasksRun(world, shop.id);
  shop.setReply(replyWith(), "/new");
  await world.changeMonitor(shop.id, { url: shop.at("/new") });
  await world.engine.runOnce();
  const { status, json } = await world.checked;
  expect([status, json.data?.status]).toEqual([200, "up"]);
});

test("a request that waits while the monitor is paused or deleted gets an error", async () => {
  const paused = await setUp();
  await using one = paused.shop;
  await letTasksRun(paused, one.id);
  await paused.changeMonitor(one.id, { paused: true });
  await paused.engine.runOnce();
  expect((await paused.checked).status).toBe(409);
  const deleted = await setUp();
  await using other = deleted.shop;
  await letTasksRun(deleted, other.id);
  await deleted.api("DELETE", `/api/v1/monitors/${other.id}`);
  await deleted.engine.runOnce();
  expect((await deleted.checked).status).toBe(404);
});

test("a paused monitor, a monitor in a paused group and a push monitor return 409 without a check or a write", async () => {
  const watch = await createWatch();
  const { api, group, changeMonitor, pauseGroup, createJob, createSite } = watch;
  await using paused = await createSite({ paused: true });
  await using grouped = await createSite();
  const { id: groupId } = await group();
  await changeMonitor(grouped.id, { groupId });
  await pauseGroup(groupId, true);
  const { id: push } = await createJob();
  const before = dumpTables(watch);
  const messages = [];
  for (const id of [paused.id, grouped.id, push]) {
    const { status, json } = await api("POST", checkOf(id));
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    messages.push(json.error.message);
  }
  expect(messages).toEqual([
    "The monitor is paused, so it is not checked.",
    "The monitor is paused, so it is not checked.",
    "A push monitor is not checked; it reports to its pushUrl.",
  ]);
  expect(dumpTables(watch)).toBe(before);
  expect([...paused.asked, ...grouped.asked]).toEqual([]);
});

test("an unknown, malformed or foreign id returns 404, a read key 403, no key 401", async () => {
  const { api, theirs, ours, stranger, createSite } = await createWatch();
  await using shop = await createSite();
  for (const id of [unknownId, "1"])
    expect([id, (await api("POST", checkOf(id))).status]).toEqual([id, 404]);
  expect((await theirs.api("POST", checkOf(shop.id))).status).toBe(404);
  expect((await ours.reader("POST", checkOf(shop.id))).status).toBe(403);
  expect((await stranger("POST", checkOf(shop.id))).status).toBe(401);
  expect((await api("POST", checkOf(shop.id), { body: { url: "x" } })).status).toBe(422);
  expect(shop.asked).toEqual([]);
});

test("a result that can't be stored returns 503", async () => {
  const { api, database, createSite } = await createWatch();
  await using shop = await createSite();
  database.run("PRAGMA query_only = ON");
  const { status, headers } = await api("POST", checkOf(shop.id));
  expect(status).toBe(503);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
});
