/** Digests: how alerts of one channel are collected into messages. */
import { describe, expect, test } from "bun:test";
import { exchange } from "../../src/core/outgoing/http/exchange.ts";
import { appendEvent } from "../../src/events/log.ts";
import { createPager } from "../support/pager.ts";
import { replyWith, reset, startTarget } from "../support/target.ts";

/** Monitors A, B, C, … on one channel, and times in seconds from the start. */
async function createDigestWorld() {
  const pager = await createPager();
  const hook = await pager.inbox();
  const begin = pager.time.now + 60_000;
  const failNewJob = async (name: string) =>
    (await pager.createWatchedJob([hook], { name: `Job ${name}` })).changeState("down");
  return {
    ...pager,
    hook,
    /** At this second these monitors go down, and due deliveries are sent. */
    at: async (second: number, ...names: string[]) => {
      pager.time.now = begin + second * 1000;
      for (const name of names) await failNewJob(name);
      await pager.later(0);
    },
  };
}

const maxBytes = 20_000;

test("hundreds of monitors that go down at once are a few messages below 20 kB, in order", async () => {
  const { inbox, createJob, later, readStateChanges, readDeliveries } = await createPager();
  await using hook = await inbox();
  const alertChannelIds = [hook.id];
  const numbers = Array.from({ length: 200 }, (_, index) => index);
  const jobs = await Promise.all(
    numbers.map((number) =>
      createJob({ name: `Job ${number}`, interval: 86_400, alertChannelIds }),
    ),
  );
  await Promise.all(jobs.map(({ report }) => report({ status: "down" })));
  await later();
  const sizes = hook.asked.map(({ body }) => Buffer.byteLength(body));
  for (const size of sizes) expect(size).toBeLessThan(maxBytes);
  for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThan(maxBytes - 1_000);
  const went = (await readStateChanges()).map(({ subjectId }) => subjectId);
  expect(sizes.length).toBeGreaterThan(2);
  expect(went).toHaveLength(200);
  expect(hook.alerts().map(({ data }) => data.monitor.id)).toEqual(went);
  const deliveries = await readDeliveries(hook);
  expect(deliveries.map(({ id }) => id)).toEqual(hook.received().map(({ id }) => id));
  expect(deliveries.flatMap(({ alertIds }) => alertIds)).toHaveLength(200);
});

test("alerts that do not fit into a digest are sent in another one", async () => {
  const { hook, at } = await createDigestWorld();
  await using _ = hook;
  const names = Array.from({ length: 60 }, (_unused, index) => `${"long ".repeat(40)}${index}`);
  await at(0, ...names.slice(0, 20));
  await at(4.5, ...names.slice(20));
  await at(5.4);
  expect(hook.asked).toEqual([]);
  await at(5.6);
  expect(hook.asked.length).toBeGreaterThan(1);
  expect(hook.listTitles()).toEqual(names.map((name) => `monitor.down Job ${name}`));
});

test("the size of a digest is that of its encoding, also across a restart", async () => {
  const { inbox, createJob, later, restart } = await createPager();
  await using hook = await inbox({}, replyWith(500));
  for (let number = 0; number < 60; number++) {
    const name = `${'\u{1f6f0}"'.repeat(100)} ${number}`;
    const { report } = await createJob({ name, interval: 86_400, alertChannelIds: [hook.id] });
    await report({ status: "up" });
    await report({ status: "down" });
    if (number % 5 === 0) {
      await later(1);
      restart();
    }
  }
  hook.setReply(replyWith());
  for (let minute = 0; minute < 30; minute++) await later(60);
  const taken = hook.received().filter((_, index) => index > 2);
  expect(new Set(hook.alerts().map(({ data }) => data.monitor.id)).size).toBe(60);
  expect(taken.length).toBeGreaterThan(2);
  for (const { body } of hook.asked) expect(Buffer.byteLength(body)).toBeLessThan(maxBytes);
});

test("more than 1,000 alerts are several messages for every service", async () => {
  await using chat = await startTarget(replyWith(200, "ok"));
  const { channel, store, ours, time, later, readDeliveries } = await createPager();
  const team = await channel({ type: "mattermost", webhookUrl: chat.at(), default: true });
  const at = new Date(time.now).toISOString();
  const type = "appliance.troubled" as const;
  const event = { organizationId: ours.id, subjectId: "checks", at, type };
  const about = { problem: "checks", severity: "warning" } as const;
  const messages = Array.from({ length: 1_002 }, (_, index) => `Trouble ${index}.`);
  await store.atomic(
    messages.map((message) => appendEvent({ ...event, data: { ...about, message } })),
  );
  await later();
  expect((await readDeliveries(team)).map(({ alertIds }) => alertIds.length)).toEqual([1_000, 2]);
  expect(chat.asked).toHaveLength(2);
});

