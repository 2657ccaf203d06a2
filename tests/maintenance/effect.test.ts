import { describe, expect, test } from "bun:test";
import { readSince } from "../../src/events/log.ts";
import { applianceOn } from "../support/appliance.ts";
import { planner } from "../support/planner.ts";

type Planner = Awaited<ReturnType<typeof planner>>;

/** A site that is checked every five minutes, known to be up, and who hears of it. */
async function watched(made: Planner, fields: object = {}) {
  const hook = await made.inbox();
  const site = await made.site({ interval: 300, alertChannelIds: [hook.id], ...fields });
  await made.pass(1);
  return {
    hook,
    site,
    async [Symbol.asyncDispose]() {
      await hook[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** What was told of windows, in order: `started 10:00–11:00`. */
async function told({ store }: Pick<Planner, "store">) {
  const events = await readSince(store, 0, 10_000);
  return events
    .filter(({ type }) => /^maintenance\.(started|ended)$/.test(type))
    .map(({ type, data }) => {
      const [from, to] = [data?.["startsAt"], data?.["endsAt"]].map((at) =>
        String(at).slice(11, 16),
      );
      return `${type.slice(12)} ${from}–${to}`;
    });
}

describe("while a window holds", () => {
  test("its monitors are in maintenance within seconds of its begin, and what they are within seconds of its end", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    await using stranger = await made.site({ interval: 300 });
    await made.pass(1);
    await made.plan({ monitorIds: [site.id] }, 10, 10);
    const seen: string[] = [];
    for (const seconds of [599, 3, 597, 3]) {
      await made.pass(seconds);
      seen.push(`${await made.statusOf(site.id)} ${await made.statusOf(stranger.id)}`);
    }
    expect(seen).toEqual(["up up", "maintenance up", "maintenance up", "up up"]);
  });

  test("one that is planned when it begins, and one that is changed, hold at once", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    const { id } = await made.plan({ monitorIds: [site.id] }, -5);
    await made.pass(2);
    expect(await made.statusOf(site.id)).toBe("maintenance");
    await made.change(id, { startsAt: made.inMinutes(30) });
    await made.pass(2);
    expect(await made.statusOf(site.id)).toBe("up");
    await made.change(id, { startsAt: made.inMinutes(-30) });
    await made.pass(2);
    expect(await made.statusOf(site.id)).toBe("maintenance");
  });

  test("deleted, it ends at once", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    const { id } = await made.plan({ monitorIds: [site.id] });
    await made.pass(2);
    await made.remove(id);
    await made.pass(2);
    expect(await made.statusOf(site.id)).toBe("up");
  });

  test("who joins its group joins in, who leaves it is checked as ever", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    await using other = await made.site({ interval: 300 });
    const { id: groupId } = await made.group({ monitorIds: [site.id] });
    await made.plan({ groupIds: [groupId] });
    const states = async () => {
      await made.pass(2);
      return [await made.statusOf(site.id), await made.statusOf(other.id)];
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

  test("it says nothing about another organization's monitors", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    const times = { startsAt: made.inMinutes(-1), endsAt: made.inMinutes(60) };
    await made.theirs.api("POST", made.path, { body: { title: "Theirs", ...times } });
    await made.pass(2);
    expect(await made.statusOf(site.id)).toBe("up");
  });

  test("again and again: each time that its rule names", async () => {
    const made = await planner();
    const { id } = await made.monitor();
    await made.plan({ monitorIds: [id], rrule: "FREQ=HOURLY;COUNT=2" }, 10, 5);
    await made.maintenance.runOnce();
    const held: number[] = [];
    for (let minute = 0; minute < 200; minute++, made.time.now += 60_000) {
      if (made.maintenance.of({ organizationId: made.ours.id, id }) !== null) held.push(minute);
      await made.maintenance.runOnce();
    }
    expect(held).toEqual([10, 11, 12, 13, 14, 70, 71, 72, 73, 74]);
    expect(await told(made)).toEqual([
      "started 10:10–10:15",
      "ended 10:10–10:15",
      "started 11:10–11:15",
      "ended 11:10–11:15",
    ]);
  });
});

describe("alerts are held", () => {
  const down = "monitor.down Shop";
  const up = "monitor.up Shop";

  test("who goes down during it is told of at its end, if still down", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { hook, site } = stage;
    await made.plan({ monitorIds: [site.id] }, 1, 20);
    await made.pass(120);
    site.fails();
    await made.pass(600);
    await made.later();
    expect(hook.heard()).toEqual([]);
    await made.pass(600);
    await made.later();
    expect([await made.statusOf(site.id), hook.heard()]).toEqual(["down", [down]]);
    site.recovers();
    await made.pass(300);
    await made.later();
    expect(hook.heard()).toEqual([down, up]);
  });

  test("who goes down and is up again before its end is never told of", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { hook, site } = stage;
    await made.plan({ monitorIds: [site.id] }, 1, 20);
    await made.pass(120);
    site.fails();
    await made.pass(600);
    site.recovers();
    await made.pass(700);
    await made.later();
    expect([await made.statusOf(site.id), hook.heard()]).toEqual(["up", []]);
  });

  test("who was down before hears nothing new, and its recovery at the end", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { hook, site } = stage;
    site.fails();
    await made.pass(300);
    await made.later();
    expect(hook.heard()).toEqual([down]);
    await made.plan({ monitorIds: [site.id] }, 0, 20);
    await made.pass(600);
    site.recovers();
    await made.pass(300);
    await made.later();
    expect(hook.heard()).toEqual([down]);
    await made.pass(330);
    await made.later();
    expect(hook.heard()).toEqual([down, up]);
  });

  test("an outage that began under maintenance opens its incident at the end", async () => {
    const made = await planner();
    await using stage = await watched(made, { autoIncidentSeverity: "major" });
    const { site } = stage;
    await made.plan({ monitorIds: [site.id] }, 0, 20);
    const count = async () => (await made.api("GET", "/api/v1/incidents")).json.meta.total;
    await made.pass(60);
    site.fails();
    await made.pass(1_000);
    expect(await count()).toBe(0);
    await made.pass(200);
    expect(await count()).toBe(1);
  });
});

