import { describe, expect, test } from "bun:test";
import { findRruleIssue } from "../../../src/monitoring/maintenance/rrule-rules.ts";
import { listOccurrences } from "../../../src/monitoring/maintenance/rules.ts";

/** Starts of the first four occurrences, as `2026-11-22T02:00`. */
function listStarts(rule: string, startsAt = "2027-01-01T02:00:00.000Z"): string[] {
  const endsAt = new Date(Date.parse(startsAt) + 60_000).toISOString();
  const times = { startsAt, endsAt, timeZone: "UTC", rrule: rule };
  return listOccurrences(times, 0, Infinity, 4).map(({ start }) =>
    new Date(start).toISOString().slice(0, 16),
  );
}

describe("a rule", () => {
  const cases: [name: string, rule: string, starts: string[]][] = [
    [
      "several positions in a month, each once",
      "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1,-99",
      ["2027-01-01", "2027-01-29", "2027-02-01", "2027-02-26"],
    ],
    [
      "positions in the whole week, even if it starts midweek",
      "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2",
      ["2027-01-06", "2027-01-13", "2027-01-20", "2027-01-27"],
    ],
    [
      "BYWEEKNO without a weekday uses the weekday of the start",
      "FREQ=YEARLY;BYWEEKNO=20",
      ["2027-05-21", "2028-05-19", "2029-05-18", "2030-05-17"],
    ],
    [
      "weeks counted from the end, including days in the previous year",
      "FREQ=YEARLY;BYWEEKNO=-52,-53;BYDAY=MO",
      ["2027-01-04", "2028-01-03", "2029-01-01", "2029-12-31"],
    ],
    [
      "weekdays with and without a number",
      "FREQ=MONTHLY;BYDAY=SU,1MO;BYMONTH=2",
      ["2027-02-01", "2027-02-07", "2027-02-14", "2027-02-21"],
    ],
    ["UNTIL includes its day", "FREQ=DAILY;UNTIL=20270102", ["2027-01-01", "2027-01-02"]],
    [
      "a leap day only in leap years",
      "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
      ["2028-02-29", "2032-02-29", "2036-02-29", "2040-02-29"],
    ],
  ];
  for (const [name, rule, expected] of cases)
    test(name, () => {
      expect(findRruleIssue(rule)).toBeNull();
      const days = listStarts(rule).map((time) => time.slice(0, 10));
      expect(days).toEqual(expected);
    });
});

test("the seconds of the start are preserved, also with an UNTIL of whole seconds", () => {
  const startsAt = "2027-01-01T02:00:17.250Z";
  expect(listStarts("FREQ=DAILY;UNTIL=20270102T020017Z", startsAt)).toHaveLength(2);
  expect(listStarts("FREQ=DAILY;UNTIL=20270102T020016Z", startsAt)).toHaveLength(1);
});

test("COUNT starts at the first occurrence, also in a query that starts later", () => {
  const times = {
    startsAt: "2027-01-01T02:00:00.000Z",
    endsAt: "2027-01-01T03:00:00.000Z",
    timeZone: "Europe/Berlin",
    rrule: "FREQ=WEEKLY;COUNT=3",
  };
  const from = Date.parse("2027-01-10T00:00:00Z");
  expect(listOccurrences(times, from, Infinity, 9)).toHaveLength(1);
});

test.each([
  "FREQ=YEARLY;BYYEARDAY=1,100;BYDAY=MO",
  "FREQ=YEARLY;BYYEARDAY=1,100;BYMONTHDAY=1",
  "FREQ=YEARLY;BYWEEKNO=20;BYMONTHDAY=15",
  "FREQ=YEARLY;BYDAY=SU,1MO",
  "FREQ=YEARLY;BYDAY=1MO;BYMONTHDAY=1",
])("%s is rejected, because implementations combine these lists differently", (rule) => {
  expect(findRruleIssue(rule)).toStartWith("must have ");
});
