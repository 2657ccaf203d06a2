/** Deliveries to a failing receiver: retries, order, and restarts. */
import { describe, expect, test } from "bun:test";
import { createAppliance } from "../support/appliance.ts";
import { createPager } from "../support/pager.ts";
import { replyWith, hang, type Reply, reset } from "../support/target.ts";

const down = "monitor.down Backup";
const up = "monitor.up Backup";

/** A monitor that went down, and its channel, whose receiver has these responses. */
async function createOutage(reply: Reply = replyWith(500), settings = {}) {
  const pager = await createPager();
  const hook = await pager.inbox(settings, reply);
  const backup = await pager.createWatchedJob([hook]);
  await backup.changeState("down");
  const readNextAttempt = async () =>
    (await pager.readDeliveries(hook))[0].nextAttemptAt as string | null;
  return {
    ...pager,
    hook,
    backup,
    /** Advances to the next attempt; returns the seconds since `from`, or null if there is none. */
    next: async (from: number) => {
      const at = await readNextAttempt();
      if (at === null) return null;
      const before = hook.asked.length;
      pager.time.now = Date.parse(at) - 1;
      await pager.later(0);
      expect(hook.asked).toHaveLength(before);
      pager.time.now += 1;
      await pager.later(0);
      expect(hook.asked).toHaveLength(before + 1);
      return (pager.time.now - from) / 1000;
    },
  };
}

