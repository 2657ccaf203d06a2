/** Emergencies at Pushover: confirming one acknowledges its alerts, and it ends with its alerts. */
import { describe, expect, test } from "bun:test";
import { type Receipt, selectDueReceipts } from "../../src/alerting/sending/receipts.ts";
import { soleNode } from "../../src/cluster/leases.ts";
import { createAlertsEngine } from "../support/appliance.ts";
import { createFakePushover } from "../support/fake-pushover.ts";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";
import { createPerson } from "../support/people.ts";

const settings = { userKey: "u".repeat(30), apiToken: "a".repeat(30), priority: 2 };

/** Monitors that are down, of which one emergency was sent. */
async function createWorld(names: readonly string[] = ["Shop"]) {
  const fake = createFakePushover();
  const pager = await createPager({ exchange: fake.exchange });
  fake.world.now = () => pager.time.now;
  const phone = await pager.channel({ type: "pushover", name: "Phone", ...settings });
  const jobs = [];
  for (const name of names) jobs.push(await pager.createWatchedJob([phone], { name }));
  for (const job of jobs) await job.changeState("down");
  await pager.later();
  const act = (action: string, { id }: Json) =>
    pager.api("POST", `/api/v1/alerts/${id}/${action}`, { body: {} });
  const countReceipts = () =>
    pager.database.query<{ n: number }, []>("SELECT count(*) AS n FROM alert_receipts").get()?.n;
  /** Lets time pass in steps of the engine. */
  const advance = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 5) await pager.later(5);
  };
  return { ...pager, ...fake, phone, jobs, act, countReceipts, advance };
}

describe("confirming an emergency on the phone", () => {
  test("acknowledges the alert as the channel, even after a restart", async () => {
    const { emergencies, confirm, advance, restart, readAlerts, countReceipts } =
      await createWorld();
    expect(countReceipts()).toBe(1);
    await advance(60);
    expect((await readAlerts())[0]).toMatchObject({ status: "open" });
    confirm(emergencies[0]);
    restart();
    await advance(60);
    const [alert] = (await readAlerts()) as [Json];
    expect(alert.acknowledgments).toMatchObject([{ type: "link", name: "Phone" }]);
    expect(countReceipts()).toBe(0);
    const polls = emergencies[0]?.polls ?? [];
    expect(polls.length).toBeGreaterThan(1);
    for (const [index, at] of polls.entries())
      expect(at - (polls[index - 1] ?? -Infinity)).toBeGreaterThanOrEqual(30_000);
    await advance(120);
    expect(emergencies[0]?.polls).toEqual(polls);
  });

  test("acknowledges all open alerts of a digest", async () => {
    const { emergencies, confirm, advance, act, readAlerts } = await createWorld(["A", "B", "C"]);
    expect(emergencies.map(({ title }) => title)).toEqual(["3 monitors are down"]);
    await act("acknowledge", (await readAlerts())[0]);
    confirm(emergencies[0]);
    await advance(60);
    const alerts = await readAlerts();
    expect(alerts.map(({ status }) => status)).toEqual(Array(3).fill("acknowledged"));
    expect(alerts.map(({ acknowledgments }) => acknowledgments[0].name)).toEqual([
      expect.not.stringContaining("Phone"),
      "Phone",
      "Phone",
    ]);
  });

  test("acknowledges as the person whose contact method it is", async () => {
    const world = await createWorld();
    const { ours, database, phone, emergencies, confirm, advance, readAlerts } = world;
    const ada = await createPerson(world, ours.id, "member", { name: "Ada" });
    database.run(`UPDATE alert_channels SET person_id = '${ada.id}' WHERE id = '${phone.id}'`);
    confirm(emergencies[0]);
    await advance(60);
    expect((await readAlerts())[0].acknowledgments).toMatchObject([{ type: "link", name: "Ada" }]);
  });
});

