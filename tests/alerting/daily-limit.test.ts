/** The limit of an SMS channel's messages per day. */
import { describe, expect, test } from "bun:test";
import { type Exchange, exchange as sendRequest } from "../../src/core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../src/core/outgoing/failures.ts";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";
import { replyWith, startTarget } from "../support/target.ts";

const limitReached = "The limit of 2 messages per day is reached. It ends at midnight UTC.";

/** A gateway, an SMS channel with two messages per day, and a default channel. */
async function createPhone(fields: object = {}, options: Parameters<typeof createPager>[0] = {}) {
  const pager = await createPager(options);
  const gateway = await startTarget(replyWith());
  const gatewayFields = {
    preset: "custom",
    url: gateway.at("/send"),
    to: "+491701234567",
    body: '{ "text": "{{text}}" }',
    dailyLimit: 2,
    ...fields,
  };
  const { id } = await pager.channel({ type: "sms", name: "Phone", ...gatewayFields });
  const fallback = await pager.inbox({ default: true });
  return {
    ...pager,
    gateway,
    gatewayFields,
    phone: { id: id as string },
    fallback,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await fallback[Symbol.asyncDispose]();
    },
  };
}

describe("an SMS channel that has sent its messages of the day", () => {
  test("skips further deliveries with the reason, and is reported once", async () => {
    await using world = await createPhone();
    const { createWatchedJob, later, phone, gateway, fallback } = world;
    const job = await createWatchedJob([phone]);
    await job.change({ alertChannelIds: [phone.id] });
    for (const state of ["down", "up", "down", "up", "down"] as const) {
      await job.changeState(state);
      await later();
    }
    await later();
    expect(gateway.asked).toHaveLength(2);
    const deliveries = await world.readDeliveries(phone);
    expect(deliveries.map(({ status, error }) => [status, error])).toEqual([
      ["delivered", null],
      ["delivered", null],
      ["skipped", limitReached],
      // No recovery follows an outage that was not sent.
      ["skipped", limitReached],
    ]);
    expect(fallback.received().map(({ type, data }) => [type, data.message])).toEqual([
      ["channel.failed", limitReached],
    ]);
    expect(await world.readChannel(phone)).toMatchObject({ lastError: limitReached });
    const [alert] = await world.readAlerts(`&monitorId=${job.id}&status=open`);
    const { timeline } = await world.readAlert(alert?.id);
    expect(timeline).toContainEqual(
      expect.objectContaining({ type: "skipped", message: limitReached }),
    );
  });

  test("even after a restart, until the next day in UTC", async () => {
    await using world = await createPhone();
    const { createWatchedJob, later, phone, gateway, time } = world;
    const job = await createWatchedJob([phone]);
    for (const state of ["down", "up"] as const) {
      await job.changeState(state);
      await later();
    }
    world.restart();
    await job.changeState("down");
    await later();
    expect(gateway.asked).toHaveLength(2);
    time.now = Date.parse("2026-11-20T23:59:50.000Z");
    await job.changeState("up");
    await job.changeState("down");
    await later();
    expect(gateway.asked).toHaveLength(3);
    expect(await world.readChannel(phone)).toMatchObject({ lastError: null });
  });

  test("sends no test either, and tests count", async () => {
    await using world = await createPhone();
    const { api, phone, gateway } = world;
    const send = async () =>
      (await api("POST", `/api/v1/alert-channels/${phone.id}/test`)).json.data as Json;
    expect((await send()).attempts[0].message).toMatch(/^Accepted by the gateway: 1 part, \d+ /);
    await send();
    expect(await send()).toMatchObject({ status: "failed", error: limitReached });
    expect(gateway.asked).toHaveLength(2);
    await world.changeChannel(phone, { dailyLimit: 3 });
    expect(await send()).toMatchObject({ status: "delivered" });
  });

  test("counts messages whose outcome is unknown, but no rejected ones", async () => {
    const lost = new TargetFailure("Timed out after 10 s while waiting for the response.");
    let isLost = false;
    const exchange: Exchange = (...request) =>
      isLost ? Promise.reject(lost) : sendRequest(...request);
    await using world = await createPhone({}, { exchange });
    const { api, phone, gateway } = world;
    gateway.setReply(replyWith(400));
    const send = async () =>
      (await api("POST", `/api/v1/alert-channels/${phone.id}/test`)).json.data.error as string;
    for (let attempt = 0; attempt < 3; attempt++) await send();
    expect(gateway.asked).toHaveLength(3);
    isLost = true;
    for (let attempt = 0; attempt < 2; attempt++) expect(await send()).toBe(lost.message);
    expect(await send()).toBe(limitReached);
  });

  test("sends no more when tests and deliveries are sent at once", async () => {
    await using world = await createPhone();
    const { api, createWatchedJob, later, phone, gateway } = world;
    const job = await createWatchedJob([phone]);
    await job.change({ alertChannelIds: [phone.id] });
    await job.changeState("down");
    const tests = Array.from({ length: 8 }, () =>
      api("POST", `/api/v1/alert-channels/${phone.id}/test`),
    );
    await Promise.all([later(), ...tests]);
    expect(gateway.asked).toHaveLength(2);
  });

  test("counts a message that was being sent when the process died", async () => {
    await using world = await createPhone({ dailyLimit: 1 });
    const { createWatchedJob, crashBefore, later, phone, gateway, restart, time } = world;
    const job = await createWatchedJob([phone]);
    await job.change({ alertChannelIds: [phone.id] });
    await job.changeState("down");
    crashBefore("delivery_attempts");
    await later();
    restart();
    time.now += 60_000;
    await later();
    expect(gateway.asked).toHaveLength(1);
    expect((await world.readDeliveries(phone)).map(({ status }) => status)).toEqual(["skipped"]);
  });

  test("keeps its count when it is edited while a message is sent", async () => {
    await using world = await createPhone({ dailyLimit: 1 });
    const { api, phone, gateway } = world;
    const path = `/api/v1/alert-channels/${phone.id}/test`;
    gateway.setReply((response) => {
      void world.changeChannel(phone, { name: "Mobile" }).then(() => response.end("ok"));
    });
    await api("POST", path);
    expect((await api("POST", path)).json.data.error).toContain("The limit of 1 message per day");
    expect(gateway.asked).toHaveLength(1);
  });

  test("counts neither those of other channels nor those of other organizations", async () => {
    await using world = await createPhone();
    const { api, channel, gateway, gatewayFields, phone } = world;
    const { id } = await channel({ type: "sms", name: "Other", ...gatewayFields });
    for (let attempt = 0; attempt < 3; attempt++)
      for (const one of [phone.id, id]) await api("POST", `/api/v1/alert-channels/${one}/test`);
    expect(gateway.asked).toHaveLength(4);
  });
});