describe("an alert", () => {
  test("is sent alone after five seconds", async () => {
    const { hook, at } = await createDigestWorld();
    await using _ = hook;
    await at(0, "A");
    await at(4.9);
    expect(hook.asked).toEqual([]);
    await at(5.1);
    expect(hook.received()).toMatchObject([{ type: "monitor.down" }]);
  });

  test("within five seconds of the first is sent with it, at least one second later", async () => {
    const { hook, at } = await createDigestWorld();
    await using _ = hook;
    await at(0, "A");
    await at(3, "B");
    await at(4.5, "C");
    await at(5.4);
    expect(hook.asked).toEqual([]);
    await at(5.6);
    await at(5.7, "D");
    expect(hook.received()).toMatchObject([{ type: "digest" }]);
    expect(hook.listTitles()).toEqual(
      ["Job A", "Job B", "Job C"].map((name) => `monitor.down ${name}`),
    );
    await at(11);
    expect(hook.listTitles().at(-1)).toBe("monitor.down Job D");
    expect(hook.received()).toHaveLength(2);
  });

  test("after the first was sent is a separate message", async () => {
    const { hook, at } = await createDigestWorld();
    await using _ = hook;
    await at(0, "A");
    await at(5.1);
    await at(5.2, "B");
    await at(10.1);
    expect(hook.asked).toHaveLength(1);
    await at(10.3);
    expect(hook.received().map(({ type }) => type)).toEqual(["monitor.down", "monitor.down"]);
  });

  test("that repeats delays a message for at most ten seconds", async () => {
    const { hook, at } = await createDigestWorld();
    await using _ = hook;
    const seconds = [0, 1, 2, 3, 4, 4.8, 5.6, 6.4, 7.2, 8, 8.8, 9.6];
    for (const second of seconds) await at(second, `at ${second}`);
    expect(hook.asked).toEqual([]);
    await at(10.1);
    expect(hook.listTitles()).toEqual(seconds.map((second) => `monitor.down Job at ${second}`));
    expect(hook.asked).toHaveLength(1);
  });

  test("of the same monitor within five seconds is in the same message, in order", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook]);
    for (const status of ["down", "up", "down"] as const) await backup.changeState(status);
    await later();
    expect(hook.listTitles()).toEqual([
      "monitor.down Backup",
      "monitor.up Backup",
      "monitor.down Backup",
    ]);
    expect(hook.asked).toHaveLength(1);
  });
});

for (const [type, secrets] of [
  ["pagerduty", { routingKey: "r".repeat(32) }],
  ["opsgenie", { apiKey: "key" }],
] as const)
  test(`${type} gets every alert separately and at once, because each is a case`, async () => {
    await using service = await startTarget(replyWith(202, JSON.stringify({ status: "success" })));
    const { channel, createWatchedJob, later, readDeliveries, readMessages } = await createPager({
      exchange: (request, context) => exchange({ ...request, url: new URL(service.at()) }, context),
    });
    const cases = await channel({ type, ...secrets });
    for (const name of ["A", "B", "C"])
      await (await createWatchedJob([cases], { name })).changeState("down");
    await later(0);
    expect(service.asked).toHaveLength(3);
    const deliveries = await readDeliveries(cases);
    expect(deliveries.map((one) => [one.type, one.status, one.alertIds])).toEqual(
      readMessages().map(({ id }) => ["monitor.down", "delivered", [id]]),
    );
  });

test("a monitor whose alerts are rejected delays no others, however many are collected", async () => {
  await using service = await startTarget();
  service.setReply((response) => {
    const isPoison = service.asked.at(-1)?.body.includes("Poison") === true;
    replyWith(isPoison ? 500 : 202, JSON.stringify({ status: "success" }))(response);
  });
  const { channel, createWatchedJob, later } = await createPager({
    exchange: (request, context) => exchange({ ...request, url: new URL(service.at()) }, context),
  });
  const cases = await channel({ type: "pagerduty", routingKey: "r".repeat(32) });
  const poison = await createWatchedJob([cases], { name: "Poison", reminderInterval: 60 });
  const otherJob = await createWatchedJob([cases], { name: "Fine" });
  await poison.changeState("down");
  for (let minute = 0; minute < 30; minute++) await later(60);
  await otherJob.changeState("down");
  for (let minute = 0; minute < 10; minute++) await later(60);
  expect(service.asked.filter(({ body }) => body.includes("Fine"))).toHaveLength(1);
});

test("an alert has one id, alone or in a digest, on any channel, and in the log", async () => {
  const { inbox, createWatchedJob, later, readMessages } = await createPager();
  await using inboxForAll = await inbox();
  await using one = await inbox();
  const [a, b] = [
    await createWatchedJob([inboxForAll, one], { name: "A" }),
    await createWatchedJob([inboxForAll], { name: "B" }),
  ];
  await a.changeState("down");
  await b.changeState("down");
  await later();
  const idsOf = ({ alerts }: typeof inboxForAll) => alerts().map(({ data }) => data.alertId);
  const [ofA, ofB] = readMessages().map(({ id }) => id);
  expect(idsOf(inboxForAll)).toEqual([ofA, ofB]);
  expect(idsOf(one)).toEqual([ofA]);
  expect(one.received()[0]?.id).not.toBe(inboxForAll.received()[0]?.id as string);
});