describe("results of that time", () => {
  for (const [countsUptime, status] of [
    [false, "maintenance"],
    [true, "down"],
  ] as const)
    test(`are kept as ${status} where they ${countsUptime ? "count" : "don't count"} in uptime`, async () => {
      const made = await planner();
      await using stage = await watched(made);
      const { site } = stage;
      await made.plan({ monitorIds: [site.id], countsUptime }, 1, 30);
      await made.pass(300);
      site.fails();
      await made.pass(900);
      const beats = await made.beatsOf(site.id);
      expect(beats.at(-1)?.status).toBe(status);
      expect(await made.statusOf(site.id)).toBe("maintenance");
      const { uptime24h } = await made.monitorOf(site.id);
      if (countsUptime) expect(uptime24h).toBeLessThan(1);
      else expect(uptime24h).toBe(1);
    });

  test("don't count where one of two windows says so", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    await made.plan({ monitorIds: [site.id], countsUptime: true });
    await made.plan({ monitorIds: [site.id], countsUptime: false });
    await made.plan({ monitorIds: [site.id], countsUptime: true });
    await made.pass(2);
    expect((await made.beatsOf(site.id)).at(-1)?.status).toBe("maintenance");
  });
});

describe("a push monitor", () => {
  test("that is overdue during maintenance is not down before its end", async () => {
    const made = await planner();
    const job = await made.job({ interval: 60, grace: 0 });
    await made.pass(1);
    await job.report();
    await made.plan({ monitorIds: [job.id] }, 0, 10);
    await made.pass(300);
    expect(await made.statusOf(job.id)).toBe("maintenance");
    await made.pass(303);
    expect(await made.statusOf(job.id)).toBe("down");
    await job.report();
    expect(await made.statusOf(job.id)).toBe("up");
  });

  test("that reports is in maintenance until its first report after it", async () => {
    const made = await planner();
    const job = await made.job({ interval: 600 });
    await made.pass(1);
    await made.plan({ monitorIds: [job.id] }, 0, 5);
    await made.pass(1);
    await job.report();
    expect(await made.statusOf(job.id)).toBe("maintenance");
    await made.pass(300);
    await job.report();
    expect(await made.statusOf(job.id)).toBe("up");
  });
});

