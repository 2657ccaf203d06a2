import { describe, expect, test } from "bun:test";
import { unknownId } from "../support/appliance.ts";
import { getFreePort } from "../support/binary.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createPager } from "../support/pager.ts";
import { replyWith, hang, reset } from "../support/target.ts";

/** Requests for a test alert. */
async function setUpTester() {
  const pager = await createPager();
  const send = async ({ id }: { id: string }, headers = {}, api = pager.api) =>
    api("POST", `/api/v1/alert-channels/${id}/test`, { headers });
  return {
    ...pager,
    send,
    /** The delivery of a test alert. */
    sent: async (channel: { id: string }) => {
      const { status, json } = await send(channel);
      expect(status).toBe(200);
      return json.data;
    },
  };
}

describe("a test alert", () => {
  test("is sent at once and returns its outcome, as in the log", async () => {
    const { inbox, sent, readDeliveries, readChannel, readMessages, time } = await setUpTester();
    await using hook = await inbox({ name: "Deploy bot" });
    const delivery = await sent(hook);
    const at = new Date(time.now).toISOString();
    expect(delivery).toEqual({
      id: expect.any(String),
      channelId: hook.id,
      type: "test",
      status: "delivered",
      caseChange: null,
      alertIds: [expect.any(String)],
      attempts: [
        { at, outcome: "delivered", message: expect.any(String), durationMs: expect.any(Number) },
      ],
      error: null,
      nextAttemptAt: null,
      createdAt: at,
      deliveredAt: at,
      receipt: null,
      receiptAt: null,
    });
    expect(hook.received()).toMatchObject([
      {
        id: delivery.id,
        type: "test",
        data: { alertId: delivery.alertIds[0], channel: { id: hook.id, name: "Deploy bot" } },
      },
    ]);
    expect(await readDeliveries(hook)).toEqual([delivery]);
    expect(readMessages()).toMatchObject([{ id: delivery.alertIds[0], type: "test" }]);
    expect(await readChannel(hook)).toMatchObject({ lastDeliveryAt: at, lastError: null });
  });

  test("that fails has the reason in one sentence, is not retried, and is shown on the channel", async () => {
    const { inbox, sent, later, readChannel, readDeliveries } = await setUpTester();
    await using hook = await inbox({}, replyWith(500, "gossip"));
    const delivery = await sent(hook);
    const error = "The receiver responded with HTTP 500 (Internal Server Error).";
    expect(delivery).toMatchObject({ status: "failed", error, deliveredAt: null });
    expect(delivery.attempts).toMatchObject([{ outcome: "failed", message: error }]);
    expect((await readChannel(hook)).lastError).toBe(error);
    await later(86_400);
    expect(hook.asked).toHaveLength(1);
    expect(await readDeliveries(hook)).toEqual([delivery]);
    hook.setReply(replyWith());
    await sent(hook);
    expect((await readChannel(hook)).lastError).toBe(null);
  });

  test("reaches a disabled channel, too", async () => {
    const { inbox, sent } = await setUpTester();
    await using hook = await inbox({ enabled: false });
    expect((await sent(hook)).status).toBe("delivered");
    expect(hook.asked).toHaveLength(1);
  });

  test("to a closed port or a broken connection fails with the reason", async () => {
    const { inbox, channel, sent } = await setUpTester();
    const closedChannel = await channel({
      type: "webhook",
      url: `http://127.0.0.1:${getFreePort()}/`,
    });
    expect(await sent(closedChannel)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/refused.*\.$/),
    });
    await using hook = await inbox({}, reset);
    const { status, error } = await sent(hook);
    expect([status, error.split(". ").length]).toEqual(["failed", 1]);
  });

  test("to a name that resolves to a blocked address fails without a connection", async () => {
    const { channel, sent } = await setUpTester();
    const blocked = await channel({ type: "webhook", url: "http://localhost:3210/hook" });
    const { status, error } = await sent(blocked);
    expect([status, error]).toEqual(["failed", expect.stringContaining("this appliance itself")]);
  });

  test("by e-mail without a mail server reports that, and arrives once one is set", async () => {
    const { api, channel, sent } = await setUpTester();
    const mail = await channel();
    const { status, error } = await sent(mail);
    expect([status, error]).toEqual(["failed", expect.stringMatching(/mail server.*\.$/)]);
    await using server = await startMailServer();
    const { host, port, from } = server.smtp();
    const smtp = { host, port, from, tls: "none" };
    expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
    expect(await sent(mail)).toMatchObject({ status: "delivered", error: null });
    expect(server.getOnlyMail().to).toEqual(["oncall@team.example"]);
  });

  test("that arrives makes waiting alerts due at once", async () => {
    const { inbox, createWatchedJob, sent, later } = await setUpTester();
    await using hook = await inbox({}, replyWith(500));
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    for (const wait of [10, 6, 16, 61]) await later(wait);
    hook.setReply(replyWith());
    const before = hook.asked.length;
    await sent(hook);
    await later(0);
    expect(hook.listTitles().slice(before)).toEqual(["test On-call", "monitor.down Backup"]);
  });
});

