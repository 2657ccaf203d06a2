/** Pure rules of the delivery queue: order, early attempts, clock changes and retries. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  computeWaitEnd,
  computeNextAttempt,
  pickNextDelivery,
  findOvertaken,
  type Queued,
} from "../../src/alerting/sending/queue-rules.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");
const second = 1_000;
const minute = 60_000;
const hour = 60 * minute;

/** A due delivery without an attempt. */
const createQueued = (id: string, subjects: string[], fields: Partial<Queued> = {}): Queued => ({
  id,
  subjects,
  attempts: 0,
  scheduledAttempts: 0,
  dueAt: now,
  leasedUntil: null,
  firstAttemptAt: null,
  lastAttemptAt: null,
  doubtfulSince: null,
  progress: null,
  caseKey: null,
  closesCase: false,
  ...fields,
});
/** A delivery that failed a minute ago and is due again in four minutes. */
const createFailing = (id: string, subjects: string[], fields: Partial<Queued> = {}): Queued =>
  createQueued(id, subjects, {
    attempts: 4,
    scheduledAttempts: 4,
    dueAt: now + 4 * minute,
    firstAttemptAt: now - 2 * minute,
    lastAttemptAt: now - minute,
    ...fields,
  });
const buildProgress = (...addresses: string[]) => ({ reached: addresses, refused: [] });
const sendOnward = (...queue: Queued[]) => pickNextDelivery(queue, now)?.id ?? "nothing";

const soon = { dueAt: now + second };
const past = { dueAt: now - second };
const taken = { leasedUntil: now + 20 * second };
const justTried = { lastAttemptAt: now - 14 * second };

