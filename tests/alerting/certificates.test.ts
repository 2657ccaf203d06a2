import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

const day = 86_400;

/** A monitor that is up, whose certificate expires in this number of days. */
async function setUpCertified(days: number, fields: object = {}) {
  const pager = await createPager();
  const { time, database, engine, later } = pager;
  const hook = await pager.inbox();
  const shop = await pager.createSite({ alertChannelIds: [hook.id], interval: day, ...fields });
  await engine.runOnce();
  const setCertificateExpiry = (days: number) => {
    const expiresAt = new Date(time.now + days * day * 1000).toISOString();
    database.run("UPDATE monitor_states SET certificate_expires_at = ?", [expiresAt]);
    return expiresAt;
  };
  const expiresAt = setCertificateExpiry(days);
  return {
    ...pager,
    shop,
    hook,
    setCertificateExpiry,
    expiresAt,
    days: async (count: number) => {
      for (let elapsed = 0; elapsed < count; elapsed++) await later(day);
      await later();
    },
    listAlertedDays: () => hook.received().map(({ data }) => data.daysLeft),
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}

describe("a certificate's expiry", () => {
  test("is reported 14, 7, 3 and 1 days before, once each, also across restarts", async () => {
    await using world = await setUpCertified(20.5);
    for (let today = 0; today < 24; today++) {
      await world.days(1);
      world.restart();
    }
    expect(world.listAlertedDays()).toEqual([13, 6, 2, 0]);
    expect(world.hook.received()[0]).toMatchObject({
      type: "certificate.expiring",
      data: {
        monitor: { id: world.shop.id, name: "Shop" },
        message: `The certificate expires on ${world.expiresAt.slice(0, 16).replace("T", " ")} UTC.`,
        expiresAt: world.expiresAt,
      },
    });
  });

  test("is reported once if several thresholds have passed, and then at the next ones", async () => {
    await using world = await setUpCertified(2.5);
    await world.later();
    expect(world.listAlertedDays()).toEqual([2]);
    await world.days(5);
    expect(world.listAlertedDays()).toEqual([2, 0]);
  });

  test("is reported after it has passed", async () => {
    await using world = await setUpCertified(-2);
    await world.days(2);
    expect(world.hook.received()).toMatchObject([
      { data: { daysLeft: -2, message: "The certificate has expired." } },
    ]);
  });

  test("is reported again for the next certificate", async () => {
    await using world = await setUpCertified(0.5);
    await world.days(1);
    world.setCertificateExpiry(10.5);
    await world.days(8);
    expect(world.listAlertedDays()).toEqual([0, 10, 6, 2]);
  });

  for (const [certificateExpiryDays, message] of [
    [14, [13, 6, 2, 0]],
    [10, [6, 2, 0]],
    [3, [2, 0]],
    [2, [0]],
    [null, []],
  ] as const)
    test(`is reported ${message.length} times if the monitor's limit is ${certificateExpiryDays ?? "no"} days`, async () => {
      await using world = await setUpCertified(20.5, { certificateExpiryDays });
      await world.days(22);
      expect(world.listAlertedDays()).toEqual([...message]);
    });
});

describe("no channel is notified", () => {
  for (const [what, still, again] of [
    ["muted", { muted: true }, { muted: false }],
    ["without a channel", { alertChannelIds: [] }, null],
  ] as const)
    test(`while the monitor is ${what}, but afterwards`, async () => {
      await using world = await setUpCertified(6.5);
      await world.changeMonitor(world.shop.id, still);
      await world.days(1);
      expect(world.hook.asked).toEqual([]);
      await world.changeMonitor(world.shop.id, again ?? { alertChannelIds: [world.hook.id] });
      await world.days(1);
      expect(world.listAlertedDays()).toEqual([5]);
    });

  test("while the monitor is paused", async () => {
    await using world = await setUpCertified(6.5);
    await world.changeMonitor(world.shop.id, { paused: true });
    await world.days(3);
    expect(world.hook.asked).toEqual([]);
  });

  for (const what of ["muted", "paused"])
    test(`while its group is ${what}, but afterwards`, async () => {
      await using world = await setUpCertified(6.5);
      const set = what === "muted" ? world.muteGroup : world.pauseGroup;
      const { id: groupId } = await world.group();
      await world.changeMonitor(world.shop.id, { groupId });
      await set(groupId, true);
      await world.days(1);
      expect(world.hook.asked).toEqual([]);
      await set(groupId, false);
      // The check after a pause.
      world.database.run("UPDATE monitor_states SET status = 'up'");
      await world.days(1);
      expect(world.listAlertedDays()).toEqual([5]);
    });

  test("if it is disabled", async () => {
    await using world = await setUpCertified(6.5);
    await using other = await world.inbox();
    await world.changeMonitor(world.shop.id, { alertChannelIds: [world.hook.id, other.id] });
    await world.changeChannel(world.hook, { enabled: false });
    await world.days(1);
    expect(world.hook.asked).toEqual([]);
    expect(other.listTitles()).toEqual(["certificate.expiring Shop"]);
  });
});

test("a certificate that expires soon is an alert until it is renewed, even without a channel", async () => {
  await using world = await setUpCertified(10.5, { alertChannelIds: [] });
  const list = async () =>
    (await world.readAlerts()).map(({ title, status, resolvedBecause, data }) => [
      title,
      status,
      resolvedBecause,
      data.daysLeft,
    ]);
  await world.days(1);
  expect(await list()).toEqual([["The certificate of Shop expires in 10 days", "open", null, 10]]);
  await world.days(4);
  expect(await list()).toMatchObject([[expect.any(String), "open", null, 6]]);
  world.setCertificateExpiry(90);
  await world.later();
  expect(await list()).toMatchObject([[expect.any(String), "resolved", "recovered", 6]]);
  expect(world.hook.received()).toEqual([]);
});
