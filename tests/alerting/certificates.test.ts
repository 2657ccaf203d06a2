import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

const day = 86_400;

/** A monitor that is up, whose certificate expires in this number of days. */
async function certified(days: number, fields: object = {}) {
  const made = await createPager();
  const { time, database, engine, later } = made;
  const hook = await made.inbox();
  const shop = await made.createSite({ alertChannelIds: [hook.id], interval: day, ...fields });
  await engine.runOnce();
  const endsIn = (days: number) => {
    const expiresAt = new Date(time.now + days * day * 1000).toISOString();
    database.run("UPDATE monitor_states SET certificate_expires_at = ?", [expiresAt]);
    return expiresAt;
  };
  const expiresAt = endsIn(days);
  return {
    ...made,
    shop,
    hook,
    endsIn,
    expiresAt,
    days: async (count: number) => {
      for (let passed = 0; passed < count; passed++) await later(day);
      await later();
    },
    daysTold: () => hook.received().map(({ data }) => data.daysLeft),
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}

describe("a certificate's expiry", () => {
  test("is reported 14, 7, 3 and 1 days before, once each, also across restarts", async () => {
    await using made = await certified(20.5);
    for (let today = 0; today < 24; today++) {
      await made.days(1);
      made.restart();
    }
    expect(made.daysTold()).toEqual([13, 6, 2, 0]);
    expect(made.hook.received()[0]).toMatchObject({
      type: "certificate.expiring",
      data: {
        monitor: { id: made.shop.id, name: "Shop" },
        message: `The certificate expires on ${made.expiresAt.slice(0, 16).replace("T", " ")} UTC.`,
        expiresAt: made.expiresAt,
      },
    });
  });

  test("is reported once if several thresholds have passed, and then at the next ones", async () => {
    await using made = await certified(2.5);
    await made.later();
    expect(made.daysTold()).toEqual([2]);
    await made.days(5);
    expect(made.daysTold()).toEqual([2, 0]);
  });

  test("is reported after it has passed", async () => {
    await using made = await certified(-2);
    await made.days(2);
    expect(made.hook.received()).toMatchObject([
      { data: { daysLeft: -2, message: "The certificate has expired." } },
    ]);
  });

  test("is reported again for the next certificate", async () => {
    await using made = await certified(0.5);
    await made.days(1);
    made.endsIn(10.5);
    await made.days(8);
    expect(made.daysTold()).toEqual([0, 10, 6, 2]);
  });

  for (const [certificateExpiryDays, told] of [
    [14, [13, 6, 2, 0]],
    [10, [6, 2, 0]],
    [3, [2, 0]],
    [2, [0]],
    [null, []],
  ] as const)
    test(`is reported ${told.length} times if the monitor's limit is ${certificateExpiryDays ?? "no"} days`, async () => {
      await using made = await certified(20.5, { certificateExpiryDays });
      await made.days(22);
      expect(made.daysTold()).toEqual([...told]);
    });
});

describe("no channel is notified", () => {
  for (const [what, still, again] of [
    ["muted", { muted: true }, { muted: false }],
    ["without a channel", { alertChannelIds: [] }, null],
  ] as const)
    test(`while the monitor is ${what}, but afterwards`, async () => {
      await using made = await certified(6.5);
      await made.changeMonitor(made.shop.id, still);
      await made.days(1);
      expect(made.hook.asked).toEqual([]);
      await made.changeMonitor(made.shop.id, again ?? { alertChannelIds: [made.hook.id] });
      await made.days(1);
      expect(made.daysTold()).toEqual([5]);
    });

  test("while the monitor is paused", async () => {
    await using made = await certified(6.5);
    await made.changeMonitor(made.shop.id, { paused: true });
    await made.days(3);
    expect(made.hook.asked).toEqual([]);
  });

  for (const what of ["muted", "paused"])
    test(`while its group is ${what}, but afterwards`, async () => {
      await using made = await certified(6.5);
      const set = what === "muted" ? made.muteGroup : made.pauseGroup;
      const { id: groupId } = await made.group();
      await made.changeMonitor(made.shop.id, { groupId });
      await set(groupId, true);
      await made.days(1);
      expect(made.hook.asked).toEqual([]);
      await set(groupId, false);
      // The check after a pause.
      made.database.run("UPDATE monitor_states SET status = 'up'");
      await made.days(1);
      expect(made.daysTold()).toEqual([5]);
    });

  test("if it is disabled", async () => {
    await using made = await certified(6.5);
    await using other = await made.inbox();
    await made.changeMonitor(made.shop.id, { alertChannelIds: [made.hook.id, other.id] });
    await made.changeChannel(made.hook, { enabled: false });
    await made.days(1);
    expect(made.hook.asked).toEqual([]);
    expect(other.listTitles()).toEqual(["certificate.expiring Shop"]);
  });
});

test("a certificate that expires soon is an alert until it is renewed, also without a channel", async () => {
  await using made = await certified(10.5, { alertChannelIds: [] });
  const list = async () =>
    (await made.readAlerts()).map(({ title, status, resolvedBecause, data }) => [
      title,
      status,
      resolvedBecause,
      data.daysLeft,
    ]);
  await made.days(1);
  expect(await list()).toEqual([["The certificate of Shop expires in 10 days", "open", null, 10]]);
  await made.days(4);
  expect(await list()).toMatchObject([[expect.any(String), "open", null, 6]]);
  made.endsIn(90);
  await made.later();
  expect(await list()).toMatchObject([[expect.any(String), "resolved", "recovered", 6]]);
  expect(made.hook.received()).toEqual([]);
});
