import { expect, test } from "bun:test";
import { formatTimestamp } from "../../../src/core/time/clock.ts";
import { makeUnstorable } from "../../support/unwritable-store.ts";
import { replyWith, hang } from "../../support/target.ts";
import { createWatch } from "../../support/check-board.ts";

/** A monitor that is up and one that is down, on a disk that is now full. */
async function createFullAppliance() {
  const watch = await createWatch();
  const disk = makeUnstorable(watch.store, watch.time);
  const shop = await watch.createSite({ name: "Shop", interval: 10 });
  const mail = await watch.createSite({ name: "Mail", interval: 10 });
  mail.failNow();
  await watch.advance(20);
  disk.fill();
  const filledAt = watch.time.now;
  await watch.advance(10);
  return { ...watch, disk, shop, mail, filledAt };
}

const readMetrics = async ({ app, ours }: Awaited<ReturnType<typeof createWatch>>) => {
  const headers = { Host: "localhost", Authorization: `Bearer ${ours.writeKey.key}` };
  return (await app.handle(new Request("http://localhost/metrics", { headers }))).text();
};

const readHealth = async ({ app }: Awaited<ReturnType<typeof createWatch>>) => {
  const response = await app.handle(
    new Request("http://localhost/healthz", { headers: { Host: "localhost" } }),
  );
  return [response.status, await response.json()];
};

test("monitors with unstored results are shown as not judged in REST, metrics and /healthz within ten seconds", async () => {
  const world = await createFullAppliance();
  await using shop = world.shop;
  await using mail = world.mail;
  shop.failNow();
  const up = await world.readMonitor(shop.id);
  expect(up).toMatchObject({
    status: "up",
    lastMessage: expect.stringMatching(/^Not judged: results have not been stored since /),
  });
  expect(Date.parse(up.notJudgedSince)).toBeGreaterThanOrEqual(world.filledAt - 250);
  expect(Date.parse(up.notJudgedSince)).toBeLessThanOrEqual(world.filledAt + 10_000);
  expect(up.lastCheckedAt < formatTimestamp(world.filledAt + 1)).toBe(true);
  // An outage stays visible: hiding it would be worse.
  expect(await world.readMonitor(mail.id)).toMatchObject({
    status: "down",
    lastMessage: "HTTP 500 (Internal Server Error), expected 200-299.",
    notJudgedSince: up.notJudgedSince,
  });
  const text = await readMetrics(world);
  const filterLines = (name: string) =>
    text.split("\n").filter((line) => line.startsWith(`signalbox_${name}`));
  expect(filterLines("storage_failing")).toEqual(["signalbox_storage_failing 1"]);
  expect(filterLines("monitor_up{").map((line) => line.slice(-2))).toEqual([" 0"]);
  expect(filterLines("monitor_judged{").map((line) => line.slice(-2))).toEqual([" 0", " 0"]);
  expect(text).toContain('status="unknown"} 1');
  const [status, health] = await readHealth(world);
  expect([status, health]).toEqual([
    503,
    { status: "failing", reasons: ["storage"], since: expect.any(String) },
  ]);
  expect(Date.parse(health.since)).toBeLessThanOrEqual(world.filledAt + 10_000);
});

test("once storage works again, all monitors are judged, and the queued results count", async () => {
  const world = await createFullAppliance();
  await using shop = world.shop;
  await using mail = world.mail;
  shop.failNow();
  mail.recoverNow();
  await world.advance(10);
  const before = (await world.readStateChanges()).length;
  world.disk.free();
  await world.advance(10);
  const [down, up] = [await world.readMonitor(shop.id), await world.readMonitor(mail.id)];
  expect(down).toMatchObject({ status: "down", notJudgedSince: null });
  expect(up).toMatchObject({ status: "up", notJudgedSince: null });
  expect(
    (await world.readStateChanges())
      .slice(before)
      .map(({ type }) => type)
      .sort(),
  ).toEqual(["monitor.down", "monitor.up"]);
  expect(await readHealth(world)).toEqual([200, { status: "ok" }]);
  expect(await readMetrics(world)).toContain("signalbox_storage_failing 0\n");
});

test("a monitor stores the time since which its checks can't be judged until one is", async () => {
  const watch = await createWatch();
  await using shop = await watch.createSite({ interval: 10, retryInterval: 10 });
  await watch.advance(10);
  const standStill = async () => {
    const requestCount = shop.asked.length;
    shop.setReply(hang);
    const passing = watch.advance(10);
    await shop.waitUntilRequested(requestCount + 1);
    watch.time.now += 3_000;
    shop.release(replyWith(500));
    await passing;
  };
  await standStill();
  await standStill();
  const unknown = (await watch.readBeats(shop.id)).filter(({ status }) => status === "unknown");
  expect(unknown.length).toBeGreaterThan(1);
  expect((await watch.readMonitor(shop.id)).notJudgedSince).toBe(unknown[0]?.at);
  shop.recoverNow();
  await watch.advance(10);
  expect(await watch.readMonitor(shop.id)).toMatchObject({ status: "up", notJudgedSince: null });
});
