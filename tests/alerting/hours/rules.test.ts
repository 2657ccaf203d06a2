import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  isWithinHours,
  listWindows,
  toInstant,
  toLocal,
} from "../../../src/alerting/hours/rules.ts";
import { weekdays } from "../../../src/alerting/hours/schema.ts";
import * as exact from "../../../src/core/time/time-zones.ts";

/** Zones whose clocks change at night, at midnight, by half an hour, by a day, and twice within a month. */
const zones = [
  "Europe/Berlin",
  "America/Havana",
  "Asia/Beirut",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Africa/Casablanca",
  "Atlantic/Azores",
  "Asia/Kathmandu",
];

test("cached offsets of days convert every time as exactly as without a cache", () => {
  const halfHours = fc.integer({
    min: Date.UTC(2005, 0) / 1_800_000,
    max: Date.UTC(2030, 0) / 1_800_000,
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      halfHours,
      fc.nat({ max: 1_799_999 }),
      (zone, half, rest) => {
        for (const at of [half * 1_800_000, half * 1_800_000 + rest]) {
          expect(toLocal(at, zone)).toBe(exact.toLocal(at, zone));
          expect(toInstant(at, zone)).toBe(exact.toInstant(at, zone));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test("a day on which the clock changes is converted time by time", () => {
  for (const [zone, day] of [
    ["Europe/Berlin", "2026-10-25"],
    ["Asia/Beirut", "2026-03-29"],
    ["Pacific/Apia", "2011-12-30"],
    ["Australia/Lord_Howe", "2026-04-05"],
  ] as const)
    for (let minute = -1440; minute <= 2880; minute += 15) {
      const at = Date.parse(`${day}T00:00Z`) + minute * 60_000;
      expect(toInstant(at, zone)).toBe(exact.toInstant(at, zone));
      expect(toLocal(at, zone)).toBe(exact.toLocal(at, zone));
    }
});

test("times of the week include the same times on steady days as on days of a clock change", () => {
  const clock = fc.constantFrom("00:00", "00:30", "02:15", "09:00", "22:00", "23:45");
  const hours = fc.array(
    fc.record({ days: fc.subarray([...weekdays], { minLength: 1 }), from: clock, until: clock }),
    { minLength: 1, maxLength: 3 },
  );
  const start = Date.UTC(2026, 2, 1) / 900_000;
  const quarters = fc.integer({ min: start, max: start + 60 * 96 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), hours, quarters, (zone, times, quarter) => {
      const at = quarter * 900_000;
      const isListed = listWindows(times, zone, at, at + 1).length > 0;
      expect(isWithinHours(times, zone, at)).toBe(isListed);
    }),
    { numRuns: 1_000 },
  );
});