test("a test alert to a channel that is deleted meanwhile gets the response of an unknown channel", async () => {
  const { inbox, send, api } = await setUpTester();
  await using hook = await inbox({}, hang);
  const sending = send(hook);
  await hook.waitUntilRequested(1);
  await api("DELETE", `/api/v1/alert-channels/${hook.id}`);
  hook.release();
  const { status, json } = await sending;
  expect([status, json.error.code]).toEqual([404, "NOT_FOUND"]);
});

describe("nothing is sent", () => {
  test("with a read key, without a key, or to an unknown or another organization's channel", async () => {
    const { inbox, send, ours, theirs, stranger, readMessages } = await setUpTester();
    await using hook = await inbox();
    const responses = [
      await send(hook, {}, ours.reader),
      await send(hook, {}, stranger),
      await send(hook, {}, theirs.api),
      await send({ id: unknownId }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([403, 401, 404, 404]);
    expect(hook.asked).toEqual([]);
    expect(readMessages()).toEqual([]);
  });

  test("until five minutes after its sender died", async () => {
    const { inbox, send, time, database } = await setUpTester();
    await using hook = await inbox();
    const once = { "Idempotency-Key": "once" };
    const first = await send(hook, once);
    database.run("UPDATE idempotent_answers SET status = 0, body = ''");
    expect((await send(hook, once)).status).toBe(409);
    time.now += 5 * 60_000;
    const again = await send(hook, once);
    expect([again.status, again.text === first.text]).toEqual([200, false]);
    expect((await send(hook, once)).text).toBe(again.text);
    expect(hook.received()).toHaveLength(2);
  });

  test("again with the same Idempotency-Key: the first response is returned", async () => {
    const { inbox, send } = await setUpTester();
    await using hook = await inbox();
    const once = { "Idempotency-Key": "once" };
    const first = await send(hook, once);
    hook.setReply(replyWith(500));
    const second = await send(hook, once);
    expect([second.status, second.json]).toEqual([first.status, first.json]);
    expect(hook.asked).toHaveLength(1);
    await send(hook, { "Idempotency-Key": "again" });
    expect(hook.asked).toHaveLength(2);
  });
});

test("test alerts are limited per organization and minute, for all its channels", async () => {
  const { inbox, send, time, theirs } = await setUpTester();
  await using first = await inbox();
  await using second = await inbox();
  for (let count = 0; count < 30; count++)
    expect((await send(count % 2 === 0 ? first : second)).status).toBe(200);
  const refused = await send(first);
  expect([refused.status, refused.json.error.code]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(first.asked.length + second.asked.length).toBe(30);
  expect((await send({ id: unknownId })).status).toBe(404);
  const body = { type: "webhook", name: "Theirs", url: second.at() };
  const foreignChannel = await theirs.api("POST", "/api/v1/alert-channels", { body });
  expect((await send(foreignChannel.json.data, {}, theirs.api)).status).toBe(200);
  time.now += 60_000;
  expect((await send(first)).status).toBe(200);
});
