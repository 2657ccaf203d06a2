import { expect, test } from "bun:test";
import { createAlertEngine } from "../../src/alerting/deciding/engine.ts";
import { createSubscriberReceivers } from "../../src/status-pages/subscribers/receivers.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";

/** Alerts of a machine that is suspended or loses its network during a test. */
async function troubled() {
  const made = await createPager();
  const world = { lacked: null as string | null, runningSince: 0 };
  const { appliance } = made;
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
    made.time.now += 10_000;
    await alerts.runOnce();
  };
  return { ...made, world, send };
}

test("after a suspension no reminder is sent for a monitor until it is checked again", async () => {
  const made = await troubled();
  await using hook = await made.inbox();
  await using shop = await made.createSite({
    interval: 10,
    reminderInterval: 300,
    alertChannelIds: [hook.id],
  });
  shop.failNow();
  await made.pass(10);
  await made.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  made.time.now += 8 * 3_600_000;
  made.world.runningSince = made.time.now;
  await made.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop"]);
  await made.pass(70);
  await made.send();
  expect(hook.listTitles()).toEqual(["monitor.down Shop", "monitor.reminder Shop"]);
});

test("a delivery that fails because of this machine is retried, and is not the channel's failure", async () => {
  const made = await troubled();
  await using hook = await made.inbox({}, replyWith(503));
  await using shop = await made.createSite({ interval: 10, alertChannelIds: [hook.id] });
  const channelOf = async () =>
    (await made.api("GET", `/api/v1/alert-channels/${hook.id}`)).json.data;
  made.world.lacked = "this machine had no network";
  shop.failNow();
  await made.pass(10);
  await made.send();
  expect(hook.asked.length).toBe(1);
  expect(await channelOf()).toMatchObject({ lastError: null, lastDeliveryAt: null });
  const deliveries = (await made.api("GET", `/api/v1/alert-channels/${hook.id}/deliveries`)).json
    .data;
  expect(deliveries[0]).toMatchObject({ error: "Not sent: this machine had no network." });
  made.world.lacked = null;
  hook.setReply(replyWith());
  await made.send();
  expect(hook.listTitles().at(-1)).toBe("monitor.down Shop");
  expect((await channelOf()).lastDeliveryAt).not.toBeNull();
});
