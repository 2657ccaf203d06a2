import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Scheduler } from "../../../src/monitoring/checks/engine/scheduler.ts";

const buildTerms = (lane: string | null) => ({ organizationId: "ours", lane, patienceMs: 5_000 });

/** A scheduler of one organization, with a test clock and runs that the test ends. */
function createTestScheduler({ total = 1_000, perLane = 1_000 } = {}) {
  const time = { now: 1_000 };
  const started: number[] = [];
  const dueAts: number[] = [];
  const overdue: number[] = [];
  const endings = new Map<number, () => void>();
  const jobs = new Scheduler(
    {
      run(key, dueAt) {
        if (endings.has(key)) throw new Error(`${key} runs twice at one time.`);
        started.push(key);
        dueAts.push(dueAt);
        const { promise, resolve } = Promise.withResolvers<void>();
        endings.set(key, resolve);
        return promise;
      },
      overdue: (key) => void overdue.push(key),
    },
    () => time.now,
    { reserved: 1, shared: total - 1, perLane },
  );
  return {
    jobs,
    time,
    /** Started jobs, in order. */
    started,
    /** Their due times. */
    dueAts,
    /** Jobs reported as overdue, in order. */
    overdue,
    running: () => [...endings.keys()],
    /** Ends a run; a waiting job then gets its slot. */
    end: async (key: number) => {
      const ended = jobs.runNow(key, buildTerms("any"));
      endings.get(key)?.();
      endings.delete(key);
      await ended;
    },
    /** Schedules jobs for now, all in one lane. */
    due: (...keys: number[]) => {
      for (const key of keys) jobs.schedule(key, time.now, buildTerms("one host"));
      jobs.startDue();
    },
  };
}

describe("a job", () => {
  test("starts when it is due, not before, and receives its due time", () => {
    const { jobs, time, started, dueAts } = createTestScheduler();
    jobs.schedule(1, 1_500, buildTerms("a"));
    expect(jobs.findNextDueAt()).toBe(1_500);
    time.now = 1_499;
    jobs.startDue();
    expect(started).toEqual([]);
    time.now = 1_700;
    jobs.startDue();
    jobs.startDue();
    expect([started, dueAts, jobs.findNextDueAt()]).toEqual([[1], [1_500], null]);
  });

  test("never runs twice concurrently: a job that is due again waits for the end of its run", async () => {
    const { due, end, started } = createTestScheduler();
    due(1);
    due(1);
    due(1);
    expect(started).toEqual([1]);
    await end(1);
    expect(started).toEqual([1, 1]);
    await end(1);
    expect(started).toEqual([1, 1]);
  });

  test("that is rescheduled runs only at the new time, earlier or later", () => {
    const { jobs, time, started } = createTestScheduler();
    jobs.schedule(1, 2_000, buildTerms("a"));
    jobs.schedule(1, 5_000, buildTerms("a"));
    jobs.schedule(2, 5_000, buildTerms("a"));
    jobs.schedule(2, 3_000, buildTerms("a"));
    expect(jobs.findNextDueAt()).toBe(3_000);
    time.now = 3_000;
    jobs.startDue();
    expect(started).toEqual([2]);
    time.now = 9_000;
    jobs.startDue();
    expect(started).toEqual([2, 1]);
  });

  test("that is rescheduled while it waits leaves the queue", async () => {
    const { jobs, due, end, started, time } = createTestScheduler({ total: 1, perLane: 1 });
    due(1, 2, 3);
    jobs.schedule(2, 9_000, buildTerms("one host"));
    await end(1);
    expect(started).toEqual([1, 3]);
    await end(3);
    time.now = 9_000;
    jobs.startDue();
    expect(started).toEqual([1, 3, 2]);
  });

  test("that is removed does not start, even if it was waiting", async () => {
    const { jobs, due, end, started, time } = createTestScheduler({
      total: 1,
      perLane: 1,
    });
    due(1, 2);
    jobs.schedule(3, 2_000, buildTerms("a"));
    jobs.remove(2);
    jobs.remove(3);
    jobs.remove(99);
    expect(jobs.findNextDueAt()).toBeNull();
    await end(1);
    time.now = 2_000;
    jobs.startDue();
    expect(started).toEqual([1]);
  });

  test("that is removed while it runs can be added again and runs after the end", async () => {
    const { jobs, due, end, started } = createTestScheduler();
    due(1);
    jobs.remove(1);
    expect(jobs.isRunning(1)).toBe(true);
    due(1);
    await end(1);
    expect(started).toEqual([1, 1]);
  });
});

