import { describe, expect, test } from "bun:test";
import { dumpTables } from "../../support/appliance.ts";
import { replyWith, hang } from "../../support/target.ts";
import { type Watch, createWatch } from "../../support/check-board.ts";

/** A monitor with automatic incidents, during a check. */
async function startSlowCheck(fields: object = {}) {
  const watch = await createWatch();
  const shop = await watch.createSite({ autoIncidentSeverity: "major", ...fields });
  shop.setReply(hang);
  const running = watch.engine.runOnce();
  await shop.waitUntilRequested(1);
  return { ...watch, shop, running };
}

/** Expects the state of a monitor that was never checked. */
async function expectNothingFound(
  { database, readMonitor, readBeats, readStateChanges }: Watch,
  id: string,
) {
  expect(await readBeats(id)).toEqual([]);
  expect(await readStateChanges()).toEqual([]);
  expect(await readMonitor(id)).toMatchObject({ lastCheckedAt: null, uptime24h: null });
  expect(database.query("SELECT count(*) AS n FROM incidents").get()).toEqual({ n: 0 });
}

/** Ways to pause a monitor: directly or through its group. */
const pauses = {
  monitor: async ({ changeMonitor }: Watch, id: string, paused: boolean) =>
    void (await changeMonitor(id, { paused })),
  group: async ({ api, pauseGroup, readMonitor }: Watch, id: string, paused: boolean) => {
    let { groupId } = await readMonitor(id);
    if (groupId === null) {
      const body = { name: "Payments", monitorIds: [id] };
      groupId = (await api("POST", "/api/v1/monitor-groups", { body })).json.data.id;
    }
    await pauseGroup(groupId, paused);
  },
};

for (const [what, pause] of Object.entries(pauses))
  describe(`a paused ${what}`, () => {
    test("is not checked, and is checked immediately after it is resumed", async () => {
      const watch = await createWatch();
      await using shop = await watch.createSite({ interval: 10 });
      await pause(watch, shop.id, true);
      await watch.advance(30);
      expect(shop.asked).toEqual([]);
      expect(await watch.readStatus(shop.id)).toBe("paused");
      await pause(watch, shop.id, false);
      await watch.engine.runOnce();
      expect(shop.asked).toHaveLength(1);
      expect(await watch.readStatus(shop.id)).toBe("up");
    });

    test("aborts the running check and discards its result", async () => {
      const world = await startSlowCheck();
      await using shop = world.shop;
      await pause(world, shop.id, true);
      await world.engine.runOnce();
      await world.running;
      shop.release(replyWith(500));
      await world.advance(1);
      await expectNothingFound(world, shop.id);
    });
  });

test("a group that is paused and resumed before the engine reads the events is checked again", async () => {
  const watch = await createWatch();
  await using shop = await watch.createSite({ interval: 10 });
  const { id } = await watch.group({ monitorIds: [shop.id] });
  await watch.engine.runOnce();
  await watch.pauseGroup(id, true);
  await watch.pauseGroup(id, false);
  await watch.engine.runOnce();
  expect(shop.asked).toHaveLength(2);
  expect(await watch.readStatus(shop.id)).toBe("up");
  await watch.advance(10);
  expect(await watch.readBeats(shop.id)).toHaveLength(3);
});

test("monitors of a paused group are neither checked nor measured, even if they are not paused themselves", async () => {
  const watch = await createWatch();
  await using shop = await watch.createSite({ interval: 10 });
  await watch.engine.runOnce();
  const { id } = await watch.group({ monitorIds: [shop.id] });
  await watch.pauseGroup(id, true);
  await watch.changeMonitor(shop.id, { paused: true });
  await watch.changeMonitor(shop.id, { paused: false, name: "Till" });
  await watch.advance(3_600);
  expect(shop.asked).toHaveLength(1);
  expect((await watch.readGroupById(id)).paused).toBe(true);
  const { json } = await watch.api("GET", `/api/v1/monitors/${shop.id}/uptime`);
  expect(json.data.days).toMatchObject([{ upSeconds: 1, downSeconds: 0, unknownSeconds: 0 }]);
  await watch.pauseGroup(id, false);
  await watch.engine.runOnce();
  expect(shop.asked).toHaveLength(2);
});

