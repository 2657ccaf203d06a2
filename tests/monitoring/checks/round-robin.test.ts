import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Limits, Scheduler } from "../../../src/monitoring/checks/engine/scheduler.ts";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import { expandOverview } from "../../../src/dashboard/rules.ts";
import { readSince } from "../../../src/events/log.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";
import { signInMember } from "../../support/people.ts";
import { type Beat, createWatch } from "../../support/check-board.ts";

type Monitor = { organizationId: string; lane: string; interval: number; takes: number };
type Start = { key: number; at: number; dueAt: number; beyondShare: boolean };

/** Simulates the checks of these monitors on a test clock; hanging checks take very long. */
async function simulateChecks(monitors: readonly Monitor[], limits: Limits, until: number) {
  let now = 0;
  const share = (() => {
    const organizations = new Set(monitors.map(({ organizationId }) => organizationId));
    return Math.max(1, Math.floor(limits.reserved / organizations.size));
  })();
  const started: Start[] = [];
  const overdue: number[] = [];
  const peak = { all: 0, lanes: new Map<string, number>() };
  const ends: { at: number; end: () => void }[] = [];
  const running = new Map<number, Monitor>();
  const getMonitor = (key: number) => monitors[key] as Monitor;
  const count = (isReached: (monitor: Monitor) => boolean) =>
    [...running.values()].filter(isReached).length;
  const termsOf = ({ organizationId, lane, interval }: Monitor) => ({
    organizationId,
    lane,
    patienceMs: interval,
  });
  const jobs = new Scheduler(
    {
      async run(key, dueAt) {
        const { organizationId, lane, takes, interval } = getMonitor(key);
        const beyondShare = count((one) => one.organizationId === organizationId) >= share;
        started.push({ key, at: now, dueAt, beyondShare });
        running.set(key, getMonitor(key));
        peak.all = Math.max(peak.all, running.size);
        const laneKey = `${organizationId} ${lane}`;
        const inLane = count((one) => one.organizationId === organizationId && one.lane === lane);
        peak.lanes.set(laneKey, Math.max(peak.lanes.get(laneKey) ?? 0, inLane));
        await new Promise<void>((end) => ends.push({ at: now + takes, end }));
        running.delete(key);
        jobs.schedule(
          key,
          dueAt + interval * Math.ceil((now - dueAt + 1) / interval),
          termsOf(getMonitor(key)),
        );
      },
      overdue: (key) => void overdue.push(key),
    },
    () => now,
    limits,
  );
  for (const [key, monitor] of monitors.entries()) jobs.schedule(key, 0, termsOf(monitor));
  while (now < until) {
    jobs.startDue();
    const next = Math.min(jobs.findNextDueAt() ?? Infinity, ...ends.map(({ at }) => at));
    now = Math.max(now, next);
    for (const ended of ends.filter(({ at }) => at <= now)) {
      ends.splice(ends.indexOf(ended), 1);
      ended.end();
      // A waiting check starts before the next slot is free.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  }
  return { started, overdue, most: peak, share };
}

const limits = fc.record({
  reserved: fc.integer({ min: 1, max: 12 }),
  shared: fc.integer({ min: 1, max: 6 }),
  perLane: fc.constant(100),
});
const monitor = fc.record({
  organizationId: fc.constantFrom("a", "b", "c", "d"),
  lane: fc.constantFrom("x", "y", "z"),
  interval: fc.integer({ min: 5, max: 40 }),
  takes: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(60)),
});
const many = fc.array(monitor, { minLength: 1, maxLength: 40 });

describe("under any load of other organizations,", () => {
  test("an organization within its share has every check on time", async () => {
    await fc.assert(
      fc.asyncProperty(many, limits, async (monitors, limits) => {
        const { started, overdue, share } = await simulateChecks(monitors, limits, 300);
        const all = Map.groupBy(monitors.keys(), (key) => monitors[key]?.organizationId);
        for (const keys of all.values()) {
          if (keys.length > share) continue;
          const startsOfOrganization = started.filter(({ key }) => keys.includes(key));
          expect(startsOfOrganization.filter(({ at, dueAt }) => at !== dueAt)).toEqual([]);
          expect(overdue.filter((key) => keys.includes(key))).toEqual([]);
        }
      }),
    );
  });

  test("an organization above its share waits at most one check of each other organization", async () => {
    await fc.assert(
      fc.asyncProperty(many, limits, async (monitors, limits) => {
        const { started } = await simulateChecks(monitors, limits, 300);
        const organizationOf = ({ key }: Start) => monitors[key]?.organizationId ?? "";
        // An organization waits while its check is due but not started.
        for (const [index, own] of started.entries()) {
          if (own.at === own.dueAt) continue;
          const before = started.slice(0, index);
          const last = before.findLastIndex((one) => organizationOf(one) === organizationOf(own));
          const meanwhile = before
            .slice(last + 1)
            .filter(({ at, beyondShare }) => beyondShare && at > own.dueAt);
          const others = Map.groupBy(meanwhile, organizationOf);
          for (const [, begun] of others) expect(begun.length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("the limits of concurrent checks hold, in total and per lane of each organization", async () => {
    const narrow = limits.map((each) => ({ ...each, perLane: 2 }));
    await fc.assert(
      fc.asyncProperty(many, narrow, async (monitors, limits) => {
        const { most, started } = await simulateChecks(monitors, limits, 300);
        expect(most.all).toBeLessThanOrEqual(limits.shared + Math.max(limits.reserved, 4));
        for (const inLane of most.lanes.values()) expect(inLane).toBeLessThanOrEqual(2);
        expect(new Set(started.map(({ key }) => key)).size).toBe(monitors.length);
      }),
    );
  });
});

test("idle capacity is used: a single organization gets all slots except the shares of others", async () => {
  const hanging = { organizationId: "a", lane: "x", interval: 5, takes: 1_000 };
  const idle = { organizationId: "b", lane: "x", interval: 1_000, takes: 0 };
  const monitors = [idle, ...Array.from({ length: 50 }, () => hanging)];
  const { most } = await simulateChecks(monitors, { reserved: 8, shared: 8, perLane: 100 }, 100);
  expect(most.lanes.get("a x")).toBe(8 / 2 + 8);
});

/** An engine with one slot per organization; a hanging check occupies ours. */
async function createFullEngine() {
  const watch = await createWatch();
  const { time, appliance, store, monitor } = watch;
  const limits = { reserved: 1, shared: 0, perLane: 1 };
  const engine = new CheckEngine({ ...appliance, monotonic: appliance.clock, checkLimits: limits });
  await engine.runOnce();
  const shop = await watch.createSite({ interval: 5, timeout: 5 });
  await engine.runOnce();
  const silent = await startTarget(hang);
  await monitor({ type: "http", name: "Silent", url: silent.at(), interval: 3_600, timeout: 60 });
  const running: Promise<void>[] = [];
  const turn = (seconds: number) => {
    time.now += seconds * 1_000;
    running.push(engine.runOnce());
  };
  turn(0);
  await silent.waitUntilRequested(1);
  return {
    ...watch,
    shop,
    silent,
    /** Advances the time in steps of a second. */
    roundRobin: async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        turn(1);
        // Due checks run while these requests are served.
        for (let request = 0; request < 5; request++) await watch.readMonitor(shop.id);
      }
    },
    /** Resolves when at least `wanted` results are stored. */
    untilBeats: async (read: () => Promise<Beat[]>, wanted: number) => {
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const stop = store.onCommit(resolve);
        const heartbeats = await read();
        if (heartbeats.length < wanted) await promise;
        stop();
        if (heartbeats.length >= wanted) return heartbeats;
      }
    },
    /** Ends the hanging check and all checks that wait for it. */
    ended: async () => {
      silent.release(replyWith());
      await Promise.all(running);
      await engine.runOnce();
    },
    async [Symbol.asyncDispose]() {
      await silent[Symbol.asyncDispose]();
      await shop[Symbol.asyncDispose]();
    },
  };
}

test("a check that can't start in time is unknown each time, without further effects", async () => {
  await using world = await createFullEngine();
  const { shop, roundRobin, untilBeats, ended, readBeats, readMonitor, readStateChanges, store } =
    world;
  const before = await readBeats(shop.id);
  await roundRobin(55);
  const late = (await untilBeats(() => readBeats(shop.id), before.length + 3)).slice(before.length);
  const message = "Not judged: too many other checks are under way.";
  for (const beat of late)
    expect(beat).toMatchObject({ status: "unknown", message, latencyMs: null, period: 15 });
  const gaps = late
    .slice(1)
    .map(({ at }, index) => Date.parse(at) - Date.parse(late[index]?.at ?? ""));
  expect(new Set(gaps)).toEqual(new Set([15_000]));
  expect(await readMonitor(shop.id)).toMatchObject({
    status: "up",
    lastMessage: message,
    lastCheckedAt: late.at(-1)?.at,
    uptime24h: 1,
  });
  expect(shop.asked).toHaveLength(before.length);
  const { page } = await signInMember(world, "viewer");
  const readRow = async () =>
    expandOverview((await page("GET", "/dashboard/overview")).json.data).monitors.find(
      ({ id }) => id === shop.id,
    );
  expect(await readRow()).toMatchObject({ status: "unknown", lastMessage: message });
  await ended();
  expect((await readRow())?.status).toBe("up");
  expect((await readBeats(shop.id)).at(-1)?.status).toBe("up");
  const messages = (await readStateChanges()).filter(({ subjectId }) => subjectId === shop.id);
  expect(messages.map(({ type }) => type)).toEqual(["monitor.up"]);
  const troubles = (await readSince(store, 0, 10_000)).filter(
    ({ type }) => type === "appliance.troubled",
  );
  expect(troubles.map(({ data }) => data)).toMatchObject([
    { message: "Too many other checks are under way." },
  ]);
});

test("the checks of another organization stay on time", async () => {
  await using world = await createFullEngine();
  const { theirs, roundRobin, untilBeats, ended, shop } = world;
  const body = { type: "http", name: "Theirs", url: shop.at("/theirs"), interval: 5, timeout: 5 };
  const { json } = await theirs.api("POST", "/api/v1/monitors", { body });
  const path = `/api/v1/monitors/${json.data.id}/heartbeats`;
  const read = async (): Promise<Beat[]> => (await theirs.api("GET", path)).json.data.toReversed();
  for (let checks = 1; checks <= 4; checks++) {
    await roundRobin(checks === 1 ? 1 : 5);
    await untilBeats(read, checks);
  }
  await ended();
  const heartbeats = await read();
  expect(new Set(heartbeats.map(({ status }) => status))).toEqual(new Set(["up"]));
  const gaps = heartbeats
    .slice(2)
    .map(({ at }, index) => Date.parse(at) - Date.parse(heartbeats[index + 1]?.at ?? ""));
  expect(new Set(gaps)).toEqual(new Set([5_000]));
  expect(heartbeats).toHaveLength(4);
});
