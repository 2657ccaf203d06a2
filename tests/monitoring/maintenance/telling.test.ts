import { describe, expect, test } from "bun:test";
import { createAppliance } from "../../support/appliance.ts";
import { createPlanner, createWatchedSite } from "../../support/planner.ts";
import { waitUntil } from "../../support/poll.ts";

describe("start and end are recorded once", () => {
  test("with the times of the occurrence; an early end has its actual time", async () => {
    const planner = await createPlanner();
    const { id } = await planner.planWindow({}, 5, 30);
    await planner.advance(600);
    expect(await planner.readWindowEvents()).toEqual(["started 10:05–10:35"]);
    await planner.change(id, { title: "Cabling", endsAt: planner.inMinutes(60) });
    await planner.advance(10);
    expect(await planner.readWindowEvents()).toEqual(["started 10:05–10:35"]);
    await planner.remove(id);
    await planner.advance(10);
    expect(await planner.readWindowEvents()).toEqual(["started 10:05–10:35", "ended 10:05–10:10"]);
  });

  test("also by two processes on the same data", async () => {
    const planner = await createPlanner();
    const others = [planner.createSecondAppliance(), planner.createSecondAppliance(), planner];
    for (const { maintenance } of others) await maintenance.runOnce();
    await planner.planWindow({}, 1, 1);
    for (let seconds = 0; seconds < 200; seconds += 5) {
      planner.time.now += 5_000;
      await Promise.all(others.map(({ maintenance }) => maintenance.runOnce()));
    }
    expect(await planner.readWindowEvents()).toEqual(["started 10:01–10:02", "ended 10:01–10:02"]);
  });

  test("even after a crash at any point", async () => {
    const planner = await createPlanner();
    await planner.planWindow({ rrule: "FREQ=HOURLY;COUNT=3" }, 0, 30);
    await planner.maintenance.runOnce();
    for (let quarter = 0; quarter < 16; quarter++) {
      if (quarter % 3 === 0) planner.crashBefore("followers");
      const { maintenance } = planner.createSecondAppliance();
      for (const _ of [1, 2, 3]) await maintenance.runOnce();
      planner.time.now += 15 * 60_000;
    }
    expect(await planner.readWindowEvents()).toEqual([
      "started 10:00–10:30",
      "ended 10:00–10:30",
      "started 11:00–11:30",
      "ended 11:00–11:30",
      "started 12:00–12:30",
      "ended 12:00–12:30",
    ]);
  });

  test("an occurrence without a running node is not recorded afterwards", async () => {
    const planner = await createPlanner();
    await planner.planWindow({}, 10, 10);
    planner.time.now += 60 * 60_000;
    await planner.advance(5);
    expect(await planner.readWindowEvents()).toEqual([]);
  });
});

describe("after a restart", () => {
  test("during an occurrence, it continues and its end is recorded", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    await planner.planWindow({ monitorIds: [site.id] }, 0, 20);
    await planner.advance(60);
    const other = planner.createSecondAppliance();
    site.failNow();
    await other.passTime(600);
    expect(await planner.readStatus(site.id)).toBe("maintenance");
    await other.passTime(545);
    expect(await planner.readStatus(site.id)).toBe("down");
    expect(await planner.readWindowEvents()).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });

  test("after the end, the monitors are checked within seconds at any interval", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner, { interval: 86_400 });
    const { site } = stage;
    await planner.planWindow({ monitorIds: [site.id] }, 0, 20);
    await planner.advance(60);
    expect(await planner.readStatus(site.id)).toBe("maintenance");
    planner.time.now += 60 * 60_000;
    await planner.createSecondAppliance().passTime(3);
    expect(await planner.readStatus(site.id)).toBe("up");
    expect(await planner.readWindowEvents()).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });
});

test("a started watch with its own timer applies a window as soon as it is written", async () => {
  const planner = await createPlanner();
  const { maintenance } = createAppliance({
    store: planner.store,
    clock: Date.now,
    vault: planner.appliance.vault,
  });
  await maintenance.start();
  const received: string[] = [];
  maintenance.onChange((ids) => received.push(...ids));
  const { id } = await planner.monitor();
  const startsAt = new Date(Date.now() - 1_000).toISOString();
  const endsAt = new Date(Date.now() + 60_000).toISOString();
  await planner.planWindow({ startsAt, endsAt, monitorIds: [id] });
  await waitUntil(() => received.length > 0);
  expect(maintenance.of({ organizationId: planner.ours.id, id })).toEqual({ countsUptime: false });
  expect(maintenance.of({ organizationId: planner.theirs.id, id })).toBeNull();
  await maintenance.stop();
});