test("a pause discards a result that arrives before the engine reads the event", async () => {
  const world = await startSlowCheck();
  await using shop = world.shop;
  await world.changeMonitor(shop.id, { paused: true });
  shop.release(replyWith(500));
  await world.running;
  await expectNothingFound(world, shop.id);
});

describe("a changed monitor", () => {
  test("is checked again immediately; the result for its old url is discarded", async () => {
    const { engine, changeMonitor, readBeats, readStateChanges, running, ...world } =
      await startSlowCheck();
    await using shop = world.shop;
    shop.setReply(replyWith(), "/new");
    await changeMonitor(shop.id, { url: shop.at("/new") });
    await Promise.all([engine.runOnce(), running]);
    shop.release(replyWith(500));
    expect(shop.asked.map(({ path }) => path)).toEqual(["/", "/new"]);
    expect((await readBeats(shop.id)).map(({ status }) => status)).toEqual(["up"]);
    expect((await readStateChanges()).map(({ type }) => type)).toEqual(["monitor.up"]);
  });

  test("keeps its state and its failures when its url changes", async () => {
    const { engine, advance, changeMonitor, readMonitor, createSite } = await createWatch();
    await using shop = await createSite();
    shop.failNow();
    await engine.runOnce();
    const before = await readMonitor(shop.id);
    await advance(1);
    await changeMonitor(shop.id, { url: shop.at("/new") });
    await engine.runOnce();
    const { status, statusSince } = await readMonitor(shop.id);
    expect([status, statusSince]).toEqual(["down", before.statusSince]);
    expect(shop.asked.at(-1)?.path).toBe("/new");
  });

  test("gets no extra check after a change of its name, retries or severity", async () => {
    const { advance, engine, changeMonitor, readStatus, readStateChanges, createSite } =
      await createWatch();
    await using shop = await createSite({ interval: 3_600, retries: 5 });
    await engine.runOnce();
    await changeMonitor(shop.id, { name: "Till", retries: 0, autoIncidentSeverity: "minor" });
    await engine.runOnce();
    expect(shop.asked).toHaveLength(1);
    shop.failNow();
    await advance(3_600);
    expect(await readStatus(shop.id)).toBe("down");
    expect((await readStateChanges()).map(({ type }) => type)).toEqual([
      "monitor.up",
      "monitor.down",
    ]);
  });

  test("is not checked after a move into a paused group", async () => {
    const { engine, group, pauseGroup, changeMonitor, advance, createSite } = await createWatch();
    await using shop = await createSite({ interval: 10 });
    await engine.runOnce();
    const { id: groupId } = await group();
    await pauseGroup(groupId, true);
    await changeMonitor(shop.id, { groupId });
    await advance(30);
    expect(shop.asked).toHaveLength(1);
    await changeMonitor(shop.id, { groupId: null });
    await engine.runOnce();
    expect(shop.asked).toHaveLength(2);
  });
});

describe("a deleted monitor", () => {
  test("aborts the running check, which stores nothing", async () => {
    const world = await startSlowCheck();
    await using shop = world.shop;
    await world.api("DELETE", `/api/v1/monitors/${shop.id}`);
    const before = dumpTables(world);
    await world.engine.runOnce();
    await world.running;
    shop.release(replyWith(500));
    await world.advance(60);
    expect(dumpTables(world)).toBe(before);
    expect(shop.asked).toHaveLength(1);
  });

  test("discards a result that arrives before the engine reads the event", async () => {
    const world = await startSlowCheck();
    await using shop = world.shop;
    await world.api("DELETE", `/api/v1/monitors/${shop.id}`);
    const before = dumpTables(world);
    shop.release(replyWith(500));
    await world.running;
    expect(dumpTables(world)).toBe(before);
  });
});