describe("a failed delivery is retried", () => {
  test("after 5 s, 15 s, 1 min, 5 min, then every 15 min for 24 hours, and then given up", async () => {
    const { hook, next, time, later, readDeliveries } = await createOutage();
    await using _ = hook;
    await later(5);
    const first = time.now;
    const attempts: number[] = [];
    for (let at = await next(first); at !== null; at = await next(first)) attempts.push(at);
    expect(attempts.slice(0, 6)).toEqual([5, 20, 80, 380, 1_280, 2_180]);
    expect(attempts.at(-1)).toBe(380 + 95 * 900);
    await later(86_400);
    expect(hook.asked).toHaveLength(100);
    const [delivery] = await readDeliveries(hook);
    expect(delivery).toMatchObject({
      status: "failed",
      error: "The receiver responded with HTTP 500 (Internal Server Error).",
      nextAttemptAt: null,
      deliveredAt: null,
    });
    expect(delivery.attempts).toHaveLength(100);
  });

  for (const [random, factor] of [
    [0, 0.8],
    [1, 1.2],
  ] as const)
    test(`up to a fifth sooner or later: × ${factor}`, async () => {
      const { hook, next, time, later, restart } = await createOutage();
      await using _ = hook;
      restart(random);
      await later(5);
      const first = time.now;
      const waits = [5, 15, 60, 300, 900, 900];
      let expected = 0;
      for (const wait of waits)
        expect(await next(first)).toBeCloseTo((expected += wait * factor), 3);
    });

  test("with the same id and body each time, even after a restart", async () => {
    const { hook, later, restart } = await createOutage(reset);
    await using _ = hook;
    for (const seconds of [10, 6, 16, 61]) {
      await later(seconds);
      restart();
    }
    expect(hook.asked.length).toBeGreaterThan(3);
    const sent = hook.asked.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`);
    expect(new Set(sent).size).toBe(1);
  });

  test("after the receiver's Retry-After, up to an hour", async () => {
    const { hook, next, time, later } = await createOutage(
      replyWith(429, "", { "retry-after": "3600" }),
    );
    await using _ = hook;
    await later(5);
    expect(await next(time.now)).toBe(3_600);
    hook.setReply(replyWith(503, "", { "retry-after": "1" }));
    expect(await next(time.now)).toBe(3_600);
    expect(await next(time.now)).toBe(60);
  });

  test("but not after HTTP 410, which is permanent", async () => {
    const { hook, later, readDeliveries, readChannel } = await createOutage(replyWith(410));
    await using _ = hook;
    await later();
    await later(86_400);
    const [delivery] = await readDeliveries(hook);
    expect(hook.asked).toHaveLength(1);
    expect(delivery).toMatchObject({ status: "failed", nextAttemptAt: null });
    expect(delivery.error).toContain("HTTP 410");
    expect((await readChannel(hook)).lastError).toBe(delivery.error);
  });

  for (const status of [401, 403, 404]) {
    test(`after HTTP ${status}, which can be a proxy's temporary response, other channels are notified at once, and it arrives`, async () => {
      const world = await createOutage(replyWith(status));
      const { hook, later, inbox, readDeliveries, readChannel, backup } = world;
      await using _ = hook;
      await using other = await inbox({ default: true });
      await later();
      await later();
      expect(other.listTitles()).toEqual([expect.stringContaining("channel.failed")]);
      const [delivery] = await readDeliveries(hook);
      expect(delivery).toMatchObject({ status: "pending" });
      expect((await readChannel(hook)).lastError).toContain(`HTTP ${status}`);
      hook.setReply(replyWith());
      await later(60);
      expect((await readChannel(hook)).lastError).toBeNull();
      await backup.changeState("up");
      await later();
      expect(hook.listTitles().filter((one) => one === up)).toHaveLength(1);
      expect(await readDeliveries(hook)).toMatchObject([
        { status: "delivered" },
        { status: "delivered" },
      ]);
    });

    test(`after HTTP ${status} it is given up within an hour, and reported once`, async () => {
      const { hook, later, next, time, inbox, readDeliveries } = await createOutage(
        replyWith(status),
      );
      await using _ = hook;
      await using other = await inbox({ default: true });
      await later(5);
      const first = time.now;
      const attempts: number[] = [];
      for (let at = await next(first); at !== null; at = await next(first)) attempts.push(at);
      expect(attempts).toEqual([5, 20, 80, 380, 1_280, 2_180, 3_080]);
      await later(86_400);
      expect(hook.asked).toHaveLength(8);
      expect(await readDeliveries(hook)).toMatchObject([{ status: "failed" }]);
      expect(other.asked).toHaveLength(1);
    });
  }

  test("for a day if it looked permanent for less than an hour", async () => {
    const { hook, later, next, time, readDeliveries } = await createOutage(replyWith(404));
    await using _ = hook;
    await later(5);
    const first = time.now;
    for (let tries = 0; tries < 6; tries++) await next(first);
    hook.setReply(replyWith(500));
    await next(first);
    hook.setReply(replyWith(404));
    await next(first);
    expect(await readDeliveries(hook)).toMatchObject([{ status: "pending" }]);
  });

  test("a Retry-After delays the whole channel, even after a restart", async () => {
    const world = await createOutage(replyWith(429, "", { "retry-after": "600" }));
    const { hook, later, createWatchedJob, restart, inbox } = world;
    await using _ = hook;
    await using other = await inbox();
    await later(5);
    hook.setReply(replyWith());
    const more = await createWatchedJob([hook, other], { name: "Other" });
    await more.changeState("down");
    for (const seconds of [100, 200, 200]) {
      await later(seconds);
      restart();
    }
    expect([hook.asked.length, other.asked.length]).toEqual([1, 1]);
    await later(120);
    expect(hook.listTitles()).toEqual([down, down, "monitor.down Other"]);
  });

  test("a Retry-After with a date is honored unless the date has passed", async () => {
    const pager = await createPager();
    const formatDate = (seconds: number) => new Date(pager.time.now + seconds * 1000).toUTCString();
    await using hook = await pager.inbox({}, (response) =>
      replyWith(503, "", { "retry-after": formatDate(400) })(response),
    );
    const backup = await pager.createWatchedJob([hook]);
    await backup.changeState("down");
    await pager.later(5);
    expect(hook.asked).toHaveLength(1);
    await pager.later(390);
    expect(hook.asked).toHaveLength(1);
    hook.setReply((response) => replyWith(503, "", { "retry-after": formatDate(-400) })(response));
    await pager.later(12);
    expect(hook.asked).toHaveLength(2);
    await pager.later(20);
    expect(hook.asked).toHaveLength(3);
  });

  test("together with everything that waits, once a delivery succeeds", async () => {
    const { hook, later, createWatchedJob, readDeliveries } = await createOutage();
    await using _ = hook;
    for (const wait of [10, 6, 16, 61, 301]) await later(wait);
    const other = await createWatchedJob([hook], { name: "Other" });
    await other.changeState("down");
    hook.setReply(replyWith());
    await later(5);
    expect(hook.listTitles().slice(-2).toSorted()).toEqual([down, "monitor.down Other"]);
    expect((await readDeliveries(hook)).map(({ status }) => status)).toEqual([
      "delivered",
      "delivered",
    ]);
  });
});

describe("the order:", () => {
  test("an outage that can't be delivered delays its end, but no other deliveries", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox();
    hook.setReply((response) => {
      const { body } = hook.asked.at(-1) as { body: string };
      const isPoison = body.includes("Backup");
      replyWith(isPoison ? 500 : 200)(response);
    });
    const readUsed = () => hook.listTitles().filter((one) => !one.endsWith("Backup"));
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await later();
    for (const name of ["A", "B", "C"]) {
      const job = await createWatchedJob([hook], { name });
      await job.changeState("down");
      await later();
      await job.changeState("up");
      await later();
    }
    await backup.changeState("up");
    await later();
    expect(readUsed()).toEqual(
      ["A", "B", "C"].flatMap((name) => [`monitor.down ${name}`, `monitor.up ${name}`]),
    );
    expect(hook.listTitles()).not.toContain(up);
    hook.setReply(replyWith());
    await later(900);
    expect(hook.listTitles().slice(-2)).toEqual([down, up]);
  });

  test("while two messages fail no others are tried", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox({}, replyWith(500));
    const names = ["A", "B", "C", "D", "E"];
    for (const name of names) {
      await (await createWatchedJob([hook], { name })).changeState("down");
      await later();
    }
    await later(60);
    expect(new Set(hook.received().map(({ id }) => id)).size).toBe(2);
    hook.setReply(replyWith());
    await later(300);
    await later();
    const titles = new Set(hook.listTitles());
    expect(titles).toEqual(new Set(names.map((name) => `monitor.down ${name}`)));
  });
});

