/** Alerts of outages, reminders and flapping monitors. */
import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";
import { replyWith, startTarget } from "../support/target.ts";

const down = "monitor.down Backup";
const up = "monitor.up Backup";
const degraded = "monitor.degraded Backup";
const reminder = "monitor.reminder Backup";

describe("an outage is reported", () => {
  test("to every enabled channel of its monitor, in the monitor's order, and to no other", async () => {
    const { inbox, createWatchedJob, later, readMessages, api } = await createPager();
    await using first = await inbox();
    await using second = await inbox();
    await using disabled = await inbox({ enabled: false });
    await using stranger = await inbox({ incidents: false });
    const backup = await createWatchedJob([second, disabled, first]);
    await backup.changeState("down");
    await later();
    for (const { listTitles } of [first, second]) expect(listTitles()).toEqual([down]);
    for (const { asked } of [disabled, stranger]) expect(asked).toEqual([]);
    const [{ id }] = readMessages();
    const { json } = await api("GET", `/api/v1/alerts/${id}`);
    expect(json.data.deliveries.map((one: { channelId: unknown }) => one.channelId)).toEqual([
      second.id,
      first.id,
    ]);
  });

  test("with its monitor, state, start and reason, and its end with the duration", async () => {
    const { inbox, createWatchedJob, later, time } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook]);
    time.now += 60_000;
    await backup.report({ status: "down", msg: "Disk full." });
    const since = new Date(time.now).toISOString();
    await later();
    time.now += 744_000;
    await backup.report({ status: "up", latency_ms: "42" });
    await later();
    const monitor = {
      id: backup.id,
      name: "Backup",
      type: "push",
      groupId: null,
      groupName: null,
      target: null,
      tags: [],
      description: "",
    };
    const url = `http://signalbox.lan:3210/monitors/${backup.id}`;
    const alertId = expect.any(String);
    const [problem, recovery] = hook.received();
    expect(problem).toEqual({
      id: expect.any(String),
      type: "monitor.down",
      timestamp: since,
      data: {
        alertId,
        monitor,
        since,
        message: "Disk full.",
        latencyMs: null,
        url,
        acknowledgeUrl: expect.stringContaining("/a/"),
      },
    });
    expect(recovery?.data).toMatchObject({ monitor, latencyMs: 42, downSeconds: 754, url });
  });

  test("with its target, tags, group and the start of its description", async () => {
    const { inbox, monitor, group, advance, later, readMessages } = await createPager();
    await using hook = await inbox();
    await using shop = await startTarget(replyWith(500));
    const { id: groupId } = await group({ name: "Front of house" });
    const watched = {
      type: "http",
      name: "Shop",
      url: shop.at("/health?token=S3CRET#S3CRET"),
      retries: 0,
      alertChannelIds: [hook.id],
      groupId,
      tags: ["production", "eu"],
      description: "Pays for all of it. ".repeat(50),
    };
    const { id } = await monitor(watched);
    await advance(1);
    await later();
    expect(hook.received().map(({ data }) => data.monitor)).toEqual([
      {
        id,
        name: "Shop",
        type: "http",
        groupId,
        groupName: "Front of house",
        target: shop.at("/health"),
        tags: watched.tags,
        description: `${watched.description.slice(0, 499)}…`,
      },
    ]);
    expect(JSON.stringify([hook.asked, readMessages()])).not.toContain("S3CRET");
  });

  test("and slowness as degraded, also between its outage and its recovery", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook], { degradedAfterMs: 500 });
    for (const status of ["slow", "up", "down", "slow", "up"] as const) {
      await backup.changeState(status);
      await later();
    }
    expect(hook.listTitles()).toEqual([degraded, up, down, degraded, up]);
    expect(hook.received()[0]?.data).toMatchObject({
      latencyMs: 900,
      message: "Answered in 900 ms, more than 500 ms.",
    });
  });
});

