import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createPublisher } from "../../support/publisher.ts";
import { replyWith, hang, replyWithRedirect, reset, startTarget } from "../../support/target.ts";

describe.concurrent("a subscribed webhook", () => {
  test("with a secret is signed according to Standard Webhooks", async () => {
    await using publisher = await createPublisher();
    const key = Buffer.from("a key of thirty-two random bytes");
    await using plain = await publisher.addHook();
    await using bare = await publisher.addHook(replyWith(), { secret: key.toString("base64") });
    await using branded = await publisher.addHook(replyWith(), {
      secret: `whsec_${key.toString("base64")}`,
    });
    await publisher.createIncident();
    await publisher.send();
    expect(plain.asked[0]?.headers["webhook-signature"]).toBeUndefined();
    for (const hook of [bare, branded]) {
      const [asked] = hook.asked;
      const id = String(asked?.headers["webhook-id"]);
      const timestamp = String(asked?.headers["webhook-timestamp"]);
      expect(asked).toMatchObject({ method: "POST", path: "/hook" });
      expect(asked?.headers["content-type"]).toBe("application/json");
      expect(timestamp).toBe(String(Math.floor(publisher.time.now / 1000)));
      const signed = createHmac("sha256", key).update(`${id}.${timestamp}.${asked?.body}`);
      expect(asked?.headers["webhook-signature"]).toBe(`v1,${signed.digest("base64")}`);
    }
  });

  test("that fails is retried with the same id and body, and recovers", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(500, "internal gossip"));
    await publisher.createIncident();
    await publisher.send();
    expect(await publisher.subscriber(hook)).toMatchObject({
      lastError: "The receiver responded with HTTP 500 (Internal Server Error).",
      lastDeliveryAt: null,
    });
    hook.setReply(reset);
    await publisher.sendAfter(6);
    hook.setReply(replyWith(204));
    await publisher.sendAfter(18);
    await publisher.sendAfter(3_600);
    expect(hook.asked).toHaveLength(3);
    expect(new Set(hook.received().map(({ id }) => id)).size).toBe(1);
    expect(new Set(hook.asked.map(({ body }) => body)).size).toBe(1);
    expect(await publisher.subscriber(hook)).toMatchObject({
      lastError: null,
      lastDeliveryAt: "2026-11-20T10:00:24.001Z",
    });
  });

  test("gets everything in order, however long it failed", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(503));
    const { id } = await publisher.createIncident({ message: "0" });
    const numbers = Array.from({ length: 30 }, (_, index) => String(index + 1));
    for (const message of numbers) {
      publisher.time.now += 20_000;
      await publisher.postUpdate(id, { message });
      await publisher.send();
    }
    expect(new Set(hook.listMessages())).toEqual(new Set(["0"]));
    hook.asked.length = 0;
    hook.setReply(replyWith());
    await publisher.sendAfter(900);
    await publisher.sendAfter(10);
    expect(hook.listMessages()).toEqual(["0", ...numbers]);
    expect(new Set(hook.received().map(({ id }) => id)).size).toBe(31);
  });

  test("is retried early after a new update, once for several updates", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(500));
    const { id } = await publisher.createIncident();
    await publisher.send();
    for (const seconds of [6, 18, 72, 360]) await publisher.sendAfter(seconds);
    expect(hook.asked).toHaveLength(5);
    await publisher.sendAfter(60);
    expect(hook.asked).toHaveLength(5);
    for (const message of ["a", "b", "c"]) {
      await publisher.postUpdate(id, { message });
      await publisher.sendAfter(1);
    }
    expect(hook.asked).toHaveLength(6);
  });

  test("is given up after 24 hours, and then gets later notices", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(500));
    const { id } = await publisher.createIncident({ message: "first" });
    await publisher.send();
    for (let minutes = 0; minutes < 26 * 60; minutes += 20) await publisher.sendAfter(1_200);
    const tries = hook.asked.length;
    expect(tries).toBeGreaterThan(60);
    hook.setReply(replyWith());
    await publisher.sendAfter(3_600);
    expect(hook.asked).toHaveLength(tries);
    await publisher.postUpdate(id, { message: "second" });
    await publisher.send();
    expect(hook.listMessages().slice(tries)).toEqual(["second"]);
  });

  test("that returns 410 is not retried, and gets later notices", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(410));
    const { id } = await publisher.createIncident({ message: "first" });
    await publisher.send();
    await publisher.sendAfter(86_400);
    expect(hook.listMessages()).toEqual(["first"]);
    expect((await publisher.subscriber(hook)).lastError).toStartWith(
      "The receiver responded with HTTP 410 (",
    );
    hook.setReply(replyWith());
    await publisher.postUpdate(id, { message: "second" });
    await publisher.send();
    expect(hook.listMessages()).toEqual(["first", "second"]);
    expect((await publisher.subscriber(hook)).lastError).toBeNull();
  });

  for (const status of [401, 403, 404])
    test(`that returns ${status} is retried for an hour, and gets later notices`, async () => {
      await using publisher = await createPublisher();
      await using hook = await publisher.addHook(replyWith(status));
      const { id } = await publisher.createIncident({ message: "first" });
      await publisher.send();
      for (let minutes = 0; minutes < 120; minutes += 10) await publisher.sendAfter(600);
      const tries = hook.asked.length;
      expect(tries).toBeGreaterThan(3);
      expect(tries).toBeLessThan(10);
      await publisher.sendAfter(86_400);
      expect(hook.asked).toHaveLength(tries);
      hook.setReply(replyWith());
      await publisher.postUpdate(id, { message: "second" });
      await publisher.send();
      expect(hook.listMessages().slice(tries)).toEqual(["second"]);
    });

  test("that returns Retry-After gets nothing else in the meantime", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(429, "", { "retry-after": "600" }));
    await using other = await publisher.addHook();
    const { id } = await publisher.createIncident({ message: "first" });
    await publisher.send();
    hook.setReply(replyWith());
    await publisher.postUpdate(id, { message: "second" });
    await publisher.sendAfter(300);
    await publisher.restart();
    await publisher.sendAfter(200);
    expect([hook.asked.length, other.asked.length]).toEqual([1, 2]);
    await publisher.sendAfter(101);
    expect(hook.listMessages()).toEqual(["first", "first", "second"]);
  });

  test("that redirects is not followed", async () => {
    await using publisher = await createPublisher();
    await using elsewhere = await publisher.addHook();
    for (const status of [301, 302, 307, 308]) {
      await using hook = await publisher.addHook(
        replyWithRedirect(elsewhere.at("/stolen"), status),
      );
      await publisher.createIncident();
      await publisher.send();
      expect((await publisher.subscriber(hook)).lastError).toStartWith(
        `The receiver responded with HTTP ${status} (`,
      );
    }
    expect(elsewhere.asked.map(({ path }) => path)).toEqual(Array(4).fill("/hook"));
  });

  test("that returns Retry-After is retried after that time", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(replyWith(429, "", { "retry-after": "120" }));
    await publisher.createIncident();
    await publisher.send();
    await publisher.sendAfter(100);
    expect(hook.asked).toHaveLength(1);
    await publisher.sendAfter(21);
    expect(hook.asked).toHaveLength(2);
  });

  test("never gets the confirmation that mailboxes get", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook();
    await publisher.signUp("ann@team.example");
    await publisher.send();
    expect(hook.asked).toEqual([]);
  });

  test("that hangs delays neither channels nor other subscribers, and is retried", async () => {
    await using publisher = await createPublisher();
    await using hook = await publisher.addHook(hang);
    await using other = await publisher.addHook();
    await using channel = await startTarget();
    await publisher.channel({ type: "webhook", url: channel.at("/alerts") });
    await publisher.createIncident();
    await publisher.alerts.runOnce();
    publisher.time.now += 10_000;
    const sending = publisher.send();
    await Promise.all([
      hook.waitUntilRequested(1),
      other.waitUntilRequested(1),
      channel.waitUntilRequested(1),
    ]);
    hook.release(reset);
    await sending;
    hook.setReply(replyWith());
    await publisher.sendAfter(6);
    const [first, second] = hook.received();
    expect([hook.asked.length, second?.id]).toEqual([2, first?.id]);
    expect([other.asked.length, channel.asked.length]).toEqual([1, 1]);
  });
});
