import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dayMs, formatTimestamp } from "../../src/core/time/clock.ts";
import {
  type LogEntry,
  findRemovable,
  createSweeping,
} from "../../src/database/backup/sweeping.ts";
import { testAppliance } from "../support/appliance.ts";

const start = Date.UTC(2026, 10, 20);
const year = 365 * dayMs;
const keptMs = 90 * dayMs;

/** Entries with their true times. The clock is off by years for up to three entries in a row. */
const logs = fc
  .array(
    fc.record({
      gapMs: fc.integer({ min: 60_000, max: 40 * dayMs }),
      offsetMs: fc.constantFrom(0, 0, 0, 5 * year, -5 * year, -57 * year),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let [time, wrong] = [start, 0];
    return [{ gapMs: 0, offsetMs: 0 }, ...steps].map(({ gapMs, offsetMs }, index) => {
      time += gapMs;
      wrong = offsetMs === 0 ? 0 : wrong + 1;
      const at = wrong > 3 ? time : time + offsetMs;
      return { time, entry: { seq: index + 1, at: formatTimestamp(at) } satisfies LogEntry };
    });
  });

describe("a log is removed by the order of its entries", () => {
  test("recent entries are never removed, even with wrong dates", () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 0, max: 400 }), (log, daysLater) => {
        const now = (log.at(-1)?.time ?? start) + daysLater * dayMs;
        const before = now - keptMs;
        const { to } = findRemovable(
          log.map(({ entry }) => entry),
          { now, before, newest: 0 },
        );
        for (const { time, entry } of log)
          if (to !== null && entry.seq <= to) expect(time).toBeLessThan(before);
      }),
      { numRuns: 500 },
    );
  });

  test("all old entries with correct dates are removed", () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 0, max: 400 }), (log, daysLater) => {
        const right = log.map(({ time, entry: { seq } }) => ({
          seq,
          at: formatTimestamp(time),
          time,
        }));
        const now = (right.at(-1)?.time ?? start) + daysLater * dayMs;
        const before = now - keptMs;
        const { to } = findRemovable(right, { now, before, newest: 0 });
        expect(to).toBe(right.findLast(({ time }) => time < before)?.seq ?? null);
      }),
    );
  });
});

test("batches shrink when they are slow, and stop on request", async () => {
  const { store } = await testAppliance();
  const sizes: number[] = [];
  const { inPortions } = createSweeping(store, start, () => sizes.length >= 4);
  await inPortions(async (size) => {
    sizes.push(size);
    const until = performance.now() + 15;
    while (performance.now() < until);
    return true;
  });
  expect(sizes).toHaveLength(4);
  expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
  expect(sizes.at(-1)).toBeLessThan(sizes[0] ?? 0);
  expect(sizes.at(-1)).toBeGreaterThanOrEqual(25);
});
