/** Compares due times with two other cron libraries, and with the output of systemd for OnCalendar. */
import { describe, expect, test } from "bun:test";
import { CronExpressionParser } from "cron-parser";
import { CronosExpression } from "cronosjs";
import { findScheduleIssue, parseSchedule } from "../../../src/monitoring/jobs/schedule-rules.ts";
// Output of `systemd-analyze calendar --iterations=8 --base-time=… EXPRESSION` of systemd 252, at 10:00 UTC of each day.
import ofSystemd from "./systemd-calendar.json";

const times = 8;

function listTimes(expression: string, timeZone: string, from: string): string[] {
  const dueTimesOf = parseSchedule({ expression, timeZone });
  const found: string[] = [];
  for (let at: number | null = Date.parse(from); found.length < times;) {
    at = dueTimesOf(at);
    if (at === null) break;
    found.push(new Date(at).toISOString());
  }
  return found;
}

function listByCronParser(expression: string, tz: string, from: string): string[] {
  const iterator = CronExpressionParser.parse(expression, { currentDate: new Date(from), tz });
  return Array.from({ length: times }, () => iterator.next().toDate().toISOString());
}

const listByCronos = (expression: string, timezone: string, from: string, count = times) =>
  CronosExpression.parse(expression, { timezone })
    .nextNDates(new Date(from), count)
    .map((date) => date.toISOString());

const expressions = [
  "* * * * *",
  "*/5 * * * *",
  "0 * * * *",
  "0,30 * * * *",
  "30 2 * * *",
  "0,30 2 * * *",
  "30 0,1,2,3 * * *",
  "0 1-3 * * *",
  "0 3 * * *",
  "0-29/7 8-18 * * MON-FRI",
  "0 9 * * 1-5",
  "0 0 1,15 * *",
  "0 12 L * *",
  "0 12 * * 5L",
  "0 12 * * 5#2",
  "0 12 * * mon#1",
  "0 0 29 2 *",
  "0 0 31 * *",
  "0 0 13 * 5",
  "0 0 1-7 * 1",
  "5 4 * * sun",
  "0 6 * JAN,apr,Jul,OCT *",
  "0 0 * * 7",
  "0 0 * * 0,6",
  "59 23 31 12 *",
  "0 0 1 */3 *",
  "@hourly",
  "@weekly",
  "@yearly",
];

/** Every minute with every hour, and days, months and days of the week in turn. */
const fields = [
  ["*", "*/7", "3,17,58", "10-40/5", "59", "0"],
  ["*", "0", "2", "1,2,3", "8-18/2", "1-3/2"],
  ["*", "1", "L", "28", "1,15", "10-20/3", "*"],
  ["*", "JAN,jul", "*/4", "3-5,10", "*"],
  ["*", "mon-fri", "SUN", "7", "*", "5L", "2#1", "sat#4", "1,3,5", "*", "*"],
] as const;
const combined = fields[0].flatMap((minute, index) =>
  fields[1].map((hour, position) => {
    const number = index * fields[1].length + position;
    const days = fields.slice(2).map((values) => values[number % values.length]);
    return [minute, hour, ...days].join(" ");
  }),
);

/** The first time after the gap of each spring day. */
const gapEnds = [
  "2026-03-29T01:00:00.000Z",
  "2026-03-08T07:00:00.000Z",
  "2026-09-06T04:00:00.000Z",
];

/** Debian runs a skipped job at the end of the gap, unless it has a wildcard in the minute or hour. */
const hasWildcard = (expression: string) => /^\S*\*|^\S+ \S*\*/.test(expression);

/** An ordinary time, and the days before each change of clocks. */
const days = {
  UTC: ["2026-01-15T10:20:30Z"],
  "Asia/Kathmandu": ["2026-01-15T10:20:30Z"],
  "Europe/Berlin": ["2026-01-15T10:20:30Z", "2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"],
  "America/New_York": ["2026-03-07T12:00:00Z", "2026-10-31T12:00:00Z"],
  "America/Santiago": ["2026-04-04T10:00:00Z", "2026-09-05T10:00:00Z"],
};

