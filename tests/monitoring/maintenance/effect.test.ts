import { describe, expect, test } from "bun:test";
import { createPlanner, createWatchedSite } from "../../support/planner.ts";

describe("during a window", () => {
  test("its monitors are in maintenance within seconds of its start, and in their real state within seconds of its end", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    await using stranger = await planner.createSite({ interval: 300 });
    await planner.advance(1);
    await planner.planWindow({ monitorIds: [site.id] }, 10, 10);
    const seen: string[] = [];
    for (const seconds of [599, 3, 597, 3]) {
      await planner.advance(seconds);
      seen.push(`${await planner.readStatus(site.id)} ${await planner.readStatus(stranger.id)}`);
    }
    expect(seen).toEqual(["up up", "maintenance up", "maintenance up", "up up"]);
  });

  test("a window that starts immediately, or is changed, applies at once", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    const { id } = await planner.planWindow({ monitorIds: [site.id] }, -5);
    await planner.advance(2);
    expect(await planner.readStatus(site.id)).toBe("maintenance");
    await planner.change(id, { startsAt: planner.inMinutes(30) });
    await planner.advance(2);
    expect(await planner.readStatus(site.id)).toBe("up");
    await planner.change(id, { startsAt: planner.inMinutes(-30) });
    await planner.advance(2);
    expect(await planner.readStatus(site.id)).toBe("maintenance");
  });

  test("deleting the window ends it at once", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    const { id } = await planner.planWindow({ monitorIds: [site.id] });
    await planner.advance(2);
    await planner.remove(id);
    await planner.advance(2);
    expect(await planner.readStatus(site.id)).toBe("up");
  });

  test("monitors that join its group are included, and monitors that leave it are checked normally", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    await using other = await planner.createSite({ interval: 300 });
    const { id: groupId } = await planner.group({ monitorIds: [site.id] });
    await planner.planWindow({ groupIds: [groupId] });
    const readStates = async () => {
      await planner.advance(2);
      return [await planner.readStatus(site.id), await planner.readStatus(other.id)];
    };
    expect(await readStates()).toEqual(["maintenance", "up"]);
    await planner.changeGroup(groupId, { monitorIds: [other.id] });
    expect(await readStates()).toEqual(["up", "maintenance"]);
    await planner.changeMonitor(site.id, { groupId });
    expect(await readStates()).toEqual(["maintenance", "maintenance"]);
    await planner.changeMonitor(other.id, { groupId: null });
    expect(await readStates()).toEqual(["maintenance", "up"]);
    await planner.api("DELETE", `/api/v1/monitor-groups/${groupId}`);
    expect(await readStates()).toEqual(["up", "up"]);
  });

  test("monitors of another organization are not affected", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    const times = { startsAt: planner.inMinutes(-1), endsAt: planner.inMinutes(60) };
    await planner.theirs.api("POST", planner.path, { body: { title: "Theirs", ...times } });
    await planner.advance(2);
    expect(await planner.readStatus(site.id)).toBe("up");
  });

  test("each occurrence of its rule applies", async () => {
    const planner = await createPlanner();
    const { id } = await planner.monitor();
    await planner.planWindow({ monitorIds: [id], rrule: "FREQ=HOURLY;COUNT=2" }, 10, 5);
    await planner.maintenance.runOnce();
    const held: number[] = [];
    for (let minute = 0; minute < 200; minute++, planner.time.now += 60_000) {
      if (planner.maintenance.of({ organizationId: planner.ours.id, id }) !== null)
        held.push(minute);
      await planner.maintenance.runOnce();
    }
    expect(held).toEqual([10, 11, 12, 13, 14, 70, 71, 72, 73, 74]);
    expect(await planner.readWindowEvents()).toEqual([
      "started 10:10–10:15",
      "ended 10:10–10:15",
      "started 11:10–11:15",
      "ended 11:10–11:15",
    ]);
  });
});

