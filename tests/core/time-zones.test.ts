import { expect, test } from "bun:test";
import fc from "fast-check";
import { toInstant, toLocal } from "../../src/core/time/time-zones.ts";

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Apia",
  "Africa/Casablanca",
];

/** Whole seconds from 1970 to 2100. */
const moment = fc.integer({ min: 86_400, max: 4_102_444_800 }).map((seconds) => seconds * 1000);

test("local times are read like Temporal reads them, also in gaps, repeated hours and skipped days", () => {
  const near = [
    Date.UTC(2026, 2, 29, 2, 30), // Skipped in Berlin.
    Date.UTC(2026, 9, 25, 2, 30), // Repeated in Berlin.
    Date.UTC(2026, 9, 4, 2, 15), // Skipped on Lord Howe, whose clock change is half an hour.
    Date.UTC(2011, 11, 30, 12), // Skipped in Apia.
  ];
  const check = (at: number, zone: string) => {
    const clock = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("UTC");
    const local = clock.toPlainDateTime();
    expect(toInstant(at, zone)).toBe(local.toZonedDateTime(zone).epochMilliseconds);
    const { offsetNanoseconds } = clock.withTimeZone(zone);
    expect(toLocal(at, zone)).toBe(at + offsetNanoseconds / 1e6);
  };
  for (const at of near) for (const zone of zones) check(at, zone);
  fc.assert(fc.property(moment, fc.constantFrom(...zones), check), { numRuns: 2_000 });
});
