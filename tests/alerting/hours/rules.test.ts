import { expect, test } from "bun:test";
import fc from "fast-check";
import { toInstant, toLocal } from "../../../src/alerting/hours/rules.ts";
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