describe("no channel is notified", () => {
  for (const what of ["monitor", "group"])
    test(`of a ${what} that is muted, nor of the end of an earlier outage; afterwards everything is sent again`, async () => {
      const { inbox, createWatchedJob, group, later, muteGroup } = await createPager();
      await using hook = await inbox();
      const { id: groupId } = await group();
      const backup = await createWatchedJob([hook], { groupId, reminderInterval: 60 });
      const mute = async (muted: boolean) => {
        if (what === "monitor") await backup.change({ muted });
        else await muteGroup(groupId, muted);
      };
      await backup.changeState("down");
      await later();
      await mute(true);
      await later(600);
      await backup.changeState("up");
      await later();
      await backup.changeState("down");
      await later();
      await mute(false);
      await backup.changeState("up");
      await later();
      expect(hook.listTitles()).toEqual([down]);
      await backup.changeState("down");
      await later();
      expect(hook.listTitles()).toEqual([down, down]);
    });

  test("of an interrupted outage again after a pause, but of its end", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await later();
    await backup.change({ paused: true });
    await backup.changeState("up");
    await later(3_600);
    expect(hook.listTitles()).toEqual([down]);
    await backup.change({ paused: false });
    await backup.changeState("down");
    await later();
    expect(hook.listTitles()).toEqual([down]);
    await backup.change({ paused: true });
    await backup.change({ paused: false });
    await backup.changeState("up");
    await later();
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("of the end of an outage after it was detached, even if it is attached again", async () => {
    const { inbox, createWatchedJob, later } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await later();
    await backup.change({ alertChannelIds: [] });
    await backup.changeState("up");
    await later();
    await backup.change({ alertChannelIds: [hook.id] });
    await backup.change({ paused: true });
    await backup.change({ paused: false });
    await backup.changeState("up");
    await later();
    expect(hook.listTitles()).toEqual([down]);
  });

  test("of an outage's end if it was attached or enabled during it, but of an outage after a pause", async () => {
    const { inbox, createWatchedJob, later, changeChannel } = await createPager();
    await using first = await inbox();
    await using attached = await inbox();
    await using enabled = await inbox({ enabled: false });
    const backup = await createWatchedJob([first, enabled]);
    for (const interrupted of [false, true]) {
      await backup.changeState("down");
      await later();
      await backup.change({ alertChannelIds: [first.id, attached.id, enabled.id] });
      await changeChannel(enabled, { enabled: true });
      await later();
      if (interrupted) {
        await backup.change({ paused: true });
        await backup.change({ paused: false });
        await backup.changeState("down");
        await later();
      }
      await backup.changeState("up");
      await later();
      await backup.change({ alertChannelIds: [first.id, enabled.id] });
      await changeChannel(enabled, { enabled: false });
    }
    expect(first.listTitles()).toEqual([down, up, down, up]);
    expect(attached.listTitles()).toEqual([down, up]);
    expect(enabled.listTitles()).toEqual([down, up]);
  });

  test("of another organization's monitor", async () => {
    const { inbox, theirs, stranger, later } = await createPager();
    await using hook = await inbox({ default: true });
    const body = { type: "push", name: "Theirs", retries: 0 };
    const { json } = await theirs.api("POST", "/api/v1/monitors", { body });
    await stranger("GET", `${new URL(json.data.pushUrl).pathname}?status=down`);
    await later();
    expect(hook.asked).toEqual([]);
  });
});

describe("a reminder", () => {
  test("is sent at every interval while the monitor is down, with the duration, and not after", async () => {
    const { inbox, createWatchedJob, later, deliverTwiceAfter } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook], { reminderInterval: 600 });
    await backup.changeState("down");
    await later(590);
    expect(hook.listTitles()).toEqual([down]);
    await deliverTwiceAfter(10);
    await deliverTwiceAfter(590);
    expect(hook.listTitles()).toEqual([down, reminder, reminder]);
    expect(hook.received().map(({ data }) => data.downSeconds)).toEqual([undefined, 600, 1_200]);
    await backup.changeState("up");
    await deliverTwiceAfter(3_600);
    expect(hook.listTitles()).toEqual([down, reminder, reminder, up]);
  });

  test.each([1, 3_650])(
    "is sent even if the clock was %d days ahead when the outage began",
    async (days) => {
      const { inbox, createWatchedJob, later, deliverTwiceAfter, time } = await createPager();
      await using hook = await inbox();
      const backup = await createWatchedJob([hook], { reminderInterval: 600 });
      time.now += days * 86_400_000;
      await backup.changeState("down");
      await later();
      time.now -= days * 86_400_000;
      await deliverTwiceAfter(600);
      const titles = hook.listTitles();
      expect([titles[0], new Set(titles.slice(1))]).toEqual([down, new Set([reminder])]);
      await deliverTwiceAfter(600);
      expect(hook.listTitles().length).toBe(titles.length + 1);
    },
  );

  test("can be set, shortened and removed while the monitor is down", async () => {
    const { inbox, createWatchedJob, later, deliverTwiceAfter } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await deliverTwiceAfter(3_600);
    await backup.change({ reminderInterval: 3_600 });
    await deliverTwiceAfter(3_000);
    expect(hook.listTitles()).toEqual([down]);
    await deliverTwiceAfter(600);
    expect(hook.listTitles()).toEqual([down, reminder]);
    await backup.change({ reminderInterval: 60 });
    await deliverTwiceAfter(60);
    expect(hook.listTitles()).toEqual([down, reminder, reminder]);
    await backup.change({ reminderInterval: null });
    await later(7_200);
    expect(hook.listTitles()).toEqual([down, reminder, reminder]);
  });

  test("is sent to all enabled channels; one that was attached meanwhile then gets the end as well", async () => {
    const { inbox, createWatchedJob, later, deliverTwiceAfter } = await createPager();
    await using first = await inbox();
    await using second = await inbox();
    const backup = await createWatchedJob([first], { reminderInterval: 600 });
    await backup.changeState("down");
    await later();
    await backup.change({ alertChannelIds: [first.id, second.id] });
    await deliverTwiceAfter(600);
    await backup.changeState("up");
    await later();
    expect(first.listTitles()).toEqual([down, reminder, up]);
    expect(second.listTitles()).toEqual([reminder, up]);
  });

  test("is not sent while the monitor is muted or paused", async () => {
    const { inbox, createWatchedJob, later, deliverTwiceAfter } = await createPager();
    await using hook = await inbox();
    const backup = await createWatchedJob([hook], { reminderInterval: 60 });
    await backup.changeState("down");
    await later();
    await backup.change({ muted: true });
    await deliverTwiceAfter(600);
    await backup.change({ muted: false, paused: true });
    await deliverTwiceAfter(600);
    expect(hook.listTitles()).toEqual([down]);
  });
});