describe("the limits", () => {
  test("apply in total; waiting jobs start in the order of due times", async () => {
    const { jobs, time, started, end } = createTestScheduler({ total: 2, perLane: 2 });
    for (const key of [5, 3, 1, 4, 2]) jobs.schedule(key, 1_000 + key, buildTerms(`host ${key}`));
    time.now = 2_000;
    jobs.startDue();
    jobs.startDue();
    expect(started).toEqual([1, 2]);
    await end(2);
    expect(started).toEqual([1, 2, 3]);
    await end(3);
    await end(1);
    expect(started).toEqual([1, 2, 3, 4, 5]);
  });

  test("apply per lane, and a full lane does not delay others", async () => {
    const { jobs, started, end } = createTestScheduler({ total: 10, perLane: 2 });
    for (const key of [1, 2, 3, 4]) jobs.schedule(key, 100 + key, buildTerms("hanging host"));
    for (const key of [11, 12]) jobs.schedule(key, 200 + key, buildTerms("other host"));
    jobs.startDue();
    expect(started).toEqual([1, 2, 11, 12]);
    await end(11);
    expect(started).toEqual([1, 2, 11, 12]);
    await end(1);
    expect(started).toEqual([1, 2, 11, 12, 3]);
  });

  test("are never exceeded, no job runs twice, and every job runs", async () => {
    const limit = fc.integer({ min: 1, max: 4 });
    const lanes = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 15 });
    const choices = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(limit, limit, lanes, choices, async (total, perLane, lanes, choices) => {
        const { jobs, running, end, started } = createTestScheduler({ total, perLane });
        for (const [key, lane] of lanes.entries()) jobs.schedule(key, key, buildTerms(lane));
        jobs.startDue();
        for (const choice of choices) {
          const runningIds = running();
          expect(runningIds.length).toBeLessThanOrEqual(total);
          for (const idsOfLane of Map.groupBy(runningIds, (key) => lanes[key]).values())
            expect(idsOfLane.length).toBeLessThanOrEqual(perLane);
          const next = runningIds[choice % Math.max(runningIds.length, 1)];
          if (next === undefined) break;
          await end(next);
        }
        expect(started.toSorted((a, b) => a - b)).toEqual([...lanes.keys()]);
        for (const startsOfLane of Map.groupBy(started, (key) => lanes[key]).values())
          expect(startsOfLane).toEqual(startsOfLane.toSorted((a, b) => a - b));
      }),
    );
  });
});

describe("a job that waits", () => {
  test("is overdue after its patience, and again after each such period, until it starts", async () => {
    const { jobs, due, end, time, overdue, started } = createTestScheduler({
      total: 1,
      perLane: 1,
    });
    due(1, 2);
    const at = async (now: number) => {
      time.now = now;
      jobs.startDue();
      return overdue.splice(0);
    };
    expect(jobs.findNextDueAt()).toBe(6_000);
    expect(await at(5_999)).toEqual([]);
    expect(await at(6_000)).toEqual([2]);
    expect(await at(10_999)).toEqual([]);
    expect(await at(11_000)).toEqual([2]);
    await end(1);
    expect(started).toEqual([1, 2]);
    expect(await at(99_000)).toEqual([]);
  });

  test("is not overdue if it is rescheduled or removed before", () => {
    const { jobs, due, time, overdue } = createTestScheduler({ total: 1, perLane: 1 });
    due(1, 2, 3);
    jobs.remove(2);
    jobs.schedule(3, 50_000, buildTerms("one host"));
    time.now = 40_000;
    jobs.startDue();
    expect([overdue, jobs.findNextDueAt()]).toEqual([[], 50_000]);
  });

  test("for its own run is not overdue", () => {
    const { due, jobs, time, overdue } = createTestScheduler();
    due(1);
    due(1);
    time.now = 60_000;
    jobs.startDue();
    expect(overdue).toEqual([]);
  });
});

