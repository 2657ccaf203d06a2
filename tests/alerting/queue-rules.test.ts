import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  heldUntil,
  nextAttemptAt,
  nextDelivery,
  overtakenBy,
  type Queued,
} from "../../src/alerting/deciding/rules.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");
const second = 1_000;
const minute = 60_000;
const hour = 60 * minute;

/** A due delivery without an attempt. */
const fresh = (id: string, subjects: string[], fields: Partial<Queued> = {}): Queued => ({
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
/** A delivery that failed a minute ago and is retried in four minutes. */
const failing = (id: string, subjects: string[], fields: Partial<Queued> = {}): Queued =>
  fresh(id, subjects, {
    attempts: 4,
    scheduledAttempts: 4,
    dueAt: now + 4 * minute,
    firstAttemptAt: now - 2 * minute,
    lastAttemptAt: now - minute,
    ...fields,
  });
const reached = (...addresses: string[]) => ({ reached: addresses, refused: [] });
const goes = (...queue: Queued[]) => nextDelivery(queue, now)?.id ?? "nothing";

const soon = { dueAt: now + second };
const past = { dueAt: now - second };
const taken = { leasedUntil: now + 20 * second };
const justTried = { lastAttemptAt: now - 14 * second };

describe("of a channel's deliveries", () => {
  test.each([
    ["none goes where none is", goes(), "nothing"],
    ["one that is due goes", goes(fresh("a", ["shop"])), "a"],
    ["none before its time", goes(fresh("a", ["shop"], soon)), "nothing"],
    ["the oldest goes first", goes(fresh("a", ["shop"]), fresh("b", ["mail"], past)), "a"],
    ["one that gathers holds up no other", goes(fresh("a", [], soon), fresh("b", ["mail"])), "b"],
    [
      "none overtakes of its subject",
      goes(fresh("a", ["x", "y"], soon), fresh("b", ["y"])),
      "nothing",
    ],
    ["none is sent twice at a time", goes(fresh("a", ["shop"], taken)), "nothing"],
    ["one whose sender died goes again", goes(fresh("a", [], { leasedUntil: now })), "a"],
    ["another passes a failing one", goes(failing("a", ["shop"]), fresh("b", ["mail"])), "b"],
    ["a failing one goes when it is due", goes(failing("a", ["shop"], past)), "a"],
    [
      "none passes where two fail",
      goes(failing("a", ["x"], justTried), failing("b", ["y"], justTried), fresh("c", ["z"])),
      "nothing",
    ],
    [
      "of two that fail the one that is due goes",
      goes(failing("a", ["x"]), failing("b", ["y"], past), fresh("c", ["z"])),
      "b",
    ],
    [
      "the end of an outage waits for word of the outage",
      goes(failing("a", ["shop"], justTried), fresh("b", ["shop"])),
      "nothing",
    ],
    [
      "but not for one of several who does not get it",
      goes(
        failing("a", ["shop"], { ...justTried, progress: reached("ann") }),
        fresh("b", ["shop"]),
      ),
      "b",
    ],
    [
      "nor where nobody can tell who did",
      goes(
        failing("a", ["shop"], { ...justTried, progress: { reached: null, refused: [] } }),
        fresh("b", ["shop"]),
      ),
      "b",
    ],
    [
      "but for one that reached nobody and was refused by some",
      goes(
        failing("a", ["shop"], { ...justTried, progress: { reached: [], refused: ["ann"] } }),
        fresh("b", ["shop"]),
      ),
      "nothing",
    ],
    [
      "two that reached some do not mean that the channel is down",
      goes(
        failing("a", ["x"], { ...justTried, progress: reached("ann") }),
        failing("b", ["y"], { ...justTried, progress: reached("ann") }),
        fresh("c", ["z"]),
      ),
      "c",
    ],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

describe("news that has to wait", () => {
  const news = fresh("b", ["shop"]);
  test.each([
    ["has a failing delivery tried early", goes(failing("a", ["shop"]), news), "a"],
    [
      "but not within 15 seconds of the last attempt",
      goes(failing("a", ["shop"], { lastAttemptAt: now - 15 * second + 1 }), news),
      "nothing",
    ],
    [
      "but from then on",
      goes(failing("a", ["shop"], { lastAttemptAt: now - 15 * second }), news),
      "a",
    ],
    [
      "nor before it is due itself",
      goes(failing("a", ["shop"]), fresh("b", ["shop"], soon)),
      "nothing",
    ],
    [
      "nor for what was due at the last attempt already",
      goes(failing("a", ["shop"]), fresh("b", ["shop"], { dueAt: now - minute })),
      "nothing",
    ],
    ["nor while an attempt is under way", goes(failing("a", ["shop"], taken), news), "nothing"],
    [
      "does so, too, where the whole channel fails, from the oldest on",
      goes(failing("a", ["x"]), failing("b", ["y"]), fresh("c", ["z"])),
      "a",
    ],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

describe("a clock", () => {
  const far = (fields: Partial<Queued>) => goes(fresh("a", ["shop"], fields));
  test.each([
    ["that was set back by days delays nothing", far({ dueAt: now + 48 * hour }), "a"],
    ["nor a lease of those days", far({ leasedUntil: now + 48 * hour }), "a"],
    [
      "that is right leaves a wait of an hour and more alone",
      far({ dueAt: now + 1.2 * hour }),
      "nothing",
    ],
    ["that was set forward lets what waited go", far({ dueAt: now - 48 * hour }), "a"],
    ["set forward ends leases", far({ leasedUntil: now - 48 * hour }), "a"],
  ])("%s", (_, next, wanted) => expect(next).toBe(wanted));
});

/** The next attempt after this number of scheduled ones, the last of them now. */
const again = (
  scheduledAttempts: number,
  { random = 0.5, patience = 0, firstAttemptAt = now, dueAt = now, ...about } = {} as {
    random?: number;
    patience?: number;
  } & Partial<Queued>,
) =>
  nextAttemptAt(
    fresh("a", [], {
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
const wait = (...args: Parameters<typeof again>) => {
  const at = again(...args);
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
  ])("after %i retries is tried again in %i s, give or take a fifth", (retries, seconds) => {
    const waits = [0, 0.5, 1].map((random) => wait(retries, { random }));
    expect(waits).toEqual([seconds * 0.8, seconds, seconds * 1.2]);
  });

  test.each([
    ["a receiver that asks for patience gets it", wait(0, { patience: 120 }), 120],
    ["up to an hour", wait(0, { patience: 86_400 }), 3_600],
    ["whatever it asks for", wait(0, { patience: Infinity }), 3_600],
    ["without any spread", wait(0, { patience: 120, random: 1 }), 120],
    ["one that asks for less than usual is not hurried", wait(4, { patience: 10 }), 900],
    ["an early attempt leaves the next as it was", wait(4, { dueAt: now + 5 * minute }), 300],
    ["unless patience is asked for", wait(4, { dueAt: now + 5 * minute, patience: 400 }), 400],
  ])("%s", (_, seconds, wanted) => expect(seconds).toBe(wanted));

  const ago = (ms: number) => ({ firstAttemptAt: now - ms });
  test.each([
    ["is tried for the last time 24 hours after the first", ago(24 * hour - 15 * minute), 900],
    ["is then given up", ago(24 * hour - 15 * minute + 1), null],
    ["is given up where patience lasts longer", { ...ago(23.5 * hour), patience: 3_600 }, null],
    ["is given up once the clock was set forward by days", ago(72 * hour), null],
    ["goes on when the clock was set back by days", ago(-72 * hour), 900],
    ["is not tied to a due time before the clock was set back", { dueAt: now + 72 * hour }, 900],
  ])("%s", (_, course, wanted) => expect(wait(9, course)).toBe(wanted));

  test("keeps within the bounds, whatever chance says", () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    const sinceFirst = fc.integer({ min: 0, max: 25 * hour });
    fc.assert(
      fc.property(fc.nat(20), random, fc.nat(5_000), sinceFirst, (tries, chance, patience, ms) => {
        const usual = [5, 15, 60, 300][tries] ?? 900;
        const at = again(tries, { random: chance, patience, ...ago(ms) });
        const least = Math.max(usual * 0.8, Math.min(patience, 3_600)) * second;
        const most = Math.max(usual * 1.2, Math.min(patience, 3_600)) * second;
        const end = now - ms + 24 * hour;
        if (at === null) return expect(now + most).toBeGreaterThan(end);
        expect(at - now).toBeGreaterThanOrEqual(Math.floor(least));
        expect(at - now).toBeLessThanOrEqual(Math.ceil(most));
        expect(at).toBeLessThanOrEqual(end);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("whatever waits, one subject's news keep their order, and what is sent was due or prompted", () => {
  const subject = fc.constantFrom("x", "y", "z");
  const tried = fc.record({
    attempts: fc.constantFrom(0, 0, 1, 5),
    dueAt: fc.integer({ min: now - hour, max: now + hour }),
    lastTried: fc.integer({ min: now - hour, max: now }),
    subjects: fc.uniqueArray(subject, { maxLength: 2 }),
    leasedUntil: fc.constantFrom(null, null, null, now - second, now + second),
    progress: fc.constantFrom(null, null, null, { reached: null, refused: [] }, reached("ann")),
  });
  fc.assert(
    fc.property(fc.array(tried, { maxLength: 6 }), (all) => {
      const queue = all.map(({ lastTried, ...one }, index): Queued => {
        const lastAttemptAt = one.attempts === 0 ? null : lastTried;
        const times = { lastAttemptAt, firstAttemptAt: lastAttemptAt };
        return fresh(String(index), one.subjects, {
          ...one,
          scheduledAttempts: one.attempts,
          ...times,
        });
      });
      const next = nextDelivery(queue, now);
      const failing = queue.filter((one) => one.attempts > 0 && one.progress === null);
      const twoFail = failing.length > 1;
      const isFree = ({ leasedUntil }: Queued) => leasedUntil === null || leasedUntil <= now;
      const earlier = (one: Queued) =>
        queue
          .slice(0, Number(one.id))
          .filter(({ subjects }) => subjects.some((name) => one.subjects.includes(name)));
      const isFirst = (one: Queued) => earlier(one).every(({ progress }) => progress !== null);
      const mayGo = (one: Queued) =>
        one.dueAt <= now && isFree(one) && isFirst(one) && (!twoFail || failing.includes(one));
      if (next === null) return expect(queue.filter(mayGo)).toEqual([]);
      expect(isFirst(next) && isFree(next)).toBe(true);
      expect(overtakenBy(next, queue)).toEqual(earlier(next));
      if (queue.some(mayGo)) return expect(next).toBe(queue.find(mayGo) as Queued);
      expect(next.attempts).toBeGreaterThan(0);
      expect(now - (next.lastAttemptAt ?? now)).toBeGreaterThanOrEqual(15 * second);
    }),
    { numRuns: 3_000 },
  );
});

describe("a failure that looks permanent", () => {
  const since = (minutes: number, retries = 4) =>
    wait(retries, { doubtfulSince: now - minutes * minute });
  const caseFor = (hours: number) => {
    const began = now - hours * hour;
    return wait(40, { caseKey: "signalbox-1", doubtfulSince: began, firstAttemptAt: began });
  };
  test.each([
    ["is tried again like anything else", since(0, 0), 5],
    ["while an hour of that has not passed", since(45), 900],
    ["and not after it", since(45.1), null],
    [
      "however young it is itself",
      wait(4, { doubtfulSince: now - hour, firstAttemptAt: now }),
      null,
    ],
    ["but 24 hours where it opens or closes a case", caseFor(23), 900],
    ["and no longer", caseFor(24), null],
  ])("%s", (_, seconds, wanted) => expect(seconds).toBe(wanted));
});

describe("a delivery with unknown recipients", () => {
  const progress = { reached: null, refused: [] };
  test.each([
    [0, 5],
    [1, 15],
    [2, null],
  ])("after %i attempts has its next in %p s", (attempts, seconds) =>
    expect(wait(attempts, { progress })).toBe(seconds),
  );
  test("and deliveries with known recipients go on for the others", () =>
    expect(wait(40, { progress: reached("ann") })).toBe(900));
});

test("patience holds for an hour at most", () => {
  expect([undefined, 0, 17, 1e9].map((seconds) => heldUntil(seconds, now))).toEqual([
    null,
    null,
    now + 17 * second,
    now + hour,
  ]);
});
