import { expect, test } from "bun:test";
import { createAlertEngine } from "../../src/alerting/deciding/engine.ts";
import { createSubscriberReceivers } from "../../src/status-pages/subscribers/receivers.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";

/** Alerts of a machine that is suspended or loses its network during a test. */
async function setUpTrouble() {
  const pager = await createPager();
  const world = { lacked: null as string | null, runningSince: 0 };
  const { appliance } = pager;
  const alerts = createAlertEngine({
    ...appliance,
    subscribers: createSubscriberReceivers(appliance),
    random: () => 0.5,
    lackedSince: () => world.lacked,
    runningSince: () => world.runningSince,
  });
  /** Creates deliveries from events, and sends them after the digest delay. */
  const send = async () => {
    await alerts.runOnce();
    pager.time.now += 10_000;
    await alerts.runOnce();
  };
  return { ...pager, world, send };
}

test("after a suspension no reminder is sent for a monitor until it is checked again", async () => {
  const world = await setUpTrouble();
  await using hook = await world.inbox();
  await using shop = await world.createSite({
    interval: 10,
    reminderInterval: 300,
    alertChannelIds: [hook.id],
  });
  shop.failNow();
  await world.advance(10);
  await world.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  world.time.now += 8 * 3_600_000;
  world.world.runningSince = world.time.now;
  await world.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  await world.advance(70);
  await world.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop", "monitor.reminder Shop"]);
});

test("after a restart, a monitor that is checked every 30 minutes is not reported down before its check", async () => {
  const world = await setUpTrouble();
  await using hook = await world.inbox();
  await using shop = await world.createSite({
    interval: 1_800,
    reminderInterval: 3_600,
    alertChannelIds: [hook.id],
  });
  shop.failNow();
  await world.advance(1_800);
  await world.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  shop.recoverNow();
  world.time.now += 3_600_000;
  world.world.runningSince = world.time.now;
  for (let minute = 0; minute < 24; minute++) {
    world.time.now += 60_000;
    await world.send();
  }
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  await world.advance(1_800);
  await world.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
});

test.each([["restart"], ["standstill"]])(
  "after a %s, a failed job that reports daily is not silent until its next report",
  async (kind) => {
    const world = await setUpTrouble();
    await using hook = await world.inbox();
    const fields = { interval: 86_400, alertChannelIds: [hook.id] };
    const reminded = await world.createJob({ ...fields, name: "Backup", reminderInterval: 3_600 });
    const snoozed = await world.createJob({ ...fields, name: "Import" });
    for (const job of [reminded, snoozed]) await job.report({ status: "down" });
    await world.send();
    const { json } = await world.api("GET", `/api/v1/alerts?monitorId=${snoozed.id}`);
    await world.api("POST", `/api/v1/alerts/${json.data[0].id}/snooze`, {
      body: { until: new Date(world.time.now + 3_600_000).toISOString() },
    });
    const passedMs = kind === "standstill" ? 3_610_000 : 3_500_000;
    world.time.now += passedMs;
    world.world.runningSince = world.time.now;
    hook.asked.length = 0;
    await world.send();
    expect(hook.asked).toHaveLength(0);
    for (let minute = 0; minute < 60; minute++) {
      world.time.now += 60_000;
      await world.send();
    }
    const titles = hook.listTitles().join();
    expect(titles).toContain("Backup");
    expect(titles).toContain("Import");
  },
);

test("a delivery that fails because of this machine is retried, and is not the channel's failure", async () => {
  const world = await setUpTrouble();
  await using hook = await world.inbox({}, replyWith(503));
  await using shop = await world.createSite({ interval: 10, alertChannelIds: [hook.id] });
  const channelOf = async () =>
    (await world.api("GET", `/api/v1/alert-channels/${hook.id}`)).json.data;
  world.world.lacked = "this machine had no network";
  shop.failNow();
  await world.advance(10);
  await world.send();
  expect(hook.asked.length).toBe(1);
  expect(await channelOf()).toMatchObject({ lastError: null, lastDeliveryAt: null });
  const deliveries = (await world.api("GET", `/api/v1/alert-channels/${hook.id}/deliveries`)).json
    .data;
  expect(deliveries[0]).toMatchObject({ error: "Not sent: this machine had no network." });
  world.world.lacked = null;
  hook.setReply(replyWith());
  await world.send();
  expect(hook.listTitles().at(-1)).toBe("monitor.down Shop");
  expect((await channelOf()).lastDeliveryAt).not.toBeNull();
});
