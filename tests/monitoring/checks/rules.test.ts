import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CheckResult,
  type MonitorState,
  computeNextSlot,
  computePhase,
  computeSecondsSince,
  computeSecondsToNext,
  stateAfter,
} from "../../../src/monitoring/checks/rules.ts";

/** One check: its result, and whether it ran during maintenance. */
type Step = { found: CheckResult; inMaintenance: boolean };

const atOf = (index: number) => new Date(Date.UTC(2026, 10, 20, 10, index)).toISOString();
const beginning: MonitorState = { status: "pending", since: atOf(0), failures: 0, successes: 0 };

type Patience = { retries: number; successThreshold: number };

/** The state after each check. */
function statesOf(steps: readonly Step[], patience: Patience): MonitorState[] {
  const states: MonitorState[] = [];
  for (const [index, { found, inMaintenance }] of steps.entries()) {
    const before = states.at(-1) ?? beginning;
    states.push(stateAfter(before, found, { ...patience, inMaintenance }, atOf(index + 1)));
  }
  return states;
}

/** Number of failures, or else successes, at the end of a history; unknown results are ignored. */
function runOf(history: readonly Step[], failures: boolean): number {
  const judged = history.filter(({ found }) => found.status !== "unknown");
  const isOther = ({ found }: Step) => (found.status === "down") !== failures;
  return judged.length - 1 - judged.findLastIndex(isOther);
}
const failuresOf = (history: readonly Step[]) => runOf(history, true);

/** Reference model: derives the status from the whole history instead of the previous state. */
function statusOf(history: readonly Step[], patience: Patience): MonitorState["status"] {
  const last = history.at(-1);
  if (last === undefined) return "pending";
  if (last.inMaintenance) return "maintenance";
  const { status, isFinal } = last.found;
  const before = statusOf(history.slice(0, -1), patience);
  if (status === "up" || status === "degraded")
    return before === "down" && runOf(history, false) < patience.successThreshold ? "down" : status;
  if (status === "down" && (isFinal === true || failuresOf(history) > patience.retries))
    return "down";
  return before === "maintenance" ? "pending" : before;
}

const found = fc.oneof(
  fc.constantFrom("up", "degraded", "unknown").map((status): CheckResult => ({ status })),
  fc.constantFrom<CheckResult>(
    { status: "down" },
    { status: "down" },
    { status: "down", isFinal: true },
  ),
);
const step = fc.record({
  found,
  inMaintenance: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
});
const patience = fc.record({
  retries: fc.integer({ min: 0, max: 4 }),
  successThreshold: fc.integer({ min: 1, max: 4 }),
});

describe("the state of a monitor after its checks", () => {
  test("matches the specification for any results", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), patience, (steps, patience) => {
        const states = statesOf(steps, patience);
        const histories = steps.map((_, index) => steps.slice(0, index + 1));
        expect(states.map(({ status, failures }) => [status, failures])).toEqual(
          histories.map((history) => [statusOf(history, patience), failuresOf(history)]),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("has the time of the check that changed it", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), patience, (steps, patience) => {
        const states = [beginning, ...statesOf(steps, patience)];
        const since = states.map(({ status }, index) => {
          const other = states.findLastIndex((state, at) => at < index && state.status !== status);
          return atOf(other + 1);
        });
        expect(states.map((state) => state.since)).toEqual(since);
      }),
    );
  });

  const up = { status: "up" } as const;
  const down = { status: "down" } as const;
  const unknown = { status: "unknown" } as const;
  const readSeen = (
    results: CheckResult[],
    retries: number,
    maintained: number[] = [],
    successThreshold = 1,
  ) =>
    statesOf(
      results.map((found, index) => ({ found, inMaintenance: maintained.includes(index) })),
      { retries, successThreshold },
    ).map(({ status }) => status);

  test("with two retries, three failures make a monitor down and one success brings it up", () => {
    expect(readSeen([up, down, down, down, down, up], 2)).toEqual([
      "up",
      "up",
      "up",
      "down",
      "down",
      "up",
    ]);
    expect(readSeen([up, down, down, up, down, down], 2)).not.toContain("down");
    expect(readSeen([down], 0)).toEqual(["down"]);
  });

  test("an unknown result neither counts as a failure nor resets the count", () => {
    expect(readSeen([up, unknown, unknown, unknown], 0)).toEqual(["up", "up", "up", "up"]);
    expect(readSeen([unknown, down, unknown, down], 1)).toEqual([
      "pending",
      "pending",
      "pending",
      "down",
    ]);
    expect(readSeen([down, unknown], 0)).toEqual(["down", "down"]);
  });

  test("a final failure needs no retries", () => {
    expect(readSeen([up, { status: "down", isFinal: true }], 10)).toEqual(["up", "down"]);
  });

  test("with a success threshold of three, a monitor is up after three successes", () => {
    const degraded = { status: "degraded" } as const;
    const results = [up, down, up, up, down, up, degraded, unknown, up, up];
    const [first, ...others] = readSeen(results, 0, [], 3);
    expect(first).toBe("up");
    expect(others).toEqual([...Array<"down">(7).fill("down"), "up", "up"]);
    expect(readSeen([down, up, up, up], 2, [], 3)).toEqual(["pending", "up", "up", "up"]);
  });

  test("an outage during maintenance counts from the first check afterwards", () => {
    expect(readSeen([up, down, down, down], 1, [1, 2])).toEqual([
      "up",
      "maintenance",
      "maintenance",
      "down",
    ]);
    expect(readSeen([down, up, unknown, up], 0, [1])).toEqual([
      "down",
      "maintenance",
      "pending",
      "up",
    ]);
  });
});

