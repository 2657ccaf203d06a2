/** Times of the week: when they end, also at changes of clocks. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { coversWeek, findHoursEnd, isWithinHours } from "../../src/alerting/hours/rules.ts";
import { type ScheduleHours, weekdays } from "../../src/alerting/hours/schema.ts";
import { limitTries } from "../support/property-runs.ts";

const buildDailyHours = (from: string, until: string): ScheduleHours => ({
  days: [...weekdays],
  from,
  until,
});

const endOf = (hours: ScheduleHours[], at: string, zone = "Europe/Berlin") => {
  const end = findHoursEnd(hours, zone, Date.parse(at));
  return end === null ? null : new Date(end).toISOString();
};

describe("hours end", () => {
  const night = [buildDailyHours("22:00", "07:00")];

  test.each([
    ["on the next day", night, "2026-12-01T22:00:00Z", "2026-12-02T06:00:00.000Z"],
    [
      "an hour earlier when clocks go forward",
      night,
      "2027-03-27T22:00Z",
      "2027-03-28T05:00:00.000Z",
    ],
    ["an hour later when clocks go back", night, "2026-10-24T21:00Z", "2026-10-25T06:00:00.000Z"],
    [
      "with the last of adjacent ones",
      [
        { days: ["friday"], from: "22:00", until: "00:00" },
        { days: ["saturday", "sunday"], from: "00:00", until: "00:00" },
      ] satisfies ScheduleHours[],
      "2026-12-04T21:30Z",
      "2026-12-06T23:00:00.000Z",
    ],
  ])("%s", (_, hours, at, end) => expect(endOf(hours, at)).toBe(end));

  test("include their start, and not their end", () => {
    expect(endOf(night, "2026-12-01T20:59:59Z")).toBeNull();
    expect(endOf(night, "2026-12-01T21:00:00Z")).not.toBeNull();
    expect(endOf(night, "2026-12-02T06:00:00Z")).toBeNull();
  });
});

test("hours end at the first minute that they don't include", () => {
  const clock = fc
    .integer({ min: 0, max: 95 })
    .map((quarter) => new Date(quarter * 900_000).toISOString().slice(11, 16));
  const hours = fc.record({
    days: fc.subarray([...weekdays], { minLength: 1, maxLength: 4 }),
    from: clock,
    until: clock,
  });
  const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC");
  const instant = fc
    .integer({ min: 0, max: 4 * 24 * 365 })
    .map((quarter) => Date.parse("2026-06-01T00:00:00Z") + quarter * 900_000);
  fc.assert(
    fc.property(fc.array(hours, { minLength: 1, maxLength: 3 }), zone, instant, (all, name, at) => {
      fc.pre(!coversWeek(all));
      let end = at;
      while (isWithinHours(all, name, end)) end += 900_000;
      expect(findHoursEnd(all, name, at)).toBe(end === at ? null : end);
    }),
    limitTries(100),
  );
});

test("hours cover a week only without a free minute", () => {
  expect(coversWeek([buildDailyHours("07:00", "07:00")])).toBe(true);
  expect(coversWeek([buildDailyHours("07:00", "19:00"), buildDailyHours("19:00", "07:00")])).toBe(
    true,
  );
  expect(coversWeek([buildDailyHours("07:00", "06:59")])).toBe(false);
  expect(coversWeek([{ ...buildDailyHours("00:00", "00:00"), days: weekdays.slice(1) }])).toBe(
    false,
  );
});