test("a job that takes no time never waits", () => {
  const { jobs, due, started } = createTestScheduler({ total: 1, perLane: 1 });
  due(1, 2);
  jobs.schedule(3, 1_000, buildTerms(null));
  jobs.startDue();
  expect(started).toEqual([1, 3]);
});

describe("runNow", () => {
  test("starts immediately despite the limits, and replaces the next regular run", async () => {
    const { jobs, due, started, dueAts, end, time } = createTestScheduler({
      total: 1,
      perLane: 1,
    });
    due(1);
    jobs.schedule(2, 1_500, buildTerms("one host"));
    time.now = 1_200;
    void jobs.runNow(2, buildTerms("one host"));
    expect([started, dueAts]).toEqual([
      [1, 2],
      [1_000, 1_200],
    ]);
    await end(2);
    await end(1);
    time.now = 1_500;
    jobs.startDue();
    expect(started).toEqual([1, 2]);
  });

  test("joins a running job", async () => {
    const { jobs, due, started, end } = createTestScheduler();
    due(1);
    const ended: string[] = [];
    const joined = [jobs.runNow(1, buildTerms("a")), jobs.runNow(1, buildTerms("b"))].map((run) =>
      run.then(() => ended.push("x")),
    );
    expect(ended).toEqual([]);
    await end(1);
    await Promise.all(joined);
    expect([started, ended.length]).toEqual([[1], 2]);
  });

  test("counts towards the limits of the others", async () => {
    const { jobs, due, started, end } = createTestScheduler({ total: 1, perLane: 1 });
    void jobs.runNow(7, buildTerms("one host"));
    due(1);
    expect(started).toEqual([7]);
    await end(7);
    expect(started).toEqual([7, 1]);
  });
});

test("settled waits for running jobs", async () => {
  const { jobs, due, end } = createTestScheduler();
  due(1, 2);
  let isSettled = false;
  const all = jobs.waitUntilSettled().then(() => (isSettled = true));
  await end(1);
  expect(isSettled).toBe(false);
  await end(2);
  await all;
});

test("jobs start in the order of due times after any scheduling, changes and removals", async () => {
  const key = fc.integer({ min: 0, max: 30 });
  const action = fc.oneof(
    { weight: 5, arbitrary: fc.record({ key, in: fc.nat({ max: 500 }) }) },
    { weight: 1, arbitrary: fc.record({ remove: key }) },
    { weight: 1, arbitrary: fc.record({ pass: fc.nat({ max: 200 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 150 }), async (actions) => {
      const { jobs, time, started, dueAts, end } = createTestScheduler();
      const expected = new Map<number, number>();
      for (const next of [...actions, { pass: 1_000 }]) {
        if ("key" in next) {
          expected.set(next.key, time.now + next.in);
          jobs.schedule(next.key, time.now + next.in, buildTerms("a"));
        } else if ("remove" in next) {
          expected.delete(next.remove);
          jobs.remove(next.remove);
        } else {
          time.now += next.pass;
          jobs.startDue();
          const due = [...expected].filter(([, dueAt]) => dueAt <= time.now);
          expect(dueAts).toEqual(due.map(([, dueAt]) => dueAt).toSorted((a, b) => a - b));
          expect(new Map(started.map((key, index) => [key, dueAts[index]]))).toEqual(new Map(due));
          for (const key of started.splice(0)) {
            expected.delete(key);
            await end(key);
          }
          dueAts.length = 0;
        }
        const least = Math.min(...expected.values());
        expect(jobs.findNextDueAt()).toBe(expected.size === 0 ? null : least);
      }
    }),
    { numRuns: 200 },
  );
});
