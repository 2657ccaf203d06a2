import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { publisher } from "../../support/subscribing.ts";
import { answer, hang, redirect, reset, target } from "../../support/target.ts";

describe.concurrent("a subscribed webhook", () => {
  test("with a secret is signed according to Standard Webhooks", async () => {
    await using made = await publisher();
    const key = Buffer.from("a key of thirty-two random bytes");
    await using plain = await made.hook();
    await using bare = await made.hook(answer(), { secret: key.toString("base64") });
    await using branded = await made.hook(answer(), { secret: `whsec_${key.toString("base64")}` });
    await made.incident();
    await made.send();
    expect(plain.asked[0]?.headers["webhook-signature"]).toBeUndefined();
    for (const hook of [bare, branded]) {
      const [asked] = hook.asked;
      const id = String(asked?.headers["webhook-id"]);
      const timestamp = String(asked?.headers["webhook-timestamp"]);
      expect(asked).toMatchObject({ method: "POST", path: "/hook" });
      expect(asked?.headers["content-type"]).toBe("application/json");
      expect(timestamp).toBe(String(Math.floor(made.time.now / 1000)));
      const signed = createHmac("sha256", key).update(`${id}.${timestamp}.${asked?.body}`);
      expect(asked?.headers["webhook-signature"]).toBe(`v1,${signed.digest("base64")}`);
    }
  });

  test("that fails is retried with the same id and body, and recovers", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(500, "internal gossip"));
    await made.incident();
    await made.send();
    expect(await made.subscriber(hook)).toMatchObject({
      lastError: "The receiver answered HTTP 500 (Internal Server Error).",
      lastDeliveryAt: null,
    });
    hook.reply(reset);
    await made.later(6);
    hook.reply(answer(204));
    await made.later(18);
    await made.later(3_600);
    expect(hook.asked).toHaveLength(3);
    expect(new Set(hook.received().map(({ id }) => id)).size).toBe(1);
    expect(new Set(hook.asked.map(({ body }) => body)).size).toBe(1);
    expect(await made.subscriber(hook)).toMatchObject({
      lastError: null,
      lastDeliveryAt: "2026-11-20T10:00:24.001Z",
    });
  });

  test("gets everything in order, however long it failed", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(503));
    const { id } = await made.incident({ message: "0" });
    const numbers = Array.from({ length: 30 }, (_, index) => String(index + 1));
    for (const message of numbers) {
      made.time.now += 20_000;
      await made.post(id, { message });
      await made.send();
    }
    expect(new Set(hook.heard())).toEqual(new Set(["0"]));
    hook.asked.length = 0;
    hook.reply(answer());
    await made.later(900);
    await made.later(10);
    expect(hook.heard()).toEqual(["0", ...numbers]);
    expect(new Set(hook.received().map(({ id }) => id)).size).toBe(31);
  });

  test("is retried early after a new update, once for several updates", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(500));
    const { id } = await made.incident();
    await made.send();
    for (const seconds of [6, 18, 72, 360]) await made.later(seconds);
    expect(hook.asked).toHaveLength(5);
    await made.later(60);
    expect(hook.asked).toHaveLength(5);
    for (const message of ["a", "b", "c"]) {
      await made.post(id, { message });
      await made.later(1);
    }
    expect(hook.asked).toHaveLength(6);
  });

  test("is given up after 24 hours, and then gets later notices", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(500));
    const { id } = await made.incident({ message: "first" });
    await made.send();
    for (let minutes = 0; minutes < 26 * 60; minutes += 20) await made.later(1_200);
    const tries = hook.asked.length;
    expect(tries).toBeGreaterThan(60);
    hook.reply(answer());
    await made.later(3_600);
    expect(hook.asked).toHaveLength(tries);
    await made.post(id, { message: "second" });
    await made.send();
    expect(hook.heard().slice(tries)).toEqual(["second"]);
  });

  test("that returns 410 is not retried, and gets later notices", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(410));
    const { id } = await made.incident({ message: "first" });
    await made.send();
    await made.later(86_400);
    expect(hook.heard()).toEqual(["first"]);
    expect((await made.subscriber(hook)).lastError).toStartWith("The receiver answered HTTP 410 (");
    hook.reply(answer());
    await made.post(id, { message: "second" });
    await made.send();
    expect(hook.heard()).toEqual(["first", "second"]);
    expect((await made.subscriber(hook)).lastError).toBeNull();
  });

  for (const status of [401, 403, 404])
    test(`that returns ${status} is retried for an hour, and gets later notices`, async () => {
      await using made = await publisher();
      await using hook = await made.hook(answer(status));
      const { id } = await made.incident({ message: "first" });
      await made.send();
      for (let minutes = 0; minutes < 120; minutes += 10) await made.later(600);
      const tries = hook.asked.length;
      expect(tries).toBeGreaterThan(3);
      expect(tries).toBeLessThan(10);
      await made.later(86_400);
      expect(hook.asked).toHaveLength(tries);
      hook.reply(answer());
      await made.post(id, { message: "second" });
      await made.send();
      expect(hook.heard().slice(tries)).toEqual(["second"]);
    });

  test("that returns Retry-After gets nothing else in the meantime", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(429, "", { "retry-after": "600" }));
    await using other = await made.hook();
    const { id } = await made.incident({ message: "first" });
    await made.send();
    hook.reply(answer());
    await made.post(id, { message: "second" });
    await made.later(300);
    await made.restart();
    await made.later(200);
    expect([hook.asked.length, other.asked.length]).toEqual([1, 2]);
    await made.later(101);
    expect(hook.heard()).toEqual(["first", "first", "second"]);
  });

  test("that redirects is not followed", async () => {
    await using made = await publisher();
    await using elsewhere = await made.hook();
    for (const status of [301, 302, 307, 308]) {
      await using hook = await made.hook(redirect(elsewhere.at("/stolen"), status));
      await made.incident();
      await made.send();
      expect((await made.subscriber(hook)).lastError).toStartWith(
        `The receiver answered HTTP ${status} (`,
      );
    }
    expect(elsewhere.asked.map(({ path }) => path)).toEqual(Array(4).fill("/hook"));
  });

  test("that returns Retry-After is retried after that time", async () => {
    await using made = await publisher();
    await using hook = await made.hook(answer(429, "", { "retry-after": "120" }));
    await made.incident();
    await made.send();
    await made.later(100);
    expect(hook.asked).toHaveLength(1);
    await made.later(21);
    expect(hook.asked).toHaveLength(2);
  });

  test("never gets the confirmation that mailboxes get", async () => {
    await using made = await publisher();
    await using hook = await made.hook();
    await made.signUp("ann@team.example");
    await made.send();
    expect(hook.asked).toEqual([]);
  });

  test("that hangs delays neither channels nor other subscribers, and is retried", async () => {
    await using made = await publisher();
    await using hook = await made.hook(hang);
    await using other = await made.hook();
    await using channel = await target();
    await made.channel({ type: "webhook", url: channel.at("/alerts") });
    await made.incident();
    await made.alerts.runOnce();
    made.time.now += 10_000;
    const sending = made.send();
    await Promise.all([hook.untilAsked(1), other.untilAsked(1), channel.untilAsked(1)]);
    hook.release(reset);
    await sending;
    hook.reply(answer());
    await made.later(6);
    const [first, second] = hook.received();
    expect([hook.asked.length, second?.id]).toEqual([2, first?.id]);
    expect([other.asked.length, channel.asked.length]).toEqual([1, 1]);
  });
});
