import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addMonths } from "../../src/core/time/clock.ts";
import { toInstant, toLocal } from "../../src/core/time/time-zones.ts";
import { listOccurrences } from "../../src/monitoring/maintenance/rules.ts";
import { toDate, groupEntriesByDay, listWeeks } from "../../web/pages/maintenance/calendar.ts";
import { buildTimes, buildWindowBody, toValues } from "../../web/pages/maintenance/values.ts";
import { describePlan } from "../../web/pages/maintenance/recurrence-words.ts";
import {
  parseRule,
  createDefaultPlan,
  formatRule,
} from "../../src/monitoring/maintenance/recurrence-rules.ts";

// A Sunday, the fourth of its month.
const sunday = Date.UTC(2026, 10, 22, 2);
const roundTrip = (rrule: string) => formatRule(parseRule(rrule, sunday));

describe("the editor of a window", () => {
  const clockChanges = [
    ["Europe/Berlin", "2026-10-25T01:00Z"],
    ["Europe/Berlin", "2026-03-29T01:00Z"],
    ["America/New_York", "2026-11-01T06:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["America/Santiago", "2026-04-05T03:00Z"],
  ] as const;
  const withTimes = (startsAt: string, endsAt: string, timeZone: string) =>
    toValues({
      id: "w",
      title: "Router",
      description: "",
      startsAt,
      endsAt,
      timeZone,
      rrule: null,
      monitorIds: [],
      groupIds: [],
      countsUptime: false,
      public: true,
      reminderHours: null,
      progressNotices: true,
      state: "scheduled",
      current: null,
      next: null,
      createdAt: startsAt,
      updatedAt: startsAt,
    });

  test.each(clockChanges)(
    "changes no time that was not edited, in %s around %s",
    (zone, change) => {
      for (let minutes = -180; minutes <= 180; minutes += 10) {
        const startsAt = new Date(Date.parse(change) + minutes * 60_000 + 30_500).toISOString();
        const endsAt = new Date(Date.parse(startsAt) + 45 * 60_000).toISOString();
        const values = withTimes(startsAt, endsAt, zone);
        expect(buildWindowBody({ ...values, title: "Switch" })).toMatchObject({ startsAt, endsAt });
        expect(buildTimes(values)).toMatchObject({ startsAt, endsAt });
        const moved = { ...values, end: "2026-12-24T12:00" };
        expect(buildWindowBody(moved)).toMatchObject({
          startsAt,
          endsAt: new Date(toInstant(Date.UTC(2026, 11, 24, 12), zone)).toISOString(),
        });
      }
    },
  );
});

describe("the recurrence editor", () => {
  for (const [rrule, words] of [
    ["FREQ=DAILY", "Every day"],
    ["FREQ=DAILY;INTERVAL=3;COUNT=5", "Every 3 days, 5 times"],
    ["FREQ=WEEKLY;BYDAY=SU", "Every week on Sunday"],
    ["FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "Every 2 weeks on Monday and Friday"],
    ["FREQ=MONTHLY;BYMONTHDAY=15", "Every month on day 15"],
    ["FREQ=MONTHLY;BYMONTHDAY=-1", "Every month on the last day"],
    ["FREQ=MONTHLY;BYDAY=3TU", "Every month on the third Tuesday"],
    ["FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20270131", "Every month on the last Friday, until 31 Jan 2027"],
  ] as const)
    test(`reads and writes ${rrule} and shows “${words}”`, () => {
      expect(roundTrip(rrule)).toBe(rrule);
      expect(describePlan(parseRule(rrule, sunday))).toBe(words);
    });

  test("takes values that a rule omits from the window's start", () => {
    expect(roundTrip("FREQ=WEEKLY")).toBe("FREQ=WEEKLY;BYDAY=SU");
    expect(roundTrip("FREQ=MONTHLY")).toBe("FREQ=MONTHLY;BYMONTHDAY=22");
    expect(createDefaultPlan(sunday)).toMatchObject({
      repeats: "never",
      days: [6],
      nth: 4,
      day: 6,
    });
  });

  for (const rrule of [
    "FREQ=YEARLY",
    "FREQ=HOURLY;INTERVAL=6",
    "FREQ=WEEKLY;BYDAY=SU;BYHOUR=2,14",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU",
    "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1",
    "FREQ=MONTHLY;BYDAY=5SU",
    "FREQ=DAILY;UNTIL=20270131T120000Z",
  ])
    test(`leaves ${rrule} unchanged`, () => {
      expect(parseRule(rrule, sunday).repeats).toBe("rule");
      expect(roundTrip(rrule)).toBe(rrule);
    });

  test("never changes the times of a window, for any rule", () => {
    const pick = <T>(...values: T[]) => fc.constantFrom(...values);
    const rule = fc
      .tuple(
        pick("DAILY", "WEEKLY", "MONTHLY"),
        pick("", ";INTERVAL=2"),
        pick("", ";BYDAY=MO", ";BYDAY=SU,WE", ";BYDAY=2SU", ";BYMONTHDAY=7", ";BYMONTHDAY=-1"),
        pick("", ";COUNT=4", ";UNTIL=20270214", ";UNTIL=20270214T010000"),
        pick("", ";WKST=SU"),
      )
      .map(([frequency, ...parts]) => `FREQ=${frequency}${parts.join("")}`);
    const startsAt = new Date(sunday).toISOString();
    const endsAt = new Date(sunday + 3_600_000).toISOString();
    const listOnServer = (rrule: string) => {
      try {
        const times = { startsAt, endsAt, timeZone: "UTC", rrule };
        return listOccurrences(times, sunday, sunday + 4e10, 100);
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(rule, (rrule) => {
        expect(listOnServer(roundTrip(rrule) ?? "")).toEqual(listOnServer(rrule));
      }),
      { numRuns: 300 },
    );
  });
});

describe("the calendar", () => {
  test("has whole weeks from Monday, for any month", () => {
    for (let month = "2026-01"; month < "2029-01"; month = addMonths(month, 1)) {
      const days = listWeeks(month).flat();
      expect(days.length % 7).toBe(0);
      expect(toDate(days[0] ?? 0).getUTCDay()).toBe(1);
      const daysOfMonth = days.filter((day) => toDate(day).toISOString().startsWith(month));
      expect(daysOfMonth.length).toBeGreaterThan(27);
      expect(days.length - daysOfMonth.length).toBeLessThan(14);
    }
  });

  test("shows an occurrence on each local day that it overlaps, but not if it ends at that day's midnight", () => {
    const zone = "Europe/Berlin";
    const night = { startsAt: "2026-10-24T20:00:00.000Z", endsAt: "2026-10-25T23:00:00.000Z" };
    const windows = [{ id: "1", title: "Night", occurrences: [night] }];
    const days = listWeeks("2026-10").flat();
    const entries = groupEntriesByDay(windows, days[0] ?? 0, days.at(-1) ?? 0, zone);
    const shownDays = [...entries].map(([day, [entry]]) => [
      toDate(day).toISOString().slice(0, 10),
      entry?.isFirstDay,
    ]);
    expect(toLocal(Date.parse(night.endsAt), zone) % 86_400_000).toBe(0);
    expect(shownDays).toEqual([
      ["2026-10-24", true],
      ["2026-10-25", false],
    ]);
  });
});
