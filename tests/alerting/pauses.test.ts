import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

type Pager = Awaited<ReturnType<typeof createPager>>;

/** A pause of the monitor, of its group, or by joining a paused group. */
const pauses: Record<
  string,
  (pager: Pager, id: string, groupId: string) => (paused: boolean) => Promise<unknown>
> = {
  "the monitor itself":
    ({ changeMonitor }, id) =>
    (paused) =>
      changeMonitor(id, { paused }),
  "its group":
    ({ pauseGroup }, _id, groupId) =>
    (paused) =>
      pauseGroup(groupId, paused),
  "a paused group that it moves into": ({ changeMonitor, group, pauseGroup }, id, groupId) => {
    const other = group().then(async (one) => (await pauseGroup(one.id, true), one.id as string));
    return async (paused) => changeMonitor(id, { groupId: paused ? await other : groupId });
  },
};

for (const [what, pauseOf] of Object.entries(pauses))
  describe(`a pause through ${what}`, () => {
    /** A checked site with a channel. */
    async function createWatchedSite() {
      const pager = await createPager();
      const hook = await pager.inbox();
      const { id: groupId } = await pager.group();
      const fields = { groupId, alertChannelIds: [hook.id], interval: 10, reminderInterval: 60 };
      const shop = await pager.createSite(fields);
      await pager.engine.runOnce();
      const pause = pauseOf(pager, shop.id, groupId);
      return {
        ...pager,
        hook,
        shop,
        /** Runs checks and sends due alerts. */
        async goesOn(seconds: number) {
          await pager.advance(seconds);
          await pager.later();
        },
        pause,
        async [Symbol.asyncDispose]() {
          await shop[Symbol.asyncDispose]();
          await hook[Symbol.asyncDispose]();
        },
      };
    }

    test("is not sent, nor its end, while everything is up", async () => {
      await using world = await createWatchedSite();
      await world.goesOn(20);
      await world.pause(true);
      await world.goesOn(120);
      await world.pause(false);
      await world.goesOn(20);
      expect(await world.readStatus(world.shop.id)).toBe("up");
      expect(world.hook.listTitles()).toEqual([]);
    });

    test("delays an outage, which is sent once the pause is over", async () => {
      await using world = await createWatchedSite();
      await world.pause(true);
      world.shop.failNow();
      await world.goesOn(120);
      expect(world.hook.listTitles()).toEqual([]);
      await world.pause(false);
      await world.goesOn(20);
      expect(world.hook.listTitles()).toEqual(["monitor.down Shop"]);
    });

    test("in an outage stops the reminders; the state at its end is sent to channels that don't know it", async () => {
      await using world = await createWatchedSite();
      world.shop.failNow();
      await world.goesOn(20);
      await world.pause(true);
      await world.goesOn(300);
      await world.pause(false);
      await world.goesOn(20);
      expect(world.hook.listTitles()).toEqual(["monitor.down Shop"]);
      await world.pause(true);
      world.shop.recoverNow();
      await world.goesOn(20);
      await world.pause(false);
      await world.goesOn(20);
      expect(world.hook.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
    });
  });

for (const what of ["monitor", "group"] as const)
  describe(`a mute of the ${what}`, () => {
    async function watchJob() {
      const pager = await createPager();
      const hook = await pager.inbox();
      const [first, second] = [await pager.inbox(), await pager.inbox()];
      const steps = [first, second].map(({ id }, index) => ({
        afterMinutes: index * 10,
        targets: [{ type: "channel", id }],
      }));
      const body = { name: "Platform", steps };
      const policy = await pager.api("POST", "/api/v1/escalation-policies", { body });
      const { id: groupId } = await pager.group();
      const job = await pager.createWatchedJob([hook], {
        groupId,
        escalationPolicyId: policy.json.data.id,
      });
      const mute = async (muted: boolean) => {
        if (what === "monitor") await job.change({ muted });
        else await pager.muteGroup(groupId, muted);
        await pager.later();
      };
      const listAllTitles = () => [hook, first, second].map((one) => one.listTitles());
      return { ...pager, job, mute, listAllTitles };
    }
    const [down, up] = ["monitor.down Backup", "monitor.up Backup"];

    test("delays an outage, which is sent and escalates once the mute is over", async () => {
      const { job, mute, later, listAllTitles } = await watchJob();
      await mute(true);
      await job.changeState("down");
      await later(3_600);
      expect(listAllTitles()).toEqual([[], [], []]);
      await mute(false);
      await later();
      expect(listAllTitles()).toEqual([[down], [down], []]);
      await later(600);
      await later();
      expect(listAllTitles()).toEqual([[down], [down], [down]]);
      await job.changeState("up");
      await later();
      expect(listAllTitles()).toEqual([
        [down, up],
        [down, up],
        [down, up],
      ]);
    });

    test("in an outage ends the escalation, which starts again once the mute is over", async () => {
      const { job, mute, later, listAllTitles } = await watchJob();
      await job.changeState("down");
      await later();
      await mute(true);
      await later(3_600);
      expect(listAllTitles()).toEqual([[down], [down], []]);
      await mute(false);
      await later();
      expect(listAllTitles()).toEqual([[down], [down, down], []]);
    });
  });
