import { describe, expect, test } from "bun:test";
import { createPlanner, createWatchedSite } from "../../support/planner.ts";

describe("during a window", () => {
  test("its monitors are in maintenance within seconds of its start, and in their real state within seconds of its end", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    await using stranger = await made.createSite({ interval: 300 });
    await made.pass(1);
    await made.planWindow({ monitorIds: [site.id] }, 10, 10);
    const seen: string[] = [];
    for (const seconds of [599, 3, 597, 3]) {
      await made.pass(seconds);
      seen.push(`${await made.readStatus(site.id)} ${await made.readStatus(stranger.id)}`);
    }
    expect(seen).toEqual(["up up", "maintenance up", "maintenance up", "up up"]);
  });

  test("a window that starts immediately, or is changed, applies at once", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    const { id } = await made.planWindow({ monitorIds: [site.id] }, -5);
    await made.pass(2);
    expect(await made.readStatus(site.id)).toBe("maintenance");
    await made.change(id, { startsAt: made.inMinutes(30) });
    await made.pass(2);
    expect(await made.readStatus(site.id)).toBe("up");
    await made.change(id, { startsAt: made.inMinutes(-30) });
    await made.pass(2);
    expect(await made.readStatus(site.id)).toBe("maintenance");
  });

  test("deleting the window ends it at once", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    const { id } = await made.planWindow({ monitorIds: [site.id] });
    await made.pass(2);
    await made.remove(id);
    await made.pass(2);
    expect(await made.readStatus(site.id)).toBe("up");
  });

  test("monitors that join its group are included, and monitors that leave it are checked normally", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    await using other = await made.createSite({ interval: 300 });
    const { id: groupId } = await made.group({ monitorIds: [site.id] });
    await made.planWindow({ groupIds: [groupId] });
    const states = async () => {
      await made.pass(2);
      return [await made.readStatus(site.id), await made.readStatus(other.id)];
    };
    expect(await states()).toEqual(["maintenance", "up"]);
    await made.changeGroup(groupId, { monitorIds: [other.id] });
    expect(await states()).toEqual(["up", "maintenance"]);
    await made.changeMonitor(site.id, { groupId });
    expect(await states()).toEqual(["maintenance", "maintenance"]);
    await made.changeMonitor(other.id, { groupId: null });
    expect(await states()).toEqual(["maintenance", "up"]);
    await made.api("DELETE", `/api/v1/monitor-groups/${groupId}`);
    expect(await states()).toEqual(["up", "up"]);
  });

  test("monitors of another organization are not affected", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    const times = { startsAt: made.inMinutes(-1), endsAt: made.inMinutes(60) };
    await made.theirs.api("POST", made.path, { body: { title: "Theirs", ...times } });
    await made.pass(2);
    expect(await made.readStatus(site.id)).toBe("up");
  });

  test("each occurrence of its rule applies", async () => {
    const made = await createPlanner();
    const { id } = await made.monitor();
    await made.planWindow({ monitorIds: [id], rrule: "FREQ=HOURLY;COUNT=2" }, 10, 5);
    await made.maintenance.runOnce();
    const held: number[] = [];
    for (let minute = 0; minute < 200; minute++, made.time.now += 60_000) {
      if (made.maintenance.of({ organizationId: made.ours.id, id }) !== null) held.push(minute);
      await made.maintenance.runOnce();
    }
    expect(held).toEqual([10, 11, 12, 13, 14, 70, 71, 72, 73, 74]);
    expect(await made.readWindowEvents()).toEqual([
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
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { hook, site } = stage;
    await made.planWindow({ monitorIds: [site.id] }, 1, 20);
    await made.pass(120);
    site.failNow();
    await made.pass(600);
    await made.later();
    expect(hook.listTitles()).toEqual([]);
    await made.pass(600);
    await made.later();
    expect([await made.readStatus(site.id), hook.listTitles()]).toEqual(["down", [down]]);
    site.recoverNow();
    await made.pass(300);
    await made.later();
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("an outage that ends during maintenance is never alerted", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { hook, site } = stage;
    await made.planWindow({ monitorIds: [site.id] }, 1, 20);
    await made.pass(120);
    site.failNow();
    await made.pass(600);
    site.recoverNow();
    await made.pass(700);
    await made.later();
    expect([await made.readStatus(site.id), hook.listTitles()]).toEqual(["up", []]);
  });

  test("an earlier outage is not alerted again, and its recovery is alerted at the end", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { hook, site } = stage;
    site.failNow();
    await made.pass(300);
    await made.later();
    expect(hook.listTitles()).toEqual([down]);
    await made.planWindow({ monitorIds: [site.id] }, 0, 20);
    await made.pass(600);
    site.recoverNow();
    await made.pass(300);
    await made.later();
    expect(hook.listTitles()).toEqual([down]);
    await made.pass(330);
    await made.later();
    expect(hook.listTitles()).toEqual([down, up]);
  });

  test("an outage that started during maintenance opens its incident at the end", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made, { autoIncidentSeverity: "major" });
    const { site } = stage;
    await made.planWindow({ monitorIds: [site.id] }, 0, 20);
    const count = async () => (await made.api("GET", "/api/v1/incidents")).json.meta.total;
    await made.pass(60);
    site.failNow();
    await made.pass(1_000);
    expect(await count()).toBe(0);
    await made.pass(200);
    expect(await count()).toBe(1);
  });
});

