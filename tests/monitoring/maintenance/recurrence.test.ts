import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import rrule from "rrule";
import { validateTimes, occurrencesBetween } from "../../../src/monitoring/maintenance/rules.ts";
import { recurrenceOf } from "../../../src/monitoring/maintenance/schema.ts";

const day = 86_400_000;

/** Begins of the first occurrences, as `2026-11-22T02:00`. */
function starts(rule: string, startsAt: string, count = 8, from = 0): string[] {
  const endsAt = new Date(Date.parse(startsAt) + 60_000).toISOString();
  const times = { startsAt, endsAt, timeZone: "UTC", rrule: rule };
  return occurrencesBetween(times, from, Infinity, count).map(({ start }) =>
    new Date(start).toISOString().slice(0, 16),
  );
}

const numbers = (min: number, max: number) =>
  fc.uniqueArray(
    fc.integer({ min, max }).filter((number) => number !== 0),
    { minLength: 1, maxLength: 3 },
  );
const weekday = fc.constantFrom("MO", "TU", "WE", "TH", "FR", "SA", "SU");
const numbered = fc
  .tuple(fc.constantFrom("1", "2", "-1", "5", "-4"), weekday)
  .map((pair) => pair.join(""));
const listOf = (one: fc.Arbitrary<string>) =>
  fc.uniqueArray(one, { minLength: 1, maxLength: 3 }).map((list) => list.join(","));

const parts = {
  INTERVAL: fc.integer({ min: 1, max: 6 }),
  COUNT: fc.integer({ min: 1, max: 40 }),
  UNTIL: fc
    .integer({ min: 0, max: 4_000 })
    .map(
      (days) =>
        new Date(Date.UTC(2026, 0) + days * day).toISOString().slice(0, 10).replaceAll("-", "") +
        "T120000Z",
    ),
  BYMONTH: numbers(1, 12),
  // The library miscounts the weeks of a year whose last one reaches into the next.
  BYWEEKNO: fc.uniqueArray(fc.integer({ min: 1, max: 51 }), { minLength: 1, maxLength: 3 }),
  BYYEARDAY: numbers(-366, 366),
  BYMONTHDAY: numbers(-31, 31),
  // Mixed, the library wants a day to be both; RFC 5545 lists days of which it has to be one.
  BYDAY: fc.oneof(listOf(weekday), listOf(numbered)),
  BYHOUR: fc.uniqueArray(fc.nat({ max: 23 }), { minLength: 1, maxLength: 3 }),
  BYMINUTE: fc.uniqueArray(fc.nat({ max: 59 }), { minLength: 1, maxLength: 2 }),
  // The library repeats a day that two places mean, and wraps those before the first.
  BYSETPOS: fc.constantFrom(1, 2, 3, -1),
  WKST: weekday,
};

/** The library loses its way in numbers that are out of order. */
function inOrder(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.toSorted((a: number, b: number) => a - b).join(",");
}

/** Rules that RFC 5545 allows. */
const rules = fc
  .tuple(
    fc.constantFrom("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"),
    fc.record<Record<string, unknown>>(parts),
    fc.shuffledSubarray(Object.keys(parts), { minLength: 1, maxLength: 4 }),
  )
  .map(([frequency, values, names]) =>
    [`FREQ=${frequency}`, ...names.map((name) => `${name}=${inOrder(values[name])}`)].join(";"),
  )
  .filter((rule) => typeof recurrenceOf(rule) !== "string")
  // Which day a week without a day means is told apart: RFC 5545 takes it from DTSTART.
  .filter((rule) => !/BYWEEKNO/.test(rule) || /BYDAY|BYMONTHDAY|BYYEARDAY/.test(rule))
  // There, places in the first week count from the day on which the rule begins.
  .filter((rule) => !/WEEKLY.*BYSETPOS=[1-9]/.test(rule));

describe("a rule means", () => {
  const cases: [name: string, rule: string, starts: string[]][] = [
    [
      "several places in a month, each once",
      "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1,-99",
      ["2027-01-01", "2027-01-29", "2027-02-01", "2027-02-26"],
    ],
    [
      "places of the whole week, also where it begins in its midst",
      "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2",
      ["2027-01-06", "2027-01-13", "2027-01-20", "2027-01-27"],
    ],
    [
      "in a week without a day, the weekday on which it begins",
      "FREQ=YEARLY;BYWEEKNO=20",
      ["2027-05-21", "2028-05-19", "2029-05-18", "2030-05-17"],
    ],
    [
      "of weeks counted from the end, also days in the year before",
      "FREQ=YEARLY;BYWEEKNO=-52,-53;BYDAY=MO",
      ["2027-01-04", "2028-01-03", "2029-01-01", "2029-12-31"],
    ],
    [
      "days with a number beside days without",
      "FREQ=MONTHLY;BYDAY=SU,1MO;BYMONTH=2",
      ["2027-02-01", "2027-02-07", "2027-02-14", "2027-02-21"],
    ],
    ["from the day that it is given on", "FREQ=DAILY;UNTIL=20270102", ["2027-01-01", "2027-01-02"]],
    [
      "a leap day only where there is one",
      "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
      ["2028-02-29", "2032-02-29", "2036-02-29", "2040-02-29"],
    ],
  ];
  for (const [name, rule, expected] of cases)
    test(name, () => {
      expect(typeof recurrenceOf(rule)).toBe("object");
      const days = starts(rule, "2027-01-01T02:00:00.000Z", 4).map((time) => time.slice(0, 10));
      expect(days).toEqual(expected);
    });

  test("what the library of that name makes of it", () => {
    const begins = fc
      .integer({ min: 0, max: 6 * 365 * 24 * 60 })
      .map((minutes) => new Date(Date.UTC(2024, 0) + minutes * 60_000));
    fc.assert(
      fc.property(rules, begins, fc.nat({ max: 500 }), (rule, begin, later) => {
        const startsAt = begin.toISOString();
        const from = begin.getTime() + later * day;
        const issue = validateTimes({
          startsAt,
          endsAt: new Date(begin.getTime() + 60_000).toISOString(),
          timeZone: "UTC",
          rrule: rule,
        });
        // Elsewhere, a rule that never occurs is searched to the end of the calendar.
        fc.pre(issue === null);
        const expected = (after: Date) => {
          const reference = new rrule.RRule({ ...rrule.RRule.parseString(rule), dtstart: begin });
          return reference
            .between(after, new Date(after.getTime() + 1_500 * day), true, (_, index) => index < 8)
            .map((date) => date.toISOString().slice(0, 16));
        };
        const ours = (after: number) => {
          const end = new Date(after + 1_500 * day).toISOString();
          return starts(rule, startsAt, 8, after).filter((time) => time <= end);
        };
        expect([rule, startsAt, ours(begin.getTime())]).toEqual([rule, startsAt, expected(begin)]);
        const [first] = expected(new Date(from));
        if (first !== undefined)
          expect([rule, startsAt, ours(from)]).toEqual([rule, startsAt, expected(new Date(from))]);
      }),
      { numRuns: 200 },
    );
  });
});
