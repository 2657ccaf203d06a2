import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  codeOf,
  listLastPeriods,
  chooseLatencySpan,
  computeRatio,
  getStatus,
} from "../../../src/monitoring/uptime/rules.ts";

const now = Date.parse("2026-11-20T10:30:00.000Z");

describe("uptime", () => {
  // Ten thousand years of seconds.
  const seconds = fc
    .oneof(fc.nat({ max: 3 }), fc.nat({ max: 86_400 }), fc.maxSafeNat())
    .map((count) => count % 315_576_000_000);

  test("is 1 only without failures, 0 only without successes, null only without measurements", () => {
    fc.assert(
      fc.property(seconds, seconds, seconds, (upSeconds, degradedSeconds, downSeconds) => {
        const ratio = computeRatio({ upSeconds, degradedSeconds, downSeconds });
        const succeeded = upSeconds + degradedSeconds;
        if (ratio === null) return succeeded + downSeconds === 0;
        expect(ratio).toBeGreaterThanOrEqual(0);
        expect(ratio).toBeLessThanOrEqual(1);
        expect(ratio === 1).toBe(downSeconds === 0);
        expect(ratio === 0).toBe(succeeded === 0);
        return succeeded + downSeconds > 0;
      }),
      { numRuns: 1_000 },
    );
  });

  test("of ten years with one second of downtime is less than 1", () => {
    const ratio = computeRatio({ upSeconds: 315_576_000, degradedSeconds: 0, downSeconds: 1 });
    expect(ratio).toBeLessThan(1);
    expect(Number(JSON.stringify(ratio))).toBe(ratio ?? 0);
  });

  test("counts degraded as success", () => {
    expect(computeRatio({ upSeconds: 60, degradedSeconds: 120, downSeconds: 60 })).toBe(0.75);
  });
});

test("the database codes of statuses never change", () => {
  const statuses = ["up", "degraded", "down", "unknown", "maintenance"] as const;
  expect(statuses.map(codeOf)).toEqual([0, 1, 2, 3, 4]);
  expect([0, 1, 2, 3, 4].map(getStatus)).toEqual([...statuses]);
  expect(() => getStatus(5)).toThrow("no heartbeat status 5");
});

test("the last periods are whole hours or days in UTC and end with the current one", () => {
  const midnight = Date.parse("2026-11-20T00:00:00.000Z");
  const today = midnight / dayMs;
  expect(listLastPeriods(midnight, dayMs, 3)).toEqual([today - 2, today - 1, today]);
  expect(listLastPeriods(midnight - 1, dayMs, 1)).toEqual([today - 1]);
  const hours = listLastPeriods(now, hourMs, 24);
  expect(hours).toHaveLength(24);
  expect((hours[0] ?? 0) * hourMs).toBe(Date.parse("2026-11-19T11:00:00.000Z"));
  expect((hours[23] ?? 0) * hourMs).toBe(Date.parse("2026-11-20T10:00:00.000Z"));
});

describe("a latency query", () => {
  const chooseBefore = (ms: number, points = 100) =>
    chooseLatencySpan({ from: now - ms, to: now, points }, now);

  test("covers the last 24 hours by default, to the millisecond", () => {
    expect(chooseLatencySpan({ points: 100 }, now)).toEqual({
      from: now - dayMs,
      to: now,
      width: 864_000,
      source: "heartbeats",
    });
    const to = now - 30 * dayMs;
    expect(chooseLatencySpan({ to, points: 100 }, now)).toMatchObject({ from: to - dayMs, to });
    expect(chooseLatencySpan({ from: now - hourMs, points: 100 }, now)).toMatchObject({ to: now });
  });

  test("uses heartbeats up to three days, hours up to 90 days, and days beyond", () => {
    expect(chooseBefore(3 * dayMs).source).toBe("heartbeats");
    expect(chooseBefore(3 * dayMs + 1).source).toBe("hours");
    expect(chooseBefore(90 * dayMs).source).toBe("hours");
    expect(chooseBefore(90 * dayMs + 1).source).toBe("days");
    expect(chooseBefore(3650 * dayMs).source).toBe("days");
  });

  test("uses sums if its points are an hour or a day apart", () => {
    expect(chooseBefore(2 * dayMs, 48).source).toBe("hours");
    expect(chooseBefore(2 * dayMs, 49).source).toBe("heartbeats");
    expect(chooseBefore(10 * dayMs, 10).source).toBe("days");
    expect(chooseBefore(10 * dayMs, 11).source).toBe("hours");
  });

  test("from sums starts and ends on an hour or day, in steps of whole hours or days", () => {
    expect(chooseBefore(10 * dayMs)).toEqual({
      from: Date.parse("2026-11-10T10:00:00.000Z"),
      to: Math.ceil(now / hourMs) * hourMs,
      width: 3 * hourMs,
      source: "hours",
    });
    expect(chooseBefore(200 * dayMs)).toEqual({
      from: Date.parse("2026-05-04T00:00:00.000Z"),
      to: Math.ceil(now / dayMs) * dayMs,
      width: 3 * dayMs,
      source: "days",
    });
  });

  test("into the future ends today, and one that starts in the future is empty", () => {
    const at = (text: string) => Date.parse(text);
    const chooseAhead = (from: string) =>
      chooseLatencySpan({ from: at(from), to: at("9999-12-31T23:59:59.000Z"), points: 1 }, now);
    expect(chooseAhead("2020-01-01T00:00:00.000Z")).toMatchObject({
      from: at("2020-01-01T00:00:00.000Z"),
      to: at("2026-11-21T00:00:00.000Z"),
    });
    const { from, to, width } = chooseAhead("2100-01-01T00:00:00.000Z");
    expect([to - from, width]).toEqual([0, dayMs]);
  });

  test("returns at most the requested points, starts no later than requested and reads at most 60,000 rows", () => {
    const span = fc.oneof(
      fc.integer({ min: 1, max: 4 * dayMs }),
      fc.integer({ min: 1, max: 4000 * dayMs }),
    );
    const end = fc.integer({ min: 0, max: 2 * dayMs }).map((ms) => now - ms);
    fc.assert(
      fc.property(end, span, fc.integer({ min: 1, max: 1000 }), (to, ms, points) => {
        const found = chooseLatencySpan({ from: to - ms, to, points }, now);
        expect(found.from).toBeLessThanOrEqual(to - ms);
        expect(found.to).toBeGreaterThanOrEqual(to);
        expect(Math.ceil((found.to - found.from) / found.width)).toBeLessThanOrEqual(points);
        const rowMs = { heartbeats: 5_000, hours: hourMs, days: dayMs }[found.source];
        expect((to - found.from) / rowMs).toBeLessThanOrEqual(60_000);
      }),
      { numRuns: 500 },
    );
  });
});