describe("begin and end are told once", () => {
  test("each, with the times of that occurrence; an end that was cut short says when", async () => {
    const made = await planner();
    const { id } = await made.plan({}, 5, 30);
    await made.pass(600);
    expect(await told(made)).toEqual(["started 10:05–10:35"]);
    await made.change(id, { title: "Cabling", endsAt: made.inMinutes(60) });
    await made.pass(10);
    expect(await told(made)).toEqual(["started 10:05–10:35"]);
    await made.remove(id);
    await made.pass(10);
    expect(await told(made)).toEqual(["started 10:05–10:35", "ended 10:05–10:10"]);
  });

  test("by two processes on the same data, too", async () => {
    const made = await planner();
    const others = [made.another(), made.another(), made];
    for (const { maintenance } of others) await maintenance.runOnce();
    await made.plan({}, 1, 1);
    for (let seconds = 0; seconds < 200; seconds += 5) {
      made.time.now += 5_000;
      await Promise.all(others.map(({ maintenance }) => maintenance.runOnce()));
    }
    expect(await told(made)).toEqual(["started 10:01–10:02", "ended 10:01–10:02"]);
  });

  test("whenever the power fails between", async () => {
    const made = await planner();
    await made.plan({ rrule: "FREQ=HOURLY;COUNT=3" }, 0, 30);
    await made.maintenance.runOnce();
    for (let quarter = 0; quarter < 16; quarter++) {
      if (quarter % 3 === 0) made.diesBefore("followers");
      const { maintenance } = made.another();
      for (const _ of [1, 2, 3]) await maintenance.runOnce();
      made.time.now += 15 * 60_000;
    }
    expect(await told(made)).toEqual([
      "started 10:00–10:30",
      "ended 10:00–10:30",
      "started 11:00–11:30",
      "ended 11:00–11:30",
      "started 12:00–12:30",
      "ended 12:00–12:30",
    ]);
  });

  test("what nobody was there for from begin to end is not told afterwards", async () => {
    const made = await planner();
    await made.plan({}, 10, 10);
    made.time.now += 60 * 60_000;
    await made.pass(5);
    expect(await told(made)).toEqual([]);
  });
});

describe("after a restart", () => {
  test("in the middle it goes on, and its end is noticed", async () => {
    const made = await planner();
    await using stage = await watched(made);
    const { site } = stage;
    await made.plan({ monitorIds: [site.id] }, 0, 20);
    await made.pass(60);
    const other = made.another();
    site.fails();
    await other.pass(600);
    expect(await made.statusOf(site.id)).toBe("maintenance");
    await other.pass(545);
    expect(await made.statusOf(site.id)).toBe("down");
    expect(await told(made)).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });

  test("after its end the monitors are looked at within seconds, however rarely they are checked", async () => {
    const made = await planner();
    await using stage = await watched(made, { interval: 86_400 });
    const { site } = stage;
    await made.plan({ monitorIds: [site.id] }, 0, 20);
    await made.pass(60);
    expect(await made.statusOf(site.id)).toBe("maintenance");
    made.time.now += 60 * 60_000;
    await made.another().pass(3);
    expect(await made.statusOf(site.id)).toBe("up");
    expect(await told(made)).toEqual(["started 10:00–10:20", "ended 10:00–10:20"]);
  });
});

test("in production style – started, followed by its own timer – a window holds from its write on", async () => {
  const made = await planner();
  const { maintenance } = applianceOn({
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
  await made.plan({ startsAt, endsAt, monitorIds: [id] });
  while (heard.length === 0) await Bun.sleep(5);
  expect(maintenance.of({ organizationId: made.ours.id, id })).toEqual({ countsUptime: false });
  expect(maintenance.of({ organizationId: made.theirs.id, id })).toBeNull();
  await maintenance.stop();
});
