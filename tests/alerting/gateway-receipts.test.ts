/** Receipts of text messages: one that does not reach the phone counts as a failed delivery. */
import { expect, test } from "bun:test";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** A policy that sends a text message, and after 30 minutes notifies another channel. */
async function createWorld() {
  const world = await createPager();
  const gateway = await startTarget(replyWith(200, '{ "id": "m1", "state": "queued" }'));
  const phone = await world.channel({
    type: "sms",
    name: "Phone",
    preset: "custom",
    to: "+491701234567",
    url: gateway.at("/send"),
    body: '{ "text": "{{text}}" }',
    receiptIdPath: "$.id",
    receiptUrl: gateway.at("/messages/{{receipt}}"),
    receiptStatePath: "$.state",
    receiptDelivered: ["delivered"],
    receiptFailed: ["failed"],
  });
  const backup = await world.inbox({ name: "Backup" });
  const steps = [phone, backup].map(({ id }, index) => ({
    afterMinutes: index * 30,
    targets: [{ type: "channel", id }],
  }));
  const body = { name: "On-call", steps };
  const policy = (await world.api("POST", "/api/v1/escalation-policies", { body })).json.data;
  const job = await world.createWatchedJob([], { escalationPolicyId: policy.id });
  await job.change({ alertChannelIds: [] });
  const report = (state: string) => gateway.setReply(replyWith(200, JSON.stringify({ state })));
  return {
    ...world,
    gateway,
    phone: { id: phone.id as string },
    backup,
    job,
    report,
    polls: () => gateway.asked.filter(({ path }) => path === "/messages/m1").length,
    readTimeline: async () => {
      const [alert] = (await world.readAlerts()) as [Json];
      const { timeline } = await world.readAlert(alert.id);
      return (timeline as Json[])
        .filter(({ channel }) => channel?.name === "Phone")
        .map(({ type, message }) => [type, message]);
    },
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await backup[Symbol.asyncDispose]();
    },
  };
}

const lost = "The gateway reports that the phone did not get the message.";

test("a message that does not reach the phone runs the next step at once, even after a restart", async () => {
  await using world = await createWorld();
  const { job, later, report, restart, backup, phone } = world;
  await job.changeState("down");
  await later();
  const [sent] = await world.readDeliveries(phone);
  expect(sent).toMatchObject({ status: "delivered", receipt: null });
  expect(backup.received()).toEqual([]);
  restart();
  report("failed");
  for (let i = 0; i < 4; i++) await later(10);
  expect(backup.listTitles()).toContain("monitor.down Backup");
  expect((await world.readDeliveries(phone))[0]).toMatchObject({
    status: "failed",
    error: lost,
    receipt: lost,
    deliveredAt: null,
  });
  expect(await world.readTimeline()).toEqual([
    ["sent", "Backup is down"],
    ["failed", lost],
  ]);
  expect(await world.readChannel(phone)).toMatchObject({ lastError: lost });
  const polls = world.polls();
  for (let i = 0; i < 4; i++) await later(60);
  expect(world.polls()).toBe(polls);
  // A message that the gateway accepts does not end the failure of the channel. Its receipt does.
  report("queued");
  world.gateway.setReply(replyWith(200, '{ "id": "m1", "state": "queued" }'));
  const path = `/api/v1/alert-channels/${phone.id}`;
  await world.api("POST", `${path}/test`);
  expect(await world.readChannel(phone)).toMatchObject({ lastError: lost });
  report("delivered");
  await later(15);
  expect(await world.readChannel(phone)).toMatchObject({ lastError: null });
});

test("a message that reaches the phone says so, and the policy goes on as planned", async () => {
  await using world = await createWorld();
  const { job, later, report, backup, phone } = world;
  await job.changeState("down");
  await later();
  world.gateway.setReply(replyWith(500));
  await later(15);
  world.gateway.setReply(replyWith(200, "not JSON"));
  await later(15);
  report("delivered");
  await later(15);
  expect(backup.received()).toEqual([]);
  expect((await world.readDeliveries(phone))[0]).toMatchObject({
    status: "delivered",
    error: null,
    receipt: "Delivered to the phone.",
  });
  expect(await world.readTimeline()).toEqual([
    ["sent", "Backup is down"],
    ["delivered", null],
    ["delivered", "Delivered to the phone."],
  ]);
});

test("a receipt that never comes is awaited for a day, ever more rarely", async () => {
  await using world = await createWorld();
  const { job, later, phone } = world;
  await job.changeState("down");
  await later();
  for (let minute = 0; minute < 60; minute++) await later(60);
  expect(world.polls()).toBeGreaterThan(10);
  expect(world.polls()).toBeLessThan(30);
  await later(86_400);
  await later(60);
  expect((await world.readDeliveries(phone))[0]).toMatchObject({
    status: "delivered",
    receipt: "No receipt arrived in time.",
  });
});