describe("while a channel is down", () => {
  test("new alerts are collected, and sent as one message when it works again", async () => {
    const { inbox, createWatchedJob, later, readDeliveries } = await createPager();
    await using hook = await inbox({}, replyWith(503));
    const names = Array.from({ length: 12 }, (_, index) => `Job ${index}`);
    const jobs = await Promise.all(names.map((name) => createWatchedJob([hook], { name })));
    for (const job of jobs) {
      await job.changeState("down");
      await later(300);
    }
    hook.setReply(replyWith());
    const before = hook.asked.length;
    await later(900);
    await later(900);
    const arrived = hook.received().slice(before);
    expect(arrived.length).toBeLessThanOrEqual(3);
    const counts = arrived.map(({ data }) => data.alerts?.length ?? 1);
    expect(counts.toSorted((a, b) => a - b).at(-1)).toBe(10);
    expect(hook.listTitles().slice(before).toSorted()).toEqual(
      names.map((name) => `monitor.down ${name}`).toSorted(),
    );
    const deliveries = await readDeliveries(hook);
    expect(deliveries.map(({ status }) => status)).toEqual(arrived.map(() => "delivered"));
  });

  /** Two failing deliveries, about A and B; the next attempts are at second 393. */
  async function setUpTwoFailing() {
    const world = await createDigestWorld();
    world.hook.setReply(replyWith(500));
    await world.at(0, "A");
    await world.at(6);
    await world.at(7, "B");
    for (const second of [13, 18, 33, 93]) await world.at(second);
    return world;
  }

  test("an alert that joins a waiting digest causes an early retry, too", async () => {
    const { hook, at, readDeliveries } = await setUpTwoFailing();
    await at(93.9, "C");
    await at(108);
    hook.setReply(replyWith());
    await at(108.5, "D");
    await at(125);
    const deliveries = await readDeliveries(hook);
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(["delivered"]));
  });

  test("an alert that becomes due during an attempt causes another one", async () => {
    const { hook, at, time, readDeliveries } = await setUpTwoFailing();
    await at(390, "C");
    hook.setReply((response) => {
      time.now += 10_000;
      hook.setReply(replyWith(500));
      replyWith(500)(response);
    });
    await at(394);
    hook.setReply(replyWith());
    await at(425);
    const deliveries = await readDeliveries(hook);
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(["delivered"]));
  });

  test("nothing is lost or reordered in 23 hours", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox({}, replyWith(500));
    const backup = await createWatchedJob([hook]);
    const expected: string[] = [];
    for (let hour = 0; hour < 23; hour++) {
      const status = hour % 2 === 0 ? "down" : "up";
      await backup.changeState(status);
      expected.push(`monitor.${status} Backup`);
      await later(3_600);
    }
    const before = hook.asked.length;
    hook.setReply(replyWith());
    for (let quarter = 0; quarter < 4; quarter++) await later(900);
    expect(hook.listTitles().slice(before)).toEqual(expected);
  });

  test("each alert arrives with one id and in order, despite failures and restarts", async () => {
    const {
      inbox,
      createWatchedJob,
      later,
      restart,
      crashBefore: diesBefore,
      readMessages,
    } = await createPager();
    let dice = 7;
    const nextRandom = () => (dice = (dice * 16_807) % 2_147_483_647) / 2_147_483_647;
    const taken = new Set<string>();
    await using hook = await inbox();
    hook.setReply((response) => {
      const roll = nextRandom();
      if (roll < 0.4) taken.add(String(response.req.headers["webhook-id"]));
      (roll < 0.4 ? replyWith() : roll < 0.7 ? replyWith(500) : reset)(response);
    });
    const jobs = await Promise.all(
      ["A", "B", "C"].map((name) => createWatchedJob([hook], { name })),
    );
    for (let turn = 0; turn < 30; turn++) {
      for (const job of jobs)
        if (nextRandom() < 0.7) await job.changeState(turn % 2 === 0 ? "down" : "up");
      const roll = nextRandom();
      if (roll < 0.3) diesBefore("set status = 'sending'");
      else if (roll < 0.6) diesBefore("delivery_attempts");
      await later(240);
      restart();
    }
    hook.setReply((response) => {
      taken.add(String(response.req.headers["webhook-id"]));
      replyWith()(response);
    });
    for (let minute = 0; minute < 10; minute++) await later(60);
    const arrived = hook.alerts().filter(({ id }) => taken.has(id));
    const deliveryOf = new Map(arrived.map(({ id, data }) => [data.alertId, id]));
    const all = readMessages();
    expect(all.length).toBeGreaterThan(30);
    expect(new Set(deliveryOf.keys())).toEqual(new Set(all.map(({ id }) => id)));
    for (const { id, data } of arrived) expect(deliveryOf.get(data.alertId)).toBe(id);
    for (const { id } of jobs) {
      const alertsOfMonitor = arrived.filter(({ data }) => data.monitor.id === id);
      const inOrder = all.filter(({ data }) => data.monitor.id === id);
      expect([...new Set(alertsOfMonitor.map(({ data }) => data.alertId))]).toEqual(
        inOrder.map((one) => one.id),
      );
    }
  });
});