test("a skipped delivery to a person continues the escalation at once", async () => {
  await using world = await createPhone();
  const { api, createWatchedJob, later, gateway, gatewayFields, fallback } = world;
  const ada = await signInMember(world, "member", { name: "Ada" });
  const path = "/dashboard/api/v1/contact-methods";
  const body = { type: "sms", name: "Phone", ...gatewayFields };
  const { id } = (await ada.page("POST", path, { body })).json.data;
  await ada.page("POST", `${path}/${id}/code`);
  const code = /\b\d{6}\b/.exec(gateway.asked.at(-1)?.body ?? "")?.[0];
  expect((await ada.page("POST", `${path}/${id}/verify`, { body: { code } })).status).toBe(200);
  // A field that does not change where messages are sent leaves it verified. The code counts as a message.
  const limited = await ada.page("PATCH", `${path}/${id}`, { body: { dailyLimit: 1 } });
  expect(limited.json.data.verifiedAt).not.toBeNull();
  const refused = await ada.page("POST", `${path}/${id}/code`);
  expect(refused.json.data).toMatchObject({ delivered: false });
  expect(gateway.asked).toHaveLength(1);
  const steps = [
    { afterMinutes: 0, targets: [{ type: "person", id: ada.id }] },
    { afterMinutes: 30, targets: [{ type: "channel", id: fallback.id }] },
  ];
  const policy = await api("POST", "/api/v1/escalation-policies", { body: { name: "On", steps } });
  const job = await createWatchedJob([], { escalationPolicyId: policy.json.data.id });
  await job.change({ alertChannelIds: [] });
  const before = gateway.asked.length;
  await job.changeState("down");
  for (let step = 0; step < 4; step++) await later();
  expect(gateway.asked).toHaveLength(before);
  expect(fallback.listTitles().toSorted()).toEqual([
    "channel.failed Ada: Phone",
    "monitor.down Backup",
  ]);
});
