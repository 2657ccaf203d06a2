import { expect, test } from "bun:test";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import { readSince } from "../../../src/events/log.ts";
import { replyWith, hang, reset, startTarget } from "../../support/target.ts";
import { type Watch, createWatch } from "../../support/check-board.ts";

/** Events of the appliance about itself. */
const readTroubles = async ({ store }: Watch) =>
  (await readSince(store, 0, 10_000)).filter(({ type }) => type === "appliance.troubled");

/** Two monitors that were up; the appliance stalls for some seconds during their next checks. */
async function stallDuringChecks(watch: Watch, seconds: number, then = replyWith(500)) {
  const shop = await watch.createSite({ interval: 10, autoIncidentSeverity: "critical" });
  await watch.advance(10);
  const requestCount = shop.asked.length;
  shop.setReply(hang);
  const passing = watch.advance(10);
  await shop.waitUntilRequested(requestCount + 1);
  watch.time.now += seconds * 1000;
  shop.setReply(replyWith());
  shop.release(then);
  await passing;
  return shop;
}

test("a failure during a stall of the appliance is unknown: no change, no incident, no downtime", async () => {
  for (const failure of [replyWith(500), reset]) {
    const watch = await createWatch();
    await using shop = await stallDuringChecks(watch, 3, failure);
    const heartbeats = await watch.readBeats(shop.id);
    expect(heartbeats.filter(({ status }) => status !== "up")).toMatchObject([
      {
        status: "unknown",
        message: "Not judged: Signalbox was briefly blocked and could not check.",
      },
    ]);
    expect(await watch.readMonitor(shop.id)).toMatchObject({ status: "up", uptime24h: 1 });
    expect((await watch.readStateChanges()).map(({ type }) => type)).toEqual(["monitor.up"]);
    expect((await watch.api("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
  }
});

test("an unknown result does not replace the reason of an outage; the heartbeat has its own message", async () => {
  const watch = await createWatch();
  await using shop = await watch.createSite({ interval: 10, successThreshold: 2 });
  const standStill = async () => {
    const requestCount = shop.asked.length;
    shop.setReply(hang);
    const passing = watch.advance(10);
    await shop.waitUntilRequested(requestCount + 1);
    watch.time.now += 3_000;
    shop.release(replyWith(500));
    await passing;
    expect((await watch.readBeats(shop.id)).at(-1)).toMatchObject({
      status: "unknown",
      message: "Not judged: Signalbox was briefly blocked and could not check.",
    });
  };
  const readText = async () => {
    const { status, lastMessage } = await watch.readMonitor(shop.id);
    return [status, lastMessage];
  };
  shop.failNow();
  await watch.advance(10);
  const down = ["down", "HTTP 500 (Internal Server Error), expected 200-299."];
  expect(await readText()).toEqual(down);
  await standStill();
  expect(await readText()).toEqual(down);
  shop.recoverNow();
  await watch.advance(10);
  expect(await readText()).toEqual(["down", expect.stringContaining("Good result 1 of 2.")]);
  await watch.advance(10);
  expect((await readText())[0]).toBe("up");
  // For a monitor that is up, the message reports that it can't be judged.
  await standStill();
  expect(await readText()).toEqual([
    "up",
    "Not judged: Signalbox was briefly blocked and could not check.",
  ]);
});

test("a successful result counts despite a stall of any length", async () => {
  const watch = await createWatch();
  await using shop = await stallDuringChecks(watch, 3, replyWith());
  expect(new Set((await watch.readBeats(shop.id)).map(({ status }) => status))).toEqual(
    new Set(["up"]),
  );
  expect(await readTroubles(watch)).toEqual([]);
});

test("trouble of the appliance is reported once per organization, and again after five quiet minutes", async () => {
  const watch = await createWatch();
  const { engine, time, ours, theirs, advance } = watch;
  await using shop = await startTarget();
  const standStill = async (...monitorsOf: (typeof ours)[]) => {
    const before = shop.asked.length;
    shop.setReply(hang);
    const body = { type: "http", name: "Shop", url: shop.at(), interval: 3_600 };
    for (const { api } of monitorsOf) await api("POST", "/api/v1/monitors", { body });
    const running = engine.runOnce();
    await shop.waitUntilRequested(before + monitorsOf.length);
    time.now += 5_000;
    shop.setReply(replyWith());
    shop.release(replyWith(500));
    await running;
  };
  const summarize = async () =>
    (await readTroubles(watch)).map(({ organizationId, subjectId, data }) => {
      expect(subjectId).toBe("checks");
      expect(data).toMatchObject({
        message: "Signalbox was briefly blocked and could not check.",
      });
      return organizationId;
    });
  await standStill(ours, theirs, ours);
  await advance(60);
  await standStill(ours);
  expect((await summarize()).toSorted()).toEqual([ours.id, theirs.id].toSorted());
  await advance(300);
  await standStill(ours);
  expect((await summarize()).slice(2)).toEqual([ours.id]);
});

test("a failure during a jump of the clock is unknown", async () => {
  for (const seconds of [5, -3_600]) {
    const watch = await createWatch();
    const engine = new CheckEngine(watch.appliance);
    await engine.runOnce();
    await using shop = await watch.createSite();
    shop.setReply(hang);
    const running = engine.runOnce();
    await shop.waitUntilRequested(1);
    watch.time.now += seconds * 1000;
    shop.release(replyWith(500));
    await running;
    expect(await watch.readBeats(shop.id)).toMatchObject([
      { status: "unknown", message: "Not judged: the clock of this machine jumped." },
    ]);
    expect((await readTroubles(watch)).map(({ data }) => data)).toMatchObject([
      { message: "The clock of this machine jumped." },
    ]);
  }
});

test("a check that throws an error is unknown, is logged and stops no other check", async () => {
  const { engine, database, monitor, readStateChanges, readBeats, createSite, logged } =
    await createWatch();
  const { id } = await monitor({ type: "tcp", name: "Database", host: "127.0.0.1", port: 1 });
  await using shop = await createSite();
  database.run("UPDATE monitors SET settings = '{}' WHERE id = ?", [id]);
  await engine.runOnce();
  expect(await readBeats(id)).toMatchObject([
    { status: "unknown", message: "Not judged: the check itself failed; see the log." },
  ]);
  expect(logged.join("\n")).toMatch(/a check failed unexpectedly .*"tcp".*TypeError/);
  expect((await readStateChanges()).map(({ type, subjectId }) => [type, subjectId])).toEqual([
    ["monitor.up", shop.id],
  ]);
});

test("a monitor whose secrets can't be decrypted is unknown and stops no other check", async () => {
  const { engine, database, readStatus, readBeats, createSite } = await createWatch();
  await using locked = await createSite({ bearerToken: "CANARY" });
  await using shop = await createSite();
  const sealed = '{"bearerToken":"v1.AAAA.AAAA.AAAA"}';
  database.run("UPDATE monitors SET secrets = ? WHERE id = ?", [sealed, locked.id]);
  await engine.runOnce();
  expect(await readBeats(locked.id)).toMatchObject([
    {
      status: "unknown",
      message: "Not judged: the secrets of the monitor can't be opened with this secret.key.",
    },
  ]);
  expect(locked.asked).toEqual([]);
  expect(await readStatus(shop.id)).toBe("up");
});
