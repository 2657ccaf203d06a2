import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

type Pager = Awaited<ReturnType<typeof createPager>>;

/** A pause of the monitor, of its group, or by joining a paused group. */
const pauses: Record<
  string,
  (made: Pager, id: string, groupId: string) => (paused: boolean) => Promise<unknown>
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
    async function watched() {
      const made = await createPager();
      const hook = await made.inbox();
      const { id: groupId } = await made.group();
      const fields = { groupId, alertChannelIds: [hook.id], interval: 10, reminderInterval: 60 };
      const shop = await made.createSite(fields);
      await made.engine.runOnce();
      const pause = pauseOf(made, shop.id, groupId);
      return {
        ...made,
        hook,
        shop,
        /** Runs checks and sends due alerts. */
        async goesOn(seconds: number) {
          await made.pass(seconds);
          await made.later();
        },
        pause,
        async [Symbol.asyncDispose]() {
          await shop[Symbol.asyncDispose]();
          await hook[Symbol.asyncDispose]();
        },
      };
    }

    test("is not sent, nor its end, while everything is up", async () => {
      await using made = await watched();
      await made.goesOn(20);
      await made.pause(true);
      await made.goesOn(120);
      await made.pause(false);
      await made.goesOn(20);
      expect(await made.readStatus(made.shop.id)).toBe("up");
      expect(made.hook.listTitles()).toEqual([]);
    });

    test("delays an outage, which is sent once the pause is over", async () => {
      await using made = await watched();
      await made.pause(true);
      made.shop.failNow();
      await made.goesOn(120);
      expect(made.hook.listTitles()).toEqual([]);
      await made.pause(false);
      await made.goesOn(20);
      expect(made.hook.listTitles()).toEqual(["monitor.down Shop"]);
    });

    test("in an outage stops the reminders; the state at its end is sent to channels that don't know it", async () => {
      await using made = await watched();
      made.shop.failNow();
      await made.goesOn(20);
      await made.pause(true);
      await made.goesOn(300);
      await made.pause(false);
      await made.goesOn(20);
      expect(made.hook.listTitles()).toEqual(["monitor.down Shop"]);
      await made.pause(true);
      made.shop.recoverNow();
      await made.goesOn(20);
      await made.pause(false);
      await made.goesOn(20);
      expect(made.hook.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
    });
  });
