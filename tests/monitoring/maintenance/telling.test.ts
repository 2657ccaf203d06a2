import { describe, expect, test } from "bun:test";
import { createAppliance } from "../../support/appliance.ts";
import { createPlanner, createWatchedSite } from "../../support/planner.ts";
import { waitUntil } from "../../support/poll.ts";

describe("start and end are recorded once", () => {
  test("with the times of the occurrence; an early end has its actual time", async () => {
    const made = await createPlanner();
    const { id } = await made.planWindow({}, 5, 30);
    await made.pass(600);
    expect(await made.readWindowEvents()).toEqual(["started 10:05–10:35"]);
    await made.change(id, { title: "Cabling", endsAt: made.inMinutes(60) });
    await made.pass(10);
    expect(await made.readWindowEvents()).toEqual(["started 10:05–10:35"]);
    await made.remove(id);
    await made.pass(10);
    expect(await made.readWindowEvents()).toEqual(["started 10:05–10:35", "ended 10:05–10:10"]);
  });

  test("also by two processes on the same data", async () => {
    const made = await createPlanner();
    const others = [made.createSecondAppliance(), made.createSecondAppliance(), made];
    for (const { maintenance } of others) await maintenance.runOnce();
    await made.planWindow({}, 1, 1);
    for (let seconds = 0; seconds < 200; seconds += 5) {
      made.time.now += 5_000;
      await Promise.all(others.map(({ maintenance }) => maintenance.runOnce()));
    }
    expect(await made.readWindowEvents()).toEqual(["started 10:01–10:02", "ended 10:01–10:02"]);
  });

  test("also after a crash at any point", async () => {
    const made = await createPlanner();
    await made.planWindow({ rrule: "FREQ=HOURLY;COUNT=3" }, 0, 30);
    await made.maintenance.runOnce();
    for (let quarter = 0; quarter < 16; quarter++) {
      if (quarter % 3 === 0) made.crashBefore("followers");
      const { maintenance } = made.createSecondAppliance();
      for (const _ of [1, 2, 3]) await maintenance.runOnce();
      made.time.now += 15 * 60_000;
    }
    expect(await made.readWindowEvents()).toEqual([
      "started 10:00–10:30",
      "ended 10:00–10:30",
      "started 11:00–11:30",
      "ended 11:00–11:30",
      "started 12:00–12:30",
      "ended 12:00–12:30",
    ]);
  });

  test("an occurrence without a running node is not recorded afterwards", async () => {
    const made = await createPlanner();
    await made.planWindow({}, 10, 10);
    made.time.now += 60 * 60_000;
    await made.pass(5);
    expect(await made.readWindowEvents()).toEqual([]);
  });
});

describe("after a restart", () => {
  test("during an occurrence, it continues and its end is recorded", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    await made.planWindow({ monitorIds: [site.id] }, 0, 20);
    await made.pass(60);
    const other = made.createSecondAppliance();
    site.failNow();
    await other.passTime(600);
    expect(await made.readStatus(site.id)).toBe("maintenance");
    await other.passTime(545);
    expect(await made.readStatus(site.id)).toBe("down");
    expect(await made.readWindowEvents()).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });

  test("after the end, the monitors are checked within seconds at any interval", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made, { interval: 86_400 });
    const { site } = stage;
    await made.planWindow({ monitorIds: [site.id] }, 0, 20);
    await made.pass(60);
    expect(await made.readStatus(site.id)).toBe("maintenance");
    made.time.now += 60 * 60_000;
    await made.createSecondAppliance().passTime(3);
    expect(await made.readStatus(site.id)).toBe("up");
    expect(await made.readWindowEvents()).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });
});

test("a started watch with its own timer applies a window as soon as it is written", async () => {
  const made = await createPlanner();
  const { maintenance } = createAppliance({
    store: made.store,
    clock: Date.now,
    vault: made.appliance.vault,
  });
  await maintenance.start();
  const heard: string[] = [];
  maintenance.onChange((ids) => heard.push(...ids));
  const { id } = await made.monitor();
  const startsAt = new Date(Date.now() - 1_000).toISOString();
  const endsAt = new Date(Date.now() + 60_000).toISOString();
  await made.planWindow({ startsAt, endsAt, monitorIds: [id] });
  await waitUntil(() => heard.length > 0);
  expect(maintenance.of({ organizationId: made.ours.id, id })).toEqual({ countsUptime: false });
  expect(maintenance.of({ organizationId: made.theirs.id, id })).toBeNull();
  await maintenance.stop();
});
