import { describe, expect, test } from "bun:test";
import { appendEvent } from "../../src/events/log.ts";
import { unknownId } from "../support/appliance.ts";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";
import { replyWith, hang, startTarget } from "../support/target.ts";

const down = "monitor.down Backup";
const up = "monitor.up Backup";

describe("a channel that fails permanently is reported", () => {
  test("only to the default channels, with its name and the reason", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using failing = await inbox({ name: "Broken" }, replyWith(410));
    await using fallback = await inbox({ default: true });
    await using other = await inbox();
    await using off = await inbox({ default: true, enabled: false });
    const backup = await createWatchedJob([failing]);
    await backup.change({ alertChannelIds: [failing.id] });
    await backup.changeState("down");
    await later();
    await later();
    expect(fallback.received()).toMatchObject([
      {
        type: "channel.failed",
        data: {
          channel: { id: failing.id, name: "Broken", type: "webhook" },
          message: "The receiver responded with HTTP 410 (Gone).",
          url: `http://signalbox.lan:3210/alert-channels/${failing.id}`,
        },
      },
    ]);
    for (const { asked } of [other, off]) expect(asked).toEqual([]);
    expect(failing.asked).toHaveLength(1);
  });

  for (const [what, isDefault] of [
    ["if there is no default channel", false],
    ["if it is the only default channel", true],
  ] as const)
    test(`to all other enabled channels ${what}`, async () => {
      const { inbox, createWatchedJob, later } = await createPager();
      await using first = await inbox();
      await using second = await inbox();
      await using off = await inbox({ enabled: false });
      await using failing = await inbox({ name: "Broken", default: isDefault }, replyWith(410));
      const backup = await createWatchedJob([failing]);
      await backup.changeState("down");
      await later();
      await later();
      for (const { listTitles } of [first, second])
        expect(listTitles()).toEqual(["channel.failed Broken"]);
      expect(off.asked).toEqual([]);
      expect(failing.listTitles()).toEqual([down]);
    });

  test("after a snooze to the same channels, and to no contact method of a person", async () => {
    const pager = await createPager();
    const { inbox, createWatchedJob, later, api, time } = pager;
    await using failing = await inbox({ name: "Broken" }, replyWith(410));
    await using other = await inbox();
    await using phone = await startTarget(replyWith());
    const ada = await signInMember(pager, "member");
    const method = { type: "webhook", name: "call", url: phone.at(), afterMinutes: 0 };
    const path = "/dashboard/api/v1/contact-methods";
    expect((await ada.page("POST", path, { body: method })).status).toBe(201);
    await (await createWatchedJob([failing])).changeState("down");
    await later();
    await later();
    const [alert] = (await api("GET", "/api/v1/alerts?type=channel.failed")).json.data as [Json];
    const body = { until: new Date(time.now + 60_000).toISOString() };
    await api("POST", `/api/v1/alerts/${alert.id}/snooze`, { body });
    await later(61);
    await later();
    expect(other.listTitles()).toEqual(["channel.failed Broken", "channel.failed Broken"]);
    expect(phone.asked).toEqual([]);
  });

  test("once, until a delivery succeeds again", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using failing = await inbox({ name: "Broken" }, replyWith(410));
    await using fallback = await inbox({ default: true });
    const jobs = await Promise.all(
      ["A", "B", "C", "D"].map((name) => createWatchedJob([failing], { name })),
    );
    const fail = async (index: number) => {
      await jobs[index]?.change({ alertChannelIds: [failing.id] });
      await jobs[index]?.changeState("down");
      await later();
      await later();
    };
    await fail(0);
    await fail(1);
    expect(fallback.listTitles()).toEqual(["channel.failed Broken"]);
    failing.setReply(replyWith());
    await fail(2);
    failing.setReply(replyWith(410));
    await fail(3);
    expect(fallback.listTitles()).toEqual(["channel.failed Broken", "channel.failed Broken"]);
  });

  test("after 24 hours of failed attempts, not earlier", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using failing = await inbox({ name: "Broken" }, replyWith(500));
    await using fallback = await inbox({ default: true });
    const backup = await createWatchedJob([failing]);
    await backup.change({ alertChannelIds: [failing.id] });
    await backup.changeState("down");
    for (let quarter = 0; quarter < 4 * 23; quarter++) await later(900);
    expect(fallback.asked).toEqual([]);
    for (let quarter = 0; quarter < 8; quarter++) await later(900);
    expect(fallback.listTitles()).toEqual(["channel.failed Broken"]);
  });

  test("once each if two fail, which are not notified of each other", async () => {
    const { inbox, createWatchedJob, later, readMessages } = await createPager();
    await using one = await inbox({ name: "One" }, replyWith(410));
    await using two = await inbox({ name: "Two" }, replyWith(410));
    const backup = await createWatchedJob([one, two]);
    await backup.changeState("down");
    for (let turn = 0; turn < 10; turn++) await later();
    expect(readMessages().map(({ type }) => type)).toEqual([
      "monitor.down",
      "channel.failed",
      "channel.failed",
    ]);
    for (const { asked } of [one, two]) expect(asked).toHaveLength(2);
  });
});