describe("cron", () => {
  for (const [timeZone, starts] of Object.entries(days))
    test(`has the due times of two other libraries in ${timeZone}`, () => {
      for (const expression of [...expressions, ...combined])
        for (const from of starts) {
          const ownTimes = { expression, from, times: listTimes(expression, timeZone, from) };
          const others = [listByCronos, listByCronParser].map((list) => ({
            expression,
            from,
            times: list(expression, timeZone, from),
          }));
          // cron-parser moves jobs that a clock change skips by the length of the gap. Debian runs them right after it.
          const isSkipped = timeZone !== "UTC" && /^2026-(03|09)/.test(from);
          const afterGap = listByCronos(expression, timeZone, from, times + 1)
            .filter((at) => !gapEnds.includes(at))
            .slice(0, times);
          if (isSkipped && hasWildcard(expression))
            expect([...others, { expression, from, times: afterGap }]).toContainEqual(ownTimes);
          else if (isSkipped) expect(ownTimes).toEqual(others[0] as typeof ownTimes);
          // Cronos omits the repeated hour of some jobs with a wildcard only in the hour.
          else if (hasWildcard(expression) && !from.startsWith("2026-01"))
            expect(others).toContainEqual(ownTimes);
          else for (const other of others) expect(ownTimes).toEqual(other);
        }
    });

  test("runs a job at a fixed time once when clocks change, and one with a wildcard as often as its time occurs", () => {
    const spring = "2026-03-29T00:00:00Z";
    const autumn = "2026-10-24T23:00:00Z";
    const listFirst = (expression: string, from: string, count: number) =>
      listTimes(expression, "Europe/Berlin", from)
        .slice(0, count)
        .map((at) => at.slice(5, 16));
    expect(listFirst("30 2 * * *", spring, 2)).toEqual(["03-29T01:00", "03-30T00:30"]);
    expect(listFirst("*/30 2 * * *", spring, 1)).toEqual(["03-30T00:00"]);
    // A range with a step has fixed times.
    expect(listFirst("10-40/5 2 * * *", spring, 2)).toEqual(["03-29T01:00", "03-30T00:10"]);
    expect(listFirst("30 2 * * *", autumn, 2)).toEqual(["10-25T00:30", "10-26T01:30"]);
    expect(listFirst("*/30 2 * * *", autumn, 5)).toEqual([
      "10-25T00:00",
      "10-25T00:30",
      "10-25T01:00",
      "10-25T01:30",
      "10-26T01:00",
    ]);
  });

  test("combines a day with a step and a day of the week as Debian does", () => {
    expect(listTimes("0 0 */2 * 1", "UTC", "2026-01-01T00:00:00Z").slice(0, 3)).toEqual([
      "2026-01-05T00:00:00.000Z",
      "2026-01-19T00:00:00.000Z",
      "2026-02-09T00:00:00.000Z",
    ]);
  });
});

describe("OnCalendar", () => {
  test("has the due times of systemd", () => {
    for (const [expression, starts] of Object.entries(ofSystemd))
      for (const [day, expected] of Object.entries(starts))
        expect([expression, day, listTimes(expression, "UTC", `${day}T10:00:00Z`)]).toEqual([
          expression,
          day,
          expected.map((at) => new Date(at).toISOString()),
        ]);
  });

  test("names what is wrong with an expression", () => {
    for (const expression of [
      "*-*-* 25:00",
      "Mon..Foo",
      "Mon 12",
      "*-13-01",
      "*:0/0",
      "a b c",
      "~1",
    ])
      expect([expression, findScheduleIssue(expression)]).toEqual([
        expression,
        "must be a cron expression with five fields, such as 30 2 * * *, or OnCalendar of systemd, such as Mon..Fri 02:30",
      ]);
  });
});