describe("a flapping monitor", () => {
  async function createFlapper() {
    const pager = await createPager();
    const hook = await pager.inbox();
    const backup = await pager.createWatchedJob([hook]);
    /** Changes its state several times, with a delay of some seconds after each. */
    const changeStates = async (times: number, seconds = 60) => {
      for (let turn = 0; turn < times; turn++) {
        await backup.changeState((await pager.readStatus(backup.id)) === "down" ? "up" : "down");
        await pager.later(seconds);
      }
    };
    return { ...pager, hook, backup, changeStates };
  }

  const flapping = "monitor.flapping Backup";
  const fiveTimes = Array.from({ length: 5 }, () => [down, up]).flat();

  test("is reported once, at the eleventh change in half an hour, and then not until it is steady", async () => {
    const { hook, changeStates, later } = await createFlapper();
    await using _ = hook;
    await changeStates(10);
    expect(hook.listTitles()).toEqual(fiveTimes);
    await changeStates(20);
    expect(hook.listTitles()).toEqual([...fiveTimes, flapping]);
    expect(hook.received().at(-1)?.data.changes).toBe(11);
    await later(530);
    expect(hook.listTitles()).toHaveLength(11);
    await later();
    await later();
    expect(hook.listTitles()).toEqual([...fiveTimes, flapping, up]);
  });

  test("is sent as down if it stays down, and its count restarts", async () => {
    const { hook, changeStates, deliverTwiceAfter } = await createFlapper();
    await using _ = hook;
    await changeStates(11);
    await deliverTwiceAfter(600);
    expect(hook.listTitles().slice(10)).toEqual([flapping, down]);
    await changeStates(10);
    expect(hook.listTitles().slice(12)).toEqual(fiveTimes.map((one) => (one === down ? up : down)));
    await changeStates(1);
    expect(hook.listTitles().at(-1)).toBe(flapping);
  });

  test("has changed more than ten times within half an hour, not in longer", async () => {
    const { hook, changeStates } = await createFlapper();
    await using _ = hook;
    await changeStates(24, 181);
    expect(hook.listTitles()).not.toContain(flapping);
    expect(hook.listTitles()).toHaveLength(24);
  });

  test("is not flapping after a pause, which resets the count", async () => {
    const { hook, changeStates, backup, later } = await createFlapper();
    await using _ = hook;
    await changeStates(10);
    await backup.change({ paused: true });
    await later();
    await backup.change({ paused: false });
    await backup.changeState("up");
    await changeStates(1);
    expect(hook.listTitles()).toEqual([...fiveTimes, down]);
  });

  test("sends no reminders; a channel that was attached meanwhile gets only a steady problem", async () => {
    const { hook, inbox, changeStates, backup, deliverTwiceAfter } = await createFlapper();
    await using _ = hook;
    await using late = await inbox();
    await backup.change({ reminderInterval: 60 });
    await changeStates(11, 30);
    await deliverTwiceAfter(300);
    await backup.change({ alertChannelIds: [hook.id, late.id] });
    await changeStates(1);
    await deliverTwiceAfter(600);
    expect(late.listTitles()).toEqual([]);
    await changeStates(1, 10);
    expect(late.listTitles()).toEqual([down]);
    expect(hook.listTitles().slice(10)).toEqual([flapping, up, down]);
  });
});
