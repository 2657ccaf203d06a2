import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { setHourCycle } from "../../src/core/time/times.ts";
import {
  completeClock,
  formatDay,
  formatLocal,
  parseDateTime,
  parseDay,
  parsePastTime,
} from "../../web/components/forms/date-time-rules.ts";

const zone = "Europe/Berlin";
/** A Sunday, 14:40 in Berlin. */
const now = Date.parse("2026-11-22T13:40Z");
const read = (typed: string, from?: string) => parseDateTime(typed, { now, zone, from });

test.each([
  ["now", "2026-11-22T14:40"],
  ["in 2 h", "2026-11-22T16:40"],
  ["in 1 h 30 min", "2026-11-22T16:10"],
  ["+90m", "2026-11-22T16:10"],
  ["in 3 days", "2026-11-25T14:40"],
  ["for 1.5 hours", "2026-11-22T16:10"],
  ["tomorrow 09:00", "2026-11-23T09:00"],
  ["until tomorrow 9 am", "2026-11-23T09:00"],
  ["today 18:30", "2026-11-22T18:30"],
  ["Monday 09:00", "2026-11-23T09:00"],
  ["next Sunday 7:15 pm", "2026-11-29T19:15"],
  ["19:00", "2026-11-22T19:00"],
  ["09:00", "2026-11-23T09:00"],
  ["12 am", "2026-11-23T00:00"],
  ["26 Nov 19:00", "2026-11-26T19:00"],
  ["Thu, 26 Nov 2026, 19:00", "2026-11-26T19:00"],
  ["Nov 26 7 pm", "2026-11-26T19:00"],
  ["3 January 08:00", "2027-01-03T08:00"],
  ["30 Sept 2025 08.05", "2025-09-30T08:05"],
  ["2026-11-26 19:00", "2026-11-26T19:00"],
  ["2026-11-26T19:00", "2026-11-26T19:00"],
  ["2026-11-26", "2026-11-26T00:00"],
])("reads “%s”", (typed, local) => {
  expect(read(typed)).toBe(local);
});

test.each([
  ["now", "2026-11-22T14:40"],
  ["15 min ago", "2026-11-22T14:25"],
  ["6 h ago", "2026-11-22T08:40"],
  ["1 d ago", "2026-11-21T14:40"],
  ["14:05", "2026-11-22T14:05"],
  ["15:05", "2026-11-21T15:05"],
  ["yesterday 09:00", "2026-11-21T09:00"],
  ["Friday 15:05", "2026-11-20T15:05"],
  ["26 Nov 2025 19:00", "2025-11-26T19:00"],
  ["26 Nov 19:00", null],
  ["tomorrow 09:00", null],
  ["in 2 h", null],
  ["soon", null],
])("as a past time, “%s” is %s", (typed, local) => {
  expect(parsePastTime(typed, { now, zone })).toBe(local);
});

test("a duration and a time of day count from the start of the period", () => {
  expect(read("for 2 h", "2026-12-01T23:00")).toBe("2026-12-02T01:00");
  expect(read("01:00", "2026-12-01T23:00")).toBe("2026-12-02T01:00");
  expect(read("in 2 h", "2026-12-01T23:00")).toBe("2026-11-22T16:40");
});

test("a duration across a change of clocks has its true length", () => {
  expect(read("for 3 h", "2027-03-28T01:00")).toBe("2027-03-28T05:00");
});

test.each([
  "",
  "soon",
  "31 Feb 10:00",
  "25:00",
  "12:75",
  "13 pm",
  "in",
  "in two h",
  "for 0 h",
  "5",
  "in 3 months",
  "30000 days ago",
])("does not understand “%s”", (typed) => {
  expect(read(typed)).toBeNull();
});

test("every time is read as it is written, with either clock", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date("1971-01-01"), max: new Date("8000-01-01"), noInvalidDate: true }),
      fc.constantFrom("h23", "h12" as const),
      (date, hourCycle) => {
        const local = date.toISOString().slice(0, 16);
        setHourCycle(hourCycle as "h23");
        try {
          expect(read(formatLocal(local))).toBe(local);
        } finally {
          setHourCycle("h23");
        }
      },
    ),
  );
});

test.each([
  ["today", "2026-11-22"],
  ["yesterday", "2026-11-21"],
  ["7 days ago", "2026-11-15"],
  ["2 weeks ago", "2026-11-08"],
  ["in 4 weeks", "2026-12-20"],
  ["Monday", "2026-11-23"],
  ["26 Nov", "2026-11-26"],
  ["2025-01-01", "2025-01-01"],
  ["202", null],
  ["", null],
])("reads the day “%s”", (typed, day) => {
  expect(parseDay(typed, { now, zone })).toBe(day);
});

test("a written day is read as the same day, and another text stays as it is typed", () => {
  expect(formatDay("2026-11-22")).toBe("Sun 22 Nov 2026");
  expect(parseDay("Sun 22 Nov 2026", { now, zone })).toBe("2026-11-22");
  for (const typed of ["", "soon"]) expect(formatDay(typed)).toBe(typed);
});

test("no field of the admin page uses the date input of the browser", async () => {
  const web = join(import.meta.dir, "..", "..", "web");
  for await (const path of new Bun.Glob("**/*.tsx").scan(web))
    expect([path, /type="date/.test(await Bun.file(join(web, path)).text())]).toEqual([
      path,
      false,
    ]);
});

test.each([
  ["9", "09:00"],
  ["12", "12:00"],
  ["930", "09:30"],
  ["9:30", "09:30"],
  ["1830", "18:30"],
  ["25:00", "25:00"],
  ["noon", "noon"],
  ["", ""],
])("the time of day %p becomes %p", (typed, completed) => {
  expect(completeClock(typed)).toBe(completed);
});
