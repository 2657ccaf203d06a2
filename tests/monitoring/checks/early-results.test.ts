import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import { type Beat, type Watch, createWatch } from "../../support/check-board.ts";

/** Seconds per status; asserts that results and sums agree. */
async function readSeconds({ readBeats, database }: Watch, id: string) {
  const found = { up: 0, down: 0, unknown: 0 };
  const beats = await readBeats(id);
  for (const { status, period } of beats) found[status as "up"] += period;
  for (const table of ["uptime_hours", "uptime_days"]) {
    const sums = database
      .query(
        `select coalesce(sum(up_seconds), 0) as up, coalesce(sum(down_seconds), 0) as down,
           coalesce(sum(unknown_seconds), 0) as unknown from ${table}`,
      )
      .get();
    expect(sums).toEqual(found);
  }
  return { ...found, beats };
}

const endOf = ({ at, period }: Beat) => Date.parse(at) + period * 1_000;

describe("a result ends the period of the previous one:", () => {
  test("a recovered target counts as down until the recovery", async () => {
    const watch = await createWatch();
    await using shop = await watch.createSite({ interval: 3_600 });
    shop.failNow();
    await watch.engine.runOnce();
    await watch.advance(4_000);
    const before = await readSeconds(watch, shop.id);
    await watch.advance(300);
    shop.recoverNow();
    await watch.api("POST", `/api/v1/monitors/${shop.id}/check`);
    const { down, beats } = await readSeconds(watch, shop.id);
    const [last] = before.beats.slice(-1);
    expect(last?.period).toBe(3_600);
    const tookSeconds = Math.round((watch.time.now - Date.parse(last?.at ?? "")) / 1_000);
    expect(down).toBe(before.down - 3_600 + tookSeconds);
    // The next scheduled check keeps its time.
    expect(endOf(beats.at(-1)!) - endOf(last!)).toBeWithin(-1_000, 1_001);
  });

  test("even after a change and after a restart", async () => {
    for (const how of ["change", "restart"]) {
      const watch = await createWatch();
      await using shop = await watch.createSite({ interval: 600 });
      shop.failNow();
      await watch.advance(900);
      shop.recoverNow();
      const [last] = (await watch.readBeats(shop.id)).slice(-1);
      const before = await readSeconds(watch, shop.id);
      expect(last).toMatchObject({ status: "down", period: 600 });
      if (how === "change") {
        await watch.changeMonitor(shop.id, { timeout: 9 });
        await watch.engine.runOnce();
      } else {
        const { appliance, ours } = watch;
        const restarted = new CheckEngine({ ...appliance, monotonic: appliance.clock });
        await restarted.runOnce();
        await restarted.checkNow({ organizationId: ours.id, callerId: "key" }, shop.id);
      }
      const { down } = await readSeconds(watch, shop.id);
      const tookSeconds = Math.round((watch.time.now - Date.parse(last?.at ?? "")) / 1_000);
      expect([how, down]).toEqual([how, before.down - 600 + tookSeconds]);
    }
  });

  test("a job counts as silent until its report, which covers no time before it", async () => {
    const watch = await createWatch();
    const { id, report } = await watch.createJob({ interval: 3_600, grace: 0 });
    await watch.engine.runOnce();
    await report();
    await watch.advance(3_600);
    expect(await watch.readStatus(id)).toBe("down");
    await watch.advance(40);
    await report();
    expect(await readSeconds(watch, id)).toMatchObject({ up: 2, down: 40 });
    // Reports cover the time before them, so the next one does not shorten this period.
    await watch.advance(20);
    await report();
    expect(await readSeconds(watch, id)).toMatchObject({ up: 22, down: 40 });
  });

  test("no second counts twice for any times of checks", async () => {
    const step = fc.record({
      seconds: fc.integer({ min: 0, max: 90 }),
      fails: fc.boolean(),
      asks: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const watch = await createWatch();
        await using shop = await watch.createSite({ interval: 40, retryInterval: 10, retries: 1 });
        for (const { seconds, fails, asks } of steps) {
          await watch.advance(seconds);
          if (fails) shop.failNow();
          else shop.recoverNow();
          if (asks) await watch.api("POST", `/api/v1/monitors/${shop.id}/check`);
        }
        const { beats } = await readSeconds(watch, shop.id);
        for (const [index, beat] of beats.slice(1).entries()) {
          const overlapMs = endOf(beats[index]!) - Date.parse(beat.at);
          // Periods are whole seconds, at least one.
          expect(overlapMs).toBeLessThanOrEqual(1_000);
        }
      }),
      { numRuns: 10 },
    );
  });
});