test("a channel shows its last failure until a delivery arrives, and edits do not conflict with it", async () => {
  const { inbox, createWatchedJob, later, readChannel, readEtag, isStale, time } =
    await createPager();
  await using hook = await inbox({}, replyWith(500));
  const path = `/api/v1/alert-channels/${hook.id}`;
  const backup = await createWatchedJob([hook]);
  const etag = await readEtag(path);
  const { updatedAt } = await readChannel(hook);
  await backup.changeState("down");
  await later();
  expect(await readChannel(hook)).toMatchObject({
    lastError: "The receiver responded with HTTP 500 (Internal Server Error).",
    lastDeliveryAt: null,
    updatedAt,
  });
  hook.setReply(replyWith());
  await later();
  expect(await readChannel(hook)).toMatchObject({
    lastError: null,
    lastDeliveryAt: new Date(time.now).toISOString(),
    updatedAt,
  });
  hook.setReply(replyWith(500));
  await backup.changeState("up");
  await later();
  expect((await readChannel(hook)).lastError).toContain("HTTP 500");
  expect(await isStale(path, etag)).toBe(false);
});

describe("a problem of the appliance is reported", () => {
  for (const isDefault of [true, false])
    test(
      isDefault ? "to the default channels" : "to all enabled ones where none is default",
      async () => {
        const { inbox, store, ours, time, later } = await createPager();
        await using first = await inbox({ default: isDefault });
        await using second = await inbox();
        await using off = await inbox({ default: true, enabled: false });
        const message = "The name servers of this machine don't respond.";
        const at = new Date(time.now).toISOString();
        const event = {
          organizationId: ours.id,
          at,
          type: "appliance.troubled" as const,
          subjectId: "checks",
          data: { problem: "checks", severity: "warning", message } as const,
        };
        await store.atomic([appendEvent(event)]);
        await later();
        expect(first.received()).toEqual([
          {
            id: expect.any(String),
            type: "appliance.troubled",
            timestamp: at,
            data: {
              alertId: expect.any(String),
              acknowledgeUrl: expect.stringContaining("/a/"),
              ...event.data,
              url: "http://signalbox.lan:3210/settings/about",
            },
          },
        ]);
        expect(second.asked).toHaveLength(isDefault ? 0 : 1);
        expect(off.asked).toEqual([]);
      },
    );
});

describe("a waiting delivery of a channel", () => {
  test("that is disabled is skipped when it is due, and is not sent when it is enabled", async () => {
    const { inbox, createWatchedJob, later, changeChannel, readDeliveries } = await createPager();
    await using hook = await inbox({}, replyWith(500));
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await later();
    await changeChannel(hook, { enabled: false });
    hook.setReply(replyWith());
    await later(60);
    expect(hook.asked).toHaveLength(1);
    expect(await readDeliveries(hook)).toMatchObject([
      { status: "skipped", error: "The channel was disabled.", nextAttemptAt: null },
    ]);
    await changeChannel(hook, { enabled: true });
    await backup.changeState("up");
    await later();
    await later(3_600);
    expect(hook.listTitles()).toEqual([down]);
  });

  test("that is deleted is removed", async () => {
    const { api, inbox, createWatchedJob, later, readMessages, logged } = await createPager();
    await using gone = await inbox({ name: "Gone" }, replyWith(500));
    await using other = await inbox();
    const backup = await createWatchedJob([gone, other]);
    await backup.changeState("down");
    await later();
    expect((await api("DELETE", `/api/v1/alert-channels/${gone.id}`)).status).toBe(200);
    gone.setReply(replyWith());
    await backup.changeState("up");
    for (let turn = 0; turn < 3; turn++) await later(600);
    expect(gone.asked).toHaveLength(1);
    expect(other.listTitles()).toEqual([down, up]);
    const [first] = readMessages();
    const { json } = await api("GET", `/api/v1/alerts/${first.id}`);
    expect(json.data.deliveries.map((one: { channelId: unknown }) => one.channelId)).toEqual([
      other.id,
      other.id,
    ]);
    expect(logged.filter((line) => line.includes("fail"))).toEqual([]);
    expect((await api("GET", `/api/v1/alert-channels/${unknownId}/deliveries`)).status).toBe(404);
  });
});

test.concurrent("a silent receiver gets its full timeout and delays no other channel", async () => {
  const { inbox, createWatchedJob, later, readDeliveries } = await createPager({
    attemptMs: 10_000,
  });
  await using silent = await inbox({}, hang);
  await using well = await inbox();
  const backup = await createWatchedJob([silent, well]);
  await backup.changeState("down");
  const sending = later();
  await silent.waitUntilRequested(1);
  await well.waitUntilRequested(1);
  expect(well.listTitles()).toEqual([down]);
  silent.setReply(replyWith());
  await sending;
  await later();
  expect(silent.listTitles()).toEqual([down, down]);
  const [delivery] = await readDeliveries(silent);
  expect(delivery.attempts[0].message).toStartWith("Timed out after 10 s");
});

test.concurrent(
  "a silent receiver does not delay a stop, and is retried after the start",
  async () => {
    const { inbox, createWatchedJob, later, restart, time } = await createPager();
    await using silent = await inbox({}, hang);
    const backup = await createWatchedJob([silent]);
    await backup.changeState("down");
    await later(0);
    time.now += 10_000;
    const engine = restart();
    await engine.start();
    await silent.waitUntilRequested(1);
    await engine.stop();
    silent.setReply(replyWith());
    restart();
    await later(30);
    expect(silent.listTitles()).toEqual([down, down]);
    const [first, second] = silent.received();
    expect(second?.id).toBe(first?.id as string);
  },
);