describe("seconds to the next check", () => {
  const pace = { intervalSeconds: 60, retryIntervalSeconds: 20 };
  const computeNext = (status: MonitorState["status"], found: CheckResult, by = pace) =>
    computeSecondsToNext({ ...beginning, status }, found, by);

  test("are the retry interval while a failure is unconfirmed, else the interval", () => {
    expect(computeNext("up", { status: "down" })).toBe(20);
    expect(computeNext("pending", { status: "down" })).toBe(20);
    expect(computeNext("down", { status: "unknown" })).toBe(20);
    expect(computeNext("down", { status: "down" })).toBe(60);
    expect(computeNext("up", { status: "up" })).toBe(60);
    expect(computeNext("degraded", { status: "degraded" })).toBe(60);
  });

  test("never exceed the interval", () => {
    const slower = { intervalSeconds: 20, retryIntervalSeconds: 60 };
    expect(computeNext("up", { status: "down" }, slower)).toBe(20);
  });
});

test("a report covers the time since the last one, between a second and the allowed time", () => {
  const readReports = (passedMs: number) =>
    computeSecondsSince(1_000_000, 1_000_000 + passedMs, 90);
  expect([0, 1, 400, 1_500, 59_499, 59_500, 90_000, 86_400_000].map(readReports)).toEqual([
    1, 1, 1, 2, 59, 60, 90, 90,
  ]);
  expect(readReports(-5_000)).toBe(1);
  expect(computeSecondsSince(null, 1_000_000, 90)).toBe(1);
});

describe("due times", () => {
  const key = fc.integer({ min: 1, max: 10_000_000 });
  const intervalMs = fc.integer({ min: 5, max: 86_400 }).map((seconds) => seconds * 1000);

  test("a monitor's offset is within its interval", () => {
    fc.assert(
      fc.property(key, intervalMs, (key, interval) => {
        const phase = computePhase(key, interval);
        expect(Number.isInteger(phase)).toBe(true);
        expect(phase).toBeWithin(0, interval);
      }),
    );
  });

  test("a thousand monitors are spread evenly: no tenth of the interval exceeds its share by half", () => {
    fc.assert(
      fc.property(key, intervalMs, (first, interval) => {
        const tenths = Array.from({ length: 10 }, () => 0);
        for (let key = first; key < first + 1_000; key++) {
          const tenth = Math.floor((computePhase(key, interval) / interval) * 10);
          tenths[tenth] = (tenths[tenth] ?? 0) + 1;
        }
        expect(Math.max(...tenths)).toBeLessThanOrEqual(150);
        expect(Math.min(...tenths)).toBeGreaterThanOrEqual(50);
      }),
    );
  });

  test("the next one is in the future, at most an interval away, at a constant offset", () => {
    const after = fc.integer({ min: 0, max: 2 ** 45 });
    fc.assert(
      fc.property(key, intervalMs, after, (key, interval, after) => {
        const next = computeNextSlot(key, interval, after);
        expect(next).toBeGreaterThan(after);
        expect(next).toBeLessThanOrEqual(after + interval);
        expect(computeNextSlot(key, interval, next)).toBe(next + interval);
        expect(computeNextSlot(key, interval, next - 1)).toBe(next);
      }),
    );
  });
});
