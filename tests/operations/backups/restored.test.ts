import { describe, expect, test } from "bun:test";
import { startRestored } from "../../../src/operations/backups/restored.ts";
import { applianceOn } from "../../support/appliance.ts";
import { pager } from "../../support/pager.ts";
import { answer } from "../../support/target.ts";
import { member } from "../../support/visiting.ts";

const down = "monitor.down Shop";
const up = "monitor.up Shop";
const days = 86_400_000;

/** An appliance that is backed up when told, and goes on from that three days later. */
async function backedUp() {
  const made = await pager();
  const { database, store, time } = made;
  const { vault } = made.appliance;
  const clock = () => time.now;
  return {
    ...made,
    /** What was stored by now starts three days later, as it would from a backup. */
    restored: async () => {
      database.run("pragma user_version = 1");
      time.now += 3 * days;
      expect(await startRestored(store, clock)).toBe(true);
      const { engine, alerts, maintenance, app } = applianceOn({ store, vault, clock });
      await maintenance.runOnce();
      await engine.runOnce();
      return {
        app,
        /** Lets so many seconds go by, with all that gets due. */
        pass: async (seconds: number) => {
          for (const end = time.now + seconds * 1000; time.now < end;) {
            time.now = Math.min(time.now + 250, end);
            await engine.runOnce();
            if (time.now % 1_000 === 0) await alerts.runOnce();
          }
          await alerts.runOnce();
        },
      };
    },
  };
}

describe("after a restore", () => {
  test("nobody is signed in, each organization's audit log tells of it, and that happens once", async () => {
    const made = await backedUp();
    const { page } = await member(made, "owner");
    expect((await page("GET", "/dashboard/api/v1/monitors")).status).toBe(200);
    await made.restored();
    expect(made.database.query("select count(*) from sessions").values()).toEqual([[0]]);
    const audited = `select count(*) from audit_entries where action = 'backup.restored'`;
    expect(made.database.query(audited).values()).toEqual([[2]]);
    expect(await startRestored(made.store, () => made.time.now)).toBe(false);
    expect(made.database.query(audited).values()).toEqual([[2]]);
  });

  test("monitors that are as they were tell nothing, whatever time is missing", async () => {
    const made = await backedUp();
    await using hook = await made.inbox();
    await using shop = await made.site({ alertChannelIds: [hook.id] });
    await using other = await made.site({
      name: "Old",
      alertChannelIds: [hook.id],
      reminderInterval: 3_600,
    });
    const job = await made.job({ interval: 60, grace: 30, alertChannelIds: [hook.id] });
    await job.report({ status: "up" });
    other.fails();
    await made.pass(60);
    await made.later();
    expect(hook.heard()).toEqual(["monitor.down Old"]);
    const { pass } = await made.restored();
    await pass(85);
    expect(hook.heard()).toEqual(["monitor.down Old"]);
    expect(shop.asked.length).toBeGreaterThan(0);
    // The job has its whole grace from the start on, and was silent for all of it.
    await pass(10);
    expect(hook.heard()).toEqual(["monitor.down Old", "monitor.down Job"]);
  });

  test("a reminder that got due meanwhile waits until checks have looked", async () => {
    const made = await backedUp();
    await using hook = await made.inbox();
    await using shop = await made.site({ alertChannelIds: [hook.id], reminderInterval: 3_600 });
    shop.fails();
    await made.pass(60);
    await made.later();
    const { pass } = await made.restored();
    shop.recovers();
    await pass(60);
    expect(hook.heard()).toEqual([down, up]);
    await pass(900);
    expect(hook.heard()).toEqual([down, up]);
  });

  test("what waited to be sent is not sent: what is wrong now is told to those who are not known to have heard", async () => {
    const made = await backedUp();
    await using heard = await made.inbox();
    await using missed = await made.inbox({}, answer(500));
    await using shop = await made.site({ alertChannelIds: [heard.id, missed.id] });
    shop.fails();
    await made.pass(60);
    await made.later();
    expect([heard.heard(), missed.heard()]).toEqual([[down], [down]]);
    const [waiting] = await made.deliveriesOf(missed);
    expect(waiting.status).toBe("pending");
    missed.reply(answer());
    missed.asked.splice(0);
    const { pass } = await made.restored();
    await pass(120);
    expect([heard.heard(), missed.heard()]).toEqual([[down], [down]]);
    expect(missed.received()[0]?.id).not.toBe(waiting.id);
    const skipped = (await made.deliveriesOf(missed)).find(({ id }) => id === waiting.id);
    expect(skipped).toMatchObject({
      status: "skipped",
      error: "It comes from a restored backup and may have been delivered since.",
    });
    shop.recovers();
    await pass(60);
    expect([heard.heard(), missed.heard()]).toEqual([
      [down, up],
      [down, up],
    ]);
  });

  test("what waited to be sent and is over by then is told to nobody who never heard of it", async () => {
    const made = await backedUp();
    await using heard = await made.inbox();
    await using missed = await made.inbox({}, answer(500));
    await using shop = await made.site({ alertChannelIds: [heard.id, missed.id] });
    shop.fails();
    await made.pass(60);
    await made.later();
    shop.recovers();
    missed.reply(answer());
    missed.asked.splice(0);
    const { pass } = await made.restored();
    await pass(120);
    expect([heard.heard(), missed.heard()]).toEqual([[down, up], []]);
  });

  test("a change that was stored and not yet told is looked at anew", async () => {
    const made = await backedUp();
    await using hook = await made.inbox();
    await using shop = await made.site({ alertChannelIds: [hook.id] });
    shop.fails();
    await made.pass(60);
    const { pass } = await made.restored();
    await pass(60);
    expect(hook.heard()).toEqual([down]);
  });
});