describe("alerts during maintenance", () => {
  const down = "monitor.down Shop";
  const up = "monitor.up Shop";

  test("an outage during maintenance is alerted at its end if it lasts", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { hook, site } = stage;
    await planner.planWindow({ monitorIds: [site.id] }, 1, 20);
    await planner.advance(120);
    site.failNow();
    await planner.advance(600);
    await planner.later();
    expect(hook.listTitles()).toEqual([]);
    await planner.advance(600);
    await planner.later();
    expect([await planner.readStatus(site.id), hook.listTitles()]).toEqual(["down", [down]]);
    site.recoverNow();
    await planner.advance(300);
    await planner.later();
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("an outage that ends during maintenance is never alerted", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { hook, site } = stage;
    await planner.planWindow({ monitorIds: [site.id] }, 1, 20);
    await planner.advance(120);
    site.failNow();
    await planner.advance(600);
    site.recoverNow();
    await planner.advance(700);
    await planner.later();
    expect([await planner.readStatus(site.id), hook.listTitles()]).toEqual(["up", []]);
  });

  test("an earlier outage is not alerted again, and its recovery is alerted at the end", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { hook, site } = stage;
    site.failNow();
    await planner.advance(300);
    await planner.later();
    expect(hook.listTitles()).toEqual([down]);
    await planner.planWindow({ monitorIds: [site.id] }, 0, 20);
    await planner.advance(600);
    site.recoverNow();
    await planner.advance(300);
    await planner.later();
    expect(hook.listTitles()).toEqual([down]);
    await planner.advance(330);
    await planner.later();
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("an outage that started during maintenance opens its incident at the end", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner, { autoIncidentSeverity: "major" });
    const { site } = stage;
    await planner.planWindow({ monitorIds: [site.id] }, 0, 20);
    const count = async () => (await planner.api("GET", "/api/v1/incidents")).json.meta.total;
    await planner.advance(60);
    site.failNow();
    await planner.advance(1_000);
    expect(await count()).toBe(0);
    await planner.advance(200);
    expect(await count()).toBe(1);
  });
});

describe("results during maintenance", () => {
  for (const [countsUptime, status] of [
    [false, "maintenance"],
    [true, "down"],
  ] as const)
    test(`are stored as ${status} if they ${countsUptime ? "count" : "don't count"} in uptime`, async () => {
      const planner = await createPlanner();
      await using stage = await createWatchedSite(planner);
      const { site } = stage;
      await planner.planWindow({ monitorIds: [site.id], countsUptime }, 1, 30);
      await planner.advance(300);
      site.failNow();
      await planner.advance(900);
      const heartbeats = await planner.readBeats(site.id);
      expect(heartbeats.at(-1)?.status).toBe(status);
      expect(await planner.readStatus(site.id)).toBe("maintenance");
      const { uptime24h } = await planner.readMonitor(site.id);
      if (countsUptime) expect(uptime24h).toBeLessThan(1);
      else expect(uptime24h).toBe(1);
    });

  test("don't count if one of two windows excludes them", async () => {
    const planner = await createPlanner();
    await using stage = await createWatchedSite(planner);
    const { site } = stage;
    await planner.planWindow({ monitorIds: [site.id], countsUptime: true });
    await planner.planWindow({ monitorIds: [site.id], countsUptime: false });
    await planner.planWindow({ monitorIds: [site.id], countsUptime: true });
    await planner.advance(2);
    expect((await planner.readBeats(site.id)).at(-1)?.status).toBe("maintenance");
  });
});

describe("a push monitor", () => {
  test("that becomes overdue during maintenance is not down before the end", async () => {
    const planner = await createPlanner();
    const job = await planner.createJob({ interval: 60, grace: 0 });
    await planner.advance(1);
    await job.report();
    await planner.planWindow({ monitorIds: [job.id] }, 0, 10);
    await planner.advance(300);
    expect(await planner.readStatus(job.id)).toBe("maintenance");
    await planner.advance(303);
    expect(await planner.readStatus(job.id)).toBe("down");
    await job.report();
    expect(await planner.readStatus(job.id)).toBe("up");
  });

  test("is in maintenance from the start, and the time before counts with its real status", async () => {
    const planner = await createPlanner();
    const job = await planner.createJob({ interval: 86_400 });
    await planner.advance(1);
    await job.report();
    await planner.planWindow({ monitorIds: [job.id] }, 1, 5);
    await planner.advance(59);
    expect(await planner.readStatus(job.id)).toBe("up");
    await planner.advance(3);
    expect(await planner.readStatus(job.id)).toBe("maintenance");
    const [last] = (await planner.readBeats(job.id)).slice(-1);
    expect(last?.status).toBe("up");
    expect(last?.period).toBeGreaterThanOrEqual(59);
    await planner.advance(300);
    expect(await planner.readStatus(job.id)).toBe("up");
  });

  test("that reported during maintenance is up at the end, without waiting for the next report", async () => {
    const planner = await createPlanner();
    const job = await planner.createJob({ interval: 86_400 });
    await planner.advance(1);
    await job.report({ status: "down" });
    expect(await planner.readStatus(job.id)).toBe("down");
    await planner.planWindow({ monitorIds: [job.id] }, 0, 5);
    await planner.advance(1);
    await job.report();
    expect(await planner.readStatus(job.id)).toBe("maintenance");
    await planner.advance(302);
    expect(await planner.readStatus(job.id)).toBe("up");
    const heartbeats = await planner.readBeats(job.id);
    expect(heartbeats.map(({ status }) => status)).toEqual([
      "down",
      ...Array(3).fill("maintenance"),
    ]);
    // The time until then is maintenance and excluded from uptime.
    expect(heartbeats.at(-1)?.period).toBeGreaterThan(290);
  });
});
