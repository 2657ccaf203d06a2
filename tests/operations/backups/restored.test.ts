import { describe, expect, test } from "bun:test";
import { startRestored } from "../../../src/operations/backups/after-restore.ts";
import { createAppliance } from "../../support/appliance.ts";
import { createPager } from "../../support/pager.ts";
import { replyWith } from "../../support/target.ts";
import { signInMember } from "../../support/people.ts";

const down = "monitor.down Shop";
const up = "monitor.up Shop";
const days = 86_400_000;

/** An appliance that is backed up on demand and continues from the backup three days later. */
async function createRestorableAppliance() {
  const pager = await createPager();
  const { database, store, time } = pager;
  const { vault } = pager.appliance;
  const clock = () => time.now;
  return {
    ...pager,
    /** Restarts with the current data three days later, as after a restore. */
    restored: async () => {
      database.run("pragma user_version = 1");
      time.now += 3 * days;
      expect(await startRestored(store, clock)).toBe(true);
      const { engine, alerts, maintenance, app } = createAppliance({ store, vault, clock });
      await maintenance.runOnce();
      await engine.runOnce();
      return {
        app,
        /** Advances the clock by seconds and runs everything that is due. */
        advance: async (seconds: number) => {
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
  test("all sessions end, and each organization's audit log records it once", async () => {
    const world = await createRestorableAppliance();
    const { page } = await signInMember(world, "owner");
    expect((await page("GET", "/dashboard/api/v1/monitors")).status).toBe(200);
    await world.restored();
    expect(world.database.query("select count(*) from sessions").values()).toEqual([[0]]);
    const auditedSql = `select count(*) from audit_entries where action = 'backup.restored'`;
    expect(world.database.query(auditedSql).values()).toEqual([[2]]);
    expect(await startRestored(world.store, () => world.time.now)).toBe(false);
    expect(world.database.query(auditedSql).values()).toEqual([[2]]);
  });

  test("monitors in the same state send no alert, however long the gap", async () => {
    const world = await createRestorableAppliance();
    await using hook = await world.inbox();
    await using shop = await world.createSite({ alertChannelIds: [hook.id] });
    await using other = await world.createSite({
      name: "Old",
      alertChannelIds: [hook.id],
      reminderInterval: 3_600,
    });
    const job = await world.createJob({ interval: 60, grace: 30, alertChannelIds: [hook.id] });
    await job.report({ status: "up" });
    other.failNow();
    await world.advance(60);
    await world.later();
    expect(hook.listTitles()).toEqual(["monitor.down Old"]);
    const { advance } = await world.restored();
    await advance(85);
    expect(hook.listTitles()).toEqual(["monitor.down Old"]);
    expect(shop.asked.length).toBeGreaterThan(0);
    // The job's grace period starts with the restart, and it stayed silent throughout.
    await advance(10);
    expect(hook.listTitles()).toEqual(["monitor.down Old", "monitor.down Job"]);
  });

  test("a reminder that became due in the gap waits for new checks", async () => {
    const world = await createRestorableAppliance();
    await using hook = await world.inbox();
    await using shop = await world.createSite({
      alertChannelIds: [hook.id],
      reminderInterval: 3_600,
    });
    shop.failNow();
    await world.advance(60);
    await world.later();
    const { advance } = await world.restored();
    shop.recoverNow();
    await advance(60);
    expect(hook.listTitles()).toEqual([down, up]);
    await advance(900);
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("waiting deliveries are skipped, and current problems are sent to channels that missed them", async () => {
    const world = await createRestorableAppliance();
    await using inbox = await world.inbox();
    await using missed = await world.inbox({}, replyWith(500));
    await using shop = await world.createSite({ alertChannelIds: [inbox.id, missed.id] });
    shop.failNow();
    await world.advance(60);
    await world.later();
    expect([inbox.listTitles(), missed.listTitles()]).toEqual([[down], [down]]);
    const [waiting] = await world.readDeliveries(missed);
    expect(waiting.status).toBe("pending");
    missed.setReply(replyWith());
    missed.asked.splice(0);
    const { advance } = await world.restored();
    await advance(120);
    expect([inbox.listTitles(), missed.listTitles()]).toEqual([[down], [down]]);
    expect(missed.received()[0]?.id).not.toBe(waiting.id);
    const skipped = (await world.readDeliveries(missed)).find(({ id }) => id === waiting.id);
    expect(skipped).toMatchObject({
      status: "skipped",
      error: "It comes from a restored backup and may have been delivered since.",
    });
    shop.recoverNow();
    await advance(60);
    expect([inbox.listTitles(), missed.listTitles()]).toEqual([
      [down, up],
      [down, up],
    ]);
  });

  test("a waiting delivery of a solved problem is dropped, also for channels that missed it", async () => {
    const world = await createRestorableAppliance();
    await using inbox = await world.inbox();
    await using missed = await world.inbox({}, replyWith(500));
    await using shop = await world.createSite({ alertChannelIds: [inbox.id, missed.id] });
    shop.failNow();
    await world.advance(60);
    await world.later();
    shop.recoverNow();
    missed.setReply(replyWith());
    missed.asked.splice(0);
    const { advance } = await world.restored();
    await advance(120);
    expect([inbox.listTitles(), missed.listTitles()]).toEqual([[down, up], []]);
  });

  test("a state change without an alert yet is decided again", async () => {
    const world = await createRestorableAppliance();
    await using hook = await world.inbox();
    await using shop = await world.createSite({ alertChannelIds: [hook.id] });
    shop.failNow();
    await world.advance(60);
    const { advance } = await world.restored();
    await advance(60);
    expect(hook.listTitles()).toEqual([down]);
  });
});