describe("the end of an outage", () => {
  test("is not sent if the outage was given up", async () => {
    const { hook, backup, later, readDeliveries } = await createOutage(replyWith(410));
    await using _ = hook;
    await later();
    hook.setReply(replyWith());
    await backup.changeState("up");
    await later();
    expect(hook.listTitles()).toEqual([down]);
    expect(await readDeliveries(hook)).toMatchObject([{ status: "failed" }]);
  });

  test("is left out of a digest without affecting its other alerts", async () => {
    const { hook, backup, createWatchedJob, later } = await createOutage(replyWith(410));
    await using _ = hook;
    await later();
    hook.setReply(replyWith());
    const other = await createWatchedJob([hook], { name: "Other" });
    await backup.changeState("up");
    await other.changeState("down");
    await later();
    expect(hook.received().at(-1)).toMatchObject({
      type: "monitor.down",
      data: { monitor: { name: "Other" } },
    });
  });

  test("is sent if the outage arrived, even if a reminder of it was given up", async () => {
    const { hook, backup, later, deliverTwiceAfter } = await createOutage(replyWith());
    await using _ = hook;
    await later();
    await backup.change({ reminderInterval: 600 });
    hook.setReply(replyWith(410));
    await deliverTwiceAfter(600);
    hook.setReply(replyWith());
    await backup.changeState("up");
    await later();
    expect(hook.listTitles()).toEqual([down, "monitor.reminder Backup", up]);
  });
});

describe("the machine stops", () => {
  test("before an outage was read: it is sent once", async () => {
    const { hook, later, crashBefore: diesBefore, restart } = await createOutage(replyWith());
    await using _ = hook;
    diesBefore('insert into "deliveries"');
    const failure = await later().catch(String);
    expect(failure).toBe("Error: The power failed.");
    restart();
    await later();
    await later(3_600);
    expect(hook.listTitles()).toEqual([down]);
  });

  test("before it was sent: it is sent once", async () => {
    const { hook, later, crashBefore: diesBefore, restart } = await createOutage(replyWith());
    await using _ = hook;
    diesBefore("set status = 'sending'");
    await later();
    expect(hook.listTitles()).toEqual([]);
    restart();
    await later();
    await later(3_600);
    expect(hook.listTitles()).toEqual([down]);
  });

  test("before the attempt is stored: it is sent again with the same ID, and before its end", async () => {
    const {
      hook,
      backup,
      later,
      crashBefore: diesBefore,
      restart,
    } = await createOutage(replyWith());
    await using _ = hook;
    diesBefore("delivery_attempts");
    await later();
    restart();
    await backup.changeState("up");
    await later();
    await later();
    await later(3_600);
    expect(hook.listTitles()).toEqual([down, down, up]);
    const [first, second] = hook.asked;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"] as string);
    expect(second?.body).toBe(first?.body as string);
  });

  test("on purpose: deliveries in flight finish, and are not sent again", async () => {
    const { hook, time, later, restart } = await createOutage(hang);
    await using _ = hook;
    await later(0);
    time.now += 10_000;
    const engine = restart();
    await engine.start();
    await hook.waitUntilRequested(1);
    const stopping = engine.stop();
    hook.release();
    await stopping;
    restart();
    await later();
    await later(3_600);
    expect(hook.listTitles()).toEqual([down]);
  });

  test("and starts again, twenty times: nothing is repeated, in any state", async () => {
    const pager = await createPager();
    await using hook = await pager.inbox();
    const alertChannelIds = [hook.id];
    await using well = await pager.createSite({ alertChannelIds });
    await using ill = await pager.createSite({ alertChannelIds });
    ill.failNow();
    const [quiet, broken] = [
      await pager.createWatchedJob([hook]),
      await pager.createWatchedJob([hook]),
    ];
    await pager.engine.runOnce();
    await broken.changeState("down");
    await pager.later();
    expect(hook.listTitles()).toEqual(["monitor.down Shop", down]);
    for (let restart = 0; restart < 20; restart++) {
      const { engine, alerts } = createAppliance({
        store: pager.store,
        clock: () => pager.time.now,
        vault: pager.appliance.vault,
      });
      await engine.runOnce();
      pager.time.now += 60_000;
      await engine.runOnce();
      await alerts.runOnce();
    }
    const states = await Promise.all([well.id, ill.id, quiet.id, broken.id].map(pager.readStatus));
    expect(states).toEqual(["up", "down", "up", "down"]);
    expect([well.asked.length, ill.asked.length].every((count) => count > 10)).toBe(true);
    expect(hook.asked).toHaveLength(1);
  });
});