describe("an emergency ends", () => {
  const ends: [string, (world: Awaited<ReturnType<typeof createWorld>>) => Promise<unknown>][] = [
    [
      "acknowledged elsewhere",
      async ({ act, readAlerts }) => act("acknowledge", (await readAlerts())[0]),
    ],
    ["over", ({ jobs }) => jobs[0]?.changeState("up") ?? Promise.resolve()],
    ["muted", ({ jobs }) => jobs[0]?.change({ muted: true }) ?? Promise.resolve()],
  ];
  for (const [what, end] of ends)
    test(`when its alert is ${what}, although Pushover did not respond at first`, async () => {
      const setUp = await createWorld();
      const { repeated, world, advance, countReceipts } = setUp;
      expect(repeated()).toEqual(["Shop is down"]);
      await end(setUp);
      world.mode = "broken";
      await advance(20);
      expect(repeated()).toEqual(["Shop is down"]);
      world.mode = "well";
      await advance(20);
      expect(repeated()).toEqual([]);
      expect(countReceipts()).toBe(0);
    });

  test("with all its repetitions, although the response to the first was lost", async () => {
    const { jobs, world, later, advance, repeated } = await createWorld();
    await jobs[0]?.changeState("up");
    await advance(20);
    world.mode = "lost";
    await jobs[0]?.changeState("down");
    await later();
    world.mode = "well";
    await advance(60);
    expect(repeated()).toEqual(["Shop is down", "Shop is down"]);
    await jobs[0]?.changeState("up");
    await advance(20);
    expect(repeated()).toEqual([]);
  });

  test("with the last alert of its digest", async () => {
    const { jobs, advance, repeated } = await createWorld(["A", "B"]);
    await jobs[0]?.changeState("up");
    await advance(20);
    expect(repeated()).toEqual(["2 monitors are down"]);
    await jobs[1]?.changeState("up");
    await advance(20);
    expect(repeated()).toEqual([]);
  });

  test("when it expires, and is no longer read", async () => {
    const { emergencies, advance, later, countReceipts, readAlerts } = await createWorld();
    await later(3_600);
    await advance(10);
    expect(countReceipts()).toBe(0);
    const polls = emergencies[0]?.polls.length;
    await advance(60);
    expect(emergencies[0]?.polls).toHaveLength(polls ?? -1);
    expect((await readAlerts())[0].status).toBe("open");
  });

  test("for us when its channel is deleted or gets another token", async () => {
    for (const change of ["delete", "token"]) {
      const { api, phone, changeChannel, advance, countReceipts } = await createWorld();
      if (change === "delete") await api("DELETE", `/api/v1/alert-channels/${phone.id}`);
      else await changeChannel(phone, { apiToken: "b".repeat(30) });
      await advance(60);
      expect(countReceipts()).toBe(0);
    }
  });
});

test("a node without the lease of alerting reads no receipt", async () => {
  const { appliance, time, emergencies } = await createWorld();
  const leases = { ...soleNode, findNamed: () => null };
  const other = createAlertsEngine({ ...appliance, leases });
  time.now += 60_000;
  await other.runOnce();
  expect(emergencies[0]?.polls).toEqual([]);
});

test("a message without an emergency has no receipt", async () => {
  const { jobs, changeChannel, phone, advance, countReceipts, messages } = await createWorld();
  await changeChannel(phone, { priority: 1 });
  await jobs[0]?.changeState("up");
  await jobs[0]?.changeState("down");
  await advance(60);
  expect(messages.length).toBeGreaterThan(1);
  expect(countReceipts()).toBe(0);
});

describe("of many receipts", () => {
  const now = 1_000_000_000;
  const createReceipt = (number: number, more: Partial<Receipt> = {}): Receipt => ({
    organizationId: "o",
    deliveryId: String(number),
    channelId: "a",
    channelType: "pushover",
    receipt: "r",
    polledAt: now - 60_000 + number,
    expiresAt: now,
    recordIds: ["1"],
    ...more,
  });
  const idsOf = (receipts: readonly Receipt[]) => receipts.map(({ deliveryId }) => deliveryId);

  test("a channel reads one in five seconds, the one that waited longest, and cancels all", () => {
    const all = [1, 2, 3].map((number) => createReceipt(number));
    const endedReceipt = createReceipt(4, { recordIds: [] });
    expect(idsOf(selectDueReceipts([...all, endedReceipt], now))).toEqual(["1", "4"]);
    const recent = createReceipt(5, { polledAt: now - 4_999 });
    expect(idsOf(selectDueReceipts([...all, endedReceipt, recent], now))).toEqual(["4"]);
  });

  test("20 are read at once, and those of a clock that was ahead", () => {
    const many = Array.from({ length: 30 }, (_, number) =>
      createReceipt(number, { channelId: String(number), polledAt: now + 1_000_000 }),
    );
    expect(selectDueReceipts(many, now)).toHaveLength(20);
  });
});