describe("results during maintenance", () => {
  for (const [countsUptime, status] of [
    [false, "maintenance"],
    [true, "down"],
  ] as const)
    test(`are stored as ${status} if they ${countsUptime ? "count" : "don't count"} in uptime`, async () => {
      const made = await createPlanner();
      await using stage = await createWatchedSite(made);
      const { site } = stage;
      await made.planWindow({ monitorIds: [site.id], countsUptime }, 1, 30);
      await made.pass(300);
      site.failNow();
      await made.pass(900);
      const beats = await made.readBeats(site.id);
      expect(beats.at(-1)?.status).toBe(status);
      expect(await made.readStatus(site.id)).toBe("maintenance");
      const { uptime24h } = await made.readMonitor(site.id);
      if (countsUptime) expect(uptime24h).toBeLessThan(1);
      else expect(uptime24h).toBe(1);
    });

  test("don't count if one of two windows excludes them", async () => {
    const made = await createPlanner();
    await using stage = await createWatchedSite(made);
    const { site } = stage;
    await made.planWindow({ monitorIds: [site.id], countsUptime: true });
    await made.planWindow({ monitorIds: [site.id], countsUptime: false });
    await made.planWindow({ monitorIds: [site.id], countsUptime: true });
    await made.pass(2);
    expect((await made.readBeats(site.id)).at(-1)?.status).toBe("maintenance");
  });
});

describe("a push monitor", () => {
  test("that becomes overdue during maintenance is not down before the end", async () => {
    const made = await createPlanner();
    const job = await made.createJob({ interval: 60, grace: 0 });
    await made.pass(1);
    await job.report();
    await made.planWindow({ monitorIds: [job.id] }, 0, 10);
    await made.pass(300);
    expect(await made.readStatus(job.id)).toBe("maintenance");
    await made.pass(303);
    expect(await made.readStatus(job.id)).toBe("down");
    await job.report();
    expect(await made.readStatus(job.id)).toBe("up");
  });

  test("is in maintenance from the start, and the time before counts with its real status", async () => {
    const made = await createPlanner();
    const job = await made.createJob({ interval: 86_400 });
    await made.pass(1);
    await job.report();
    await made.planWindow({ monitorIds: [job.id] }, 1, 5);
    await made.pass(59);
    expect(await made.readStatus(job.id)).toBe("up");
    await made.pass(3);
    expect(await made.readStatus(job.id)).toBe("maintenance");
    const [last] = (await made.readBeats(job.id)).slice(-1);
    expect(last?.status).toBe("up");
    expect(last?.period).toBeGreaterThanOrEqual(59);
    await made.pass(300);
    expect(await made.readStatus(job.id)).toBe("up");
  });

  test("that reported during maintenance is up at the end, without waiting for the next report", async () => {
    const made = await createPlanner();
    const job = await made.createJob({ interval: 86_400 });
    await made.pass(1);
    await job.report({ status: "down" });
    expect(await made.readStatus(job.id)).toBe("down");
    await made.planWindow({ monitorIds: [job.id] }, 0, 5);
    await made.pass(1);
    await job.report();
    expect(await made.readStatus(job.id)).toBe("maintenance");
    await made.pass(302);
    expect(await made.readStatus(job.id)).toBe("up");
    const beats = await made.readBeats(job.id);
    expect(beats.map(({ status }) => status)).toEqual(["down", ...Array(3).fill("maintenance")]);
    // The time until then is maintenance and excluded from uptime.
    expect(beats.at(-1)?.period).toBeGreaterThan(290);
  });
});