describe("the next delivery of a channel", () => {
  test.each([
    ["is none in an empty queue", sendOnward(), "nothing"],
    ["is the one that is due", sendOnward(createQueued("a", ["shop"])), "a"],
    ["is none before its due time", sendOnward(createQueued("a", ["shop"], soon)), "nothing"],
    [
      "is the oldest",
      sendOnward(createQueued("a", ["shop"]), createQueued("b", ["mail"], past)),
      "a",
    ],
    [
      "is not delayed by a digest that is still collecting",
      sendOnward(createQueued("a", [], soon), createQueued("b", ["mail"])),
      "b",
    ],
    [
      "does not overtake another of the same subject",
      sendOnward(createQueued("a", ["x", "y"], soon), createQueued("b", ["y"])),
      "nothing",
    ],
    ["is not one in flight", sendOnward(createQueued("a", ["shop"], taken)), "nothing"],
    ["is one whose sender died", sendOnward(createQueued("a", [], { leasedUntil: now })), "a"],
    [
      "passes a failing one",
      sendOnward(createFailing("a", ["shop"]), createQueued("b", ["mail"])),
      "b",
    ],
    ["is a failing one when it is due", sendOnward(createFailing("a", ["shop"], past)), "a"],
    [
      "is none while two fail",
      sendOnward(
        createFailing("a", ["x"], justTried),
        createFailing("b", ["y"], justTried),
        createQueued("c", ["z"]),
      ),
      "nothing",
    ],
    [
      "is the due one of two failing ones",
      sendOnward(
        createFailing("a", ["x"]),
        createFailing("b", ["y"], past),
        createQueued("c", ["z"]),
      ),
      "b",
    ],
    [
      "is not the end of an outage before the outage arrived",
      sendOnward(createFailing("a", ["shop"], justTried), createQueued("b", ["shop"])),
      "nothing",
    ],
    [
      "is that end if only some recipients do not get the outage",
      sendOnward(
        createFailing("a", ["shop"], { ...justTried, progress: buildProgress("ann") }),
        createQueued("b", ["shop"]),
      ),
      "b",
    ],
    [
      "is that end if the recipients of the outage are unknown",
      sendOnward(
        createFailing("a", ["shop"], { ...justTried, progress: { reached: null, refused: [] } }),
        createQueued("b", ["shop"]),
      ),
      "b",
    ],
    [
      "is not that end if some recipients rejected the outage and none got it",
      sendOnward(
        createFailing("a", ["shop"], { ...justTried, progress: { reached: [], refused: ["ann"] } }),
        createQueued("b", ["shop"]),
      ),
      "nothing",
    ],
    [
      "can pass two failing ones that reached some recipients",
      sendOnward(
        createFailing("a", ["x"], { ...justTried, progress: buildProgress("ann") }),
        createFailing("b", ["y"], { ...justTried, progress: buildProgress("ann") }),
        createQueued("c", ["z"]),
      ),
      "c",
    ],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

describe("a waiting new delivery", () => {
  const news = createQueued("b", ["shop"]);
  test.each([
    ["causes an early retry of a failing one", sendOnward(createFailing("a", ["shop"]), news), "a"],
    [
      "but not within 15 seconds of the last attempt",
      sendOnward(createFailing("a", ["shop"], { lastAttemptAt: now - 15 * second + 1 }), news),
      "nothing",
    ],
    [
      "but from then on",
      sendOnward(createFailing("a", ["shop"], { lastAttemptAt: now - 15 * second }), news),
      "a",
    ],
    [
      "nor before it is due itself",
      sendOnward(createFailing("a", ["shop"]), createQueued("b", ["shop"], soon)),
      "nothing",
    ],
    [
      "nor if it was already due at the last attempt",
      sendOnward(
        createFailing("a", ["shop"]),
        createQueued("b", ["shop"], { dueAt: now - minute }),
      ),
      "nothing",
    ],
    ["nor during an attempt", sendOnward(createFailing("a", ["shop"], taken), news), "nothing"],
    [
      "does so even if the whole channel fails, starting with the oldest",
      sendOnward(createFailing("a", ["x"]), createFailing("b", ["y"]), createQueued("c", ["z"])),
      "a",
    ],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

describe("a clock", () => {
  const sendDelayed = (fields: Partial<Queued>) => sendOnward(createQueued("a", ["shop"], fields));
  test.each([
    ["that was set back by days delays nothing", sendDelayed({ dueAt: now + 48 * hour }), "a"],
    ["does not extend a lease by those days", sendDelayed({ leasedUntil: now + 48 * hour }), "a"],
    [
      "that is right does not shorten a wait of an hour or more",
      sendDelayed({ dueAt: now + 1.2 * hour }),
      "nothing",
    ],
    [
      "that was set forward makes waiting deliveries due",
      sendDelayed({ dueAt: now - 48 * hour }),
      "a",
    ],
    ["that was set forward ends leases", sendDelayed({ leasedUntil: now - 48 * hour }), "a"],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

/** The next attempt after this number of scheduled ones, the last of them now. */
const planRetry = (
  scheduledAttempts: number,
  { random = 0.5, patience = 0, firstAttemptAt = now, dueAt = now, ...about } = {} as {
    random?: number;
    patience?: number;
  } & Partial<Queued>,
) =>
  computeNextAttempt(
    createQueued("a", [], {
      attempts: scheduledAttempts,
      scheduledAttempts,
      dueAt,
      firstAttemptAt,
      ...about,
    }),
    now,
    random,
    patience,
  );
const wait = (...args: Parameters<typeof planRetry>) => {
  const at = planRetry(...args);
  return at === null ? null : (at - now) / second;
};

describe("a failed delivery", () => {
  test.each([
    [0, 5],
    [1, 15],
    [2, 60],
    [3, 300],
    [4, 900],
    [5, 900],
    [90, 900],
  ])("after %i retries is retried in %i s, ± a fifth", (retries, seconds) => {
    const waits = [0, 0.5, 1].map((random) => wait(retries, { random }));
    expect(waits).toEqual([seconds * 0.8, seconds, seconds * 1.2]);
  });

  test.each([
    ["waits for the Retry-After of its receiver", wait(0, { patience: 120 }), 120],
    ["waits at most an hour", wait(0, { patience: 86_400 }), 3_600],
    ["waits at most an hour for any Retry-After", wait(0, { patience: Infinity }), 3_600],
    ["waits without random variation", wait(0, { patience: 120, random: 1 }), 120],
    ["is not retried earlier for a short Retry-After", wait(4, { patience: 10 }), 900],
    [
      "leaves the next attempt unchanged after an early one",
      wait(4, { dueAt: now + 5 * minute }),
      300,
    ],
    [
      "delays it after an early one with Retry-After",
      wait(4, { dueAt: now + 5 * minute, patience: 400 }),
      400,
    ],
  ])("%s", (_, seconds, wanted) => expect(seconds).toBe(wanted));

  const buildStartBefore = (ms: number) => ({ firstAttemptAt: now - ms });
  test.each([
    [
      "is attempted for the last time 24 hours after the first",
      buildStartBefore(24 * hour - 15 * minute),
      900,
    ],
    ["is then given up", buildStartBefore(24 * hour - 15 * minute + 1), null],
    [
      "is given up if Retry-After ends later",
      { ...buildStartBefore(23.5 * hour), patience: 3_600 },
      null,
    ],
    ["is given up once the clock was set forward by days", buildStartBefore(72 * hour), null],
    ["continues when the clock was set back by days", buildStartBefore(-72 * hour), 900],
    ["ignores a due time from before the clock was set back", { dueAt: now + 72 * hour }, 900],
  ])("%s", (_, course, wanted) => expect(wait(9, course)).toBe(wanted));

  test("stays within the limits for any random value", () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    const sinceFirst = fc.integer({ min: 0, max: 25 * hour });
    fc.assert(
      fc.property(fc.nat(20), random, fc.nat(5_000), sinceFirst, (tries, chance, patience, ms) => {
        const usual = [5, 15, 60, 300][tries] ?? 900;
        const at = planRetry(tries, { random: chance, patience, ...buildStartBefore(ms) });
        const least = Math.max(usual * 0.8, Math.min(patience, 3_600)) * second;
        const longestWait = Math.max(usual * 1.2, Math.min(patience, 3_600)) * second;
        const end = now - ms + 24 * hour;
        if (at === null) return expect(now + longestWait).toBeGreaterThan(end);
        expect(at - now).toBeGreaterThanOrEqual(Math.floor(least));
        expect(at - now).toBeLessThanOrEqual(Math.ceil(longestWait));
        expect(at).toBeLessThanOrEqual(end);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("for any queue, deliveries of one subject stay in order, and only due or prompted ones are sent", () => {
  const subject = fc.constantFrom("x", "y", "z");
  const tried = fc.record({
    attempts: fc.constantFrom(0, 0, 1, 5),
    dueAt: fc.integer({ min: now - hour, max: now + hour }),
    lastTried: fc.integer({ min: now - hour, max: now }),
    subjects: fc.uniqueArray(subject, { maxLength: 2 }),
    leasedUntil: fc.constantFrom(null, null, null, now - second, now + second),
    progress: fc.constantFrom(
      null,
      null,
      null,
      { reached: null, refused: [] },
      buildProgress("ann"),
    ),
  });
  fc.assert(
    fc.property(fc.array(tried, { maxLength: 6 }), (all) => {
      const queue = all.map(({ lastTried, ...one }, index): Queued => {
        const lastAttemptAt = one.attempts === 0 ? null : lastTried;
        const times = { lastAttemptAt, firstAttemptAt: lastAttemptAt };
        return createQueued(String(index), one.subjects, {
          ...one,
          scheduledAttempts: one.attempts,
          ...times,
        });
      });
      const next = pickNextDelivery(queue, now);
      const failing = queue.filter((one) => one.attempts > 0 && one.progress === null);
      const twoFail = failing.length > 1;
      const isFree = ({ leasedUntil }: Queued) => leasedUntil === null || leasedUntil <= now;
      const listEarlier = (one: Queued) =>
        queue
          .slice(0, Number(one.id))
          .filter(({ subjects }) => subjects.some((name) => one.subjects.includes(name)));
      const isFirst = (one: Queued) => listEarlier(one).every(({ progress }) => progress !== null);
      const mayGo = (one: Queued) =>
        one.dueAt <= now && isFree(one) && isFirst(one) && (!twoFail || failing.includes(one));
      if (next === null) return expect(queue.filter(mayGo)).toEqual([]);
      expect(isFirst(next) && isFree(next)).toBe(true);
      expect(findOvertaken(next, queue)).toEqual(listEarlier(next));
      if (queue.some(mayGo)) return expect(next).toBe(queue.find(mayGo) as Queued);
      expect(next.attempts).toBeGreaterThan(0);
      expect(now - (next.lastAttemptAt ?? now)).toBeGreaterThanOrEqual(15 * second);
    }),
    { numRuns: 3_000 },
  );
});

describe("a failure that looks permanent", () => {
  const planSince = (minutes: number, retries = 4) =>
    wait(retries, { doubtfulSince: now - minutes * minute });
  const planCaseSince = (hours: number) => {
    const startedAt = now - hours * hour;
    return wait(40, {
      caseKey: "signalbox-1",
      doubtfulSince: startedAt,
      firstAttemptAt: startedAt,
    });
  };
  test.each([
    ["is retried like any other", planSince(0, 0), 5],
    ["is retried during its first hour", planSince(45), 900],
    ["is not retried after it", planSince(45.1), null],
    [
      "counts the hour from the channel's first failure",
      wait(4, { doubtfulSince: now - hour, firstAttemptAt: now }),
      null,
    ],
    ["is retried for 24 hours if it opens or closes a case", planCaseSince(23), 900],
    ["is then given up as well", planCaseSince(24), null],
  ])("%s", (_, seconds, wanted) => expect(seconds).toBe(wanted));
});

describe("a delivery with unknown recipients", () => {
  const progress = { reached: null, refused: [] };
  test.each([
    [0, 5],
    [1, 15],
    [2, null],
  ])("after %i attempts is retried in %p s", (attempts, seconds) =>
    expect(wait(attempts, { progress })).toBe(seconds),
  );
  test("does not affect deliveries with known recipients", () =>
    expect(wait(40, { progress: buildProgress("ann") })).toBe(900));
});

test("waits for a Retry-After of at most an hour", () => {
  expect([undefined, 0, 17, 1e9].map((seconds) => computeWaitEnd(seconds, now))).toEqual([
    null,
    null,
    now + 17 * second,
    now + hour,
  ]);
});
