import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import {
  findTimesIssue,
  type Occurrence,
  listOccurrences,
  computeSituation,
  type Times,
} from "../../../src/monitoring/maintenance/rules.ts";
import { NewMaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";

const hour = 3_600_000;
const day = 24 * hour;
const at = (text: string) => Date.parse(text);
const buildText = ({ start, end }: Occurrence) =>
  [start, end].map((time) => new Date(time).toISOString().slice(0, 16) + "Z").join(" – ");

/** A window that starts at `startsAt` and lasts `hours`. */
function buildTimes(
  startsAt: string,
  hours: number,
  rrule: string | null = null,
  timeZone = "UTC",
): Times {
  const endsAt = new Date(at(startsAt) + hours * hour).toISOString();
  return { startsAt: new Date(startsAt).toISOString(), endsAt, timeZone, rrule };
}

const listAll = (window: Times, limit = 4, from = 0) =>
  listOccurrences(window, from, Infinity, limit);
const listStarts = (window: Times, limit?: number, from?: string) =>
  listAll(window, limit, from === undefined ? 0 : at(from)).map((one) =>
    buildText(one).slice(0, 17),
  );

describe("a single window", () => {
  const window = buildTimes("2026-11-22T02:00:00Z", 2);
  const only = { start: at("2026-11-22T02:00:00Z"), end: at("2026-11-22T04:00:00Z") };
  const moments: [string, ReturnType<typeof computeSituation>][] = [
    ["2026-11-22T01:59:59.999Z", { state: "scheduled", current: null, next: only }],
    ["2026-11-22T02:00:00.000Z", { state: "running", current: only, next: null }],
    ["2026-11-22T03:59:59.999Z", { state: "running", current: only, next: null }],
    ["2026-11-22T04:00:00.000Z", { state: "over", current: null, next: null }],
  ];
  for (const [moment, situation] of moments)
    test(`is ${situation.state} at ${moment}`, () => {
      expect(computeSituation(window, at(moment))).toEqual(situation);
    });
});

describe("a window on every Sunday", () => {
  const window = buildTimes("2026-11-22T02:00:00Z", 2, "FREQ=WEEKLY;BYDAY=SU;COUNT=2");

  test("is scheduled between two occurrences, has a next one while one runs, and is over after the last", () => {
    const [first = null, second = null] = listAll(window);
    expect(computeSituation(window, at("2026-11-22T03:00:00Z"))).toEqual({
      state: "running",
      current: first,
      next: second,
    });
    expect(computeSituation(window, at("2026-11-25T00:00:00Z"))).toEqual({
      state: "scheduled",
      current: null,
      next: second,
    });
    expect(computeSituation(window, at("2026-11-29T04:00:00Z")).state).toBe("over");
  });

  test("is part of a span that it overlaps at either end", () => {
    const listBetween = (from: string, to: string) =>
      listOccurrences(window, at(from), at(to), 9).map((one) => buildText(one).slice(0, 10));
    expect(listBetween("2026-11-22T03:59:00Z", "2026-11-29T02:00:00Z")).toEqual(["2026-11-22"]);
    expect(listBetween("2026-11-22T04:00:00Z", "2026-11-29T02:01:00Z")).toEqual(["2026-11-29"]);
    expect(listBetween("2026-11-22T04:00:00Z", "2026-11-29T02:00:00Z")).toEqual([]);
  });
});

describe("a rule in local time", () => {
  const cases: [name: string, window: Times, starts: string[]][] = [
    [
      "Berlin: 02:30 stays 02:30, and is 03:30 when 02:30 is skipped",
      buildTimes("2027-03-21T01:30:00Z", 1, "FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin"),
      ["2027-03-21T01:30Z", "2027-03-28T01:30Z", "2027-04-04T00:30Z"],
    ],
    [
      "Berlin: an ambiguous 02:30 means the first",
      buildTimes("2027-10-24T00:30:00Z", 1, "FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin"),
      ["2027-10-24T00:30Z", "2027-10-31T00:30Z", "2027-11-07T01:30Z"],
    ],
    [
      "Berlin: a window can start in the second 02:30",
      buildTimes("2027-10-31T01:30:00Z", 1, "FREQ=WEEKLY", "Europe/Berlin"),
      ["2027-10-31T01:30Z", "2027-11-07T01:30Z", "2027-11-14T01:30Z"],
    ],
    [
      "Berlin: each hour occurs once when clocks go forward",
      buildTimes("2027-03-28T00:30:00Z", 1, "FREQ=HOURLY", "Europe/Berlin"),
      ["2027-03-28T00:30Z", "2027-03-28T01:30Z", "2027-03-28T02:30Z"],
    ],
    [
      "New York: 02:30 is skipped",
      buildTimes("2027-03-13T07:30:00Z", 1, "FREQ=DAILY", "America/New_York"),
      ["2027-03-13T07:30Z", "2027-03-14T07:30Z", "2027-03-15T06:30Z"],
    ],
    [
      "New York: 01:30 is ambiguous",
      buildTimes("2027-11-06T05:30:00Z", 1, "FREQ=DAILY", "America/New_York"),
      ["2027-11-06T05:30Z", "2027-11-07T05:30Z", "2027-11-08T06:30Z"],
    ],
    [
      "Lord Howe, which shifts by half an hour: 02:15 is skipped",
      buildTimes("2027-10-01T15:45:00Z", 1, "FREQ=DAILY", "Australia/Lord_Howe"),
      ["2027-10-01T15:45Z", "2027-10-02T15:45Z", "2027-10-03T15:15Z"],
    ],
    [
      "Lord Howe: 01:45 is ambiguous",
      buildTimes("2027-04-02T14:45:00Z", 1, "FREQ=DAILY", "Australia/Lord_Howe"),
      ["2027-04-02T14:45Z", "2027-04-03T14:45Z", "2027-04-04T15:15Z"],
    ],
  ];
  for (const [name, window, expected] of cases)
    test(name, () => {
      expect(findTimesIssue(window)).toBeNull();
      expect(listStarts(window, 3)).toEqual(expected);
    });

  test("all day, every day: each occurrence ends when the next starts, also on a day of 23 hours", () => {
    const window = buildTimes("2027-03-26T23:00:00Z", 24, "FREQ=DAILY", "Europe/Berlin");
    expect(findTimesIssue(window)).toBeNull();
    expect(listAll(window, 3).map(buildText)).toEqual([
      "2027-03-26T23:00Z – 2027-03-27T23:00Z",
      "2027-03-27T23:00Z – 2027-03-28T22:00Z",
      "2027-03-28T22:00Z – 2027-03-29T22:00Z",
    ]);
  });

  const wholeDays: [what: string, window: Times, from: string, ends: string[]][] = [
    [
      "a day that is an hour longer",
      buildTimes("2026-10-01T00:00+02:00", 24, "FREQ=DAILY", "Europe/Berlin"),
      "2026-10-24T22:00Z",
      ["2026-10-24T22:00Z – 2026-10-25T23:00Z", "2026-10-25T23:00Z – 2026-10-26T23:00Z"],
    ],
    [
      "a day that is an hour shorter",
      buildTimes("2026-03-01T00:00+01:00", 24, "FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin"),
      "2026-03-28T23:00Z",
      ["2026-03-28T23:00Z – 2026-03-29T22:00Z", "2026-04-04T22:00Z – 2026-04-05T22:00Z"],
    ],
    [
      "two days, one of them an hour longer",
      buildTimes("2026-10-03T08:00-04:00", 48, "FREQ=WEEKLY;BYDAY=SA", "America/New_York"),
      "2026-10-31T12:00Z",
      ["2026-10-31T12:00Z – 2026-11-02T13:00Z", "2026-11-07T13:00Z – 2026-11-09T13:00Z"],
    ],
    [
      "a day that is half an hour longer",
      buildTimes("2026-03-01T00:00+11:00", 24, "FREQ=DAILY", "Australia/Lord_Howe"),
      "2026-04-04T13:00Z",
      ["2026-04-04T13:00Z – 2026-04-05T13:30Z", "2026-04-05T13:30Z – 2026-04-06T13:30Z"],
    ],
    [
      "the days after a first day that was an hour longer",
      buildTimes("2026-10-25T00:00+02:00", 25, "FREQ=DAILY", "Europe/Berlin"),
      "2026-10-24T22:00Z",
      ["2026-10-24T22:00Z – 2026-10-25T23:00Z", "2026-10-25T23:00Z – 2026-10-26T23:00Z"],
    ],
  ];
  test.each(wholeDays)("whole days end at the end of the day: %s", (_what, window, from, ends) => {
    expect(findTimesIssue(window)).toBeNull();
    expect(listAll(window, 2, at(from)).map(buildText)).toEqual(ends);
  });

  test.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"])(
    "whole days end at their local time in %s, even if it is skipped at the start",
    (timeZone) => {
      const toInstant = (local: Temporal.PlainDateTime) =>
        local.toZonedDateTime(timeZone).epochMilliseconds;
      for (let minutes = 0; minutes < 24 * 60; minutes += 15)
        for (const days of [1, 2]) {
          const first = Temporal.PlainDateTime.from("2026-02-01T00:00").add({ minutes });
          const startsAt = new Date(toInstant(first)).toISOString();
          const window = buildTimes(startsAt, days * 24, "FREQ=DAILY;INTERVAL=7", timeZone);
          const expected = Array.from({ length: 60 }, (_, week) => {
            const local = first.add({ days: 7 * week });
            return buildText({ start: toInstant(local), end: toInstant(local.add({ days })) });
          });
          expect(listAll(window, 60).map(buildText)).toEqual(expected);
        }
    },
  );

  test("any other length is exact, even across a clock change", () => {
    const window = buildTimes("2026-10-04T01:00+02:00", 3, "FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin");
    expect(listAll(window, 1, at("2026-10-24T12:00Z")).map(buildText)).toEqual([
      "2026-10-24T23:00Z – 2026-10-25T02:00Z",
    ]);
    const once = buildTimes("2026-10-25T00:00+02:00", 24, null, "Europe/Berlin");
    expect(listAll(once, 1).map(buildText)).toEqual(["2026-10-24T22:00Z – 2026-10-25T22:00Z"]);
  });

  test("its weekday is the local weekday", () => {
    const window = buildTimes(
      "2026-11-22T10:30:00Z",
      1,
      "FREQ=WEEKLY;BYDAY=MO",
      "Pacific/Kiritimati",
    );
    expect(listStarts(window, 2)).toEqual(["2026-11-22T10:30Z", "2026-11-29T10:30Z"]);
  });

  test("occurrences start at the same local time in any zone, except when that time is skipped", () => {
    const zones = [
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Pacific/Apia",
      "UTC",
    ];
    const createFormat = (zone: string) =>
      new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.nat({ max: 2 * 365 * 24 * 4 }),
        fc.constantFrom("FREQ=DAILY", "FREQ=WEEKLY;BYDAY=SU,WE", "FREQ=MONTHLY;BYDAY=-1SU"),
        (zone, quarters, rule) => {
          const startsAt = new Date(at("2027-01-01T00:00:00Z") + (quarters * hour) / 4);
          const window = buildTimes(startsAt.toISOString(), 1, rule, zone);
          const clock = createFormat(zone);
          const localTime = clock.format(startsAt);
          const other = listAll(window, 400).filter(
            ({ start }) => clock.format(start) !== localTime,
          );
          expect(other.length).toBeLessThan(50);
          for (const { start } of other) {
            // The clock change skipped this local time.
            const before = Array.from({ length: 8 }, (_, index) => start - (index * hour) / 4);
            expect(before.map((time) => clock.format(time))).not.toContain(localTime);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("occurrences", () => {
  test("far in the future and past equal those of a full iteration", () => {
    const occurrencesUntil2038 = {
      "FREQ=DAILY;INTERVAL=3": 5_900,
      "FREQ=MONTHLY;BYMONTHDAY=31": 400,
      "FREQ=WEEKLY;INTERVAL=2": 1_300,
    };
    for (const [rule, count] of Object.entries(occurrencesUntil2038)) {
      const window = buildTimes("1990-01-31T02:00:00Z", 2, rule, "Europe/Berlin");
      const walked = listAll(window, count);
      for (const moment of ["1990-02-03T01:30:00Z", "2026-11-20T10:00:00Z", "2037-10-25T00:30:00Z"])
        expect(listAll(window, 5, at(moment))).toEqual(
          walked.filter(({ end }) => end > at(moment)).slice(0, 5),
        );
      expect(listStarts(window, 1, "8900-01-01T00:00:00Z")[0]).toStartWith("8900-0");
    }
  });

  test("that are decades apart are the same in every query", () => {
    const rule = fc.constantFrom(
      "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=TH",
      "FREQ=HOURLY;BYYEARDAY=366;BYDAY=MO,FR;BYHOUR=3",
      "FREQ=HOURLY;BYMONTHDAY=31;BYMONTH=1;BYDAY=WE;BYHOUR=3",
      "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=TH;COUNT=2",
    );
    fc.assert(
      fc.property(rule, fc.array(fc.nat({ max: 90 * 365 }), { minLength: 4 }), (rrule, days) => {
        const window = buildTimes("1990-01-31T02:00:00Z", 2, rrule, "Europe/Berlin");
        const moments = days.map((number) => at("1985-01-01T00:00:00Z") + number * day);
        const seen = moments.map((moment) => computeSituation(window, moment).next);
        // One search covers 50 years.
        const walked = Array.from(
          { length: 5 },
          (_, index) => at("1990-01-01T00:00:00Z") + index * 40 * 365 * day,
        ).flatMap((from) => listOccurrences(window, from, from + 40 * 365 * day, 1_000));
        for (const [index, moment] of moments.entries())
          expect(seen[index]).toEqual(walked.find(({ start }) => start > moment) ?? null);
      }),
      { numRuns: 40 },
    );
  });

  test("of a rare rule are searched only once", () => {
    const window = buildTimes(
      "2026-11-20T02:11:00Z",
      1,
      "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=TH",
    );
    // The code uses `require`, which returns another module object than an import.
    const { RRuleTemporal } = require("rrule-temporal") as typeof import("rrule-temporal");
    using next = spyOn(RRuleTemporal.prototype, "next");
    for (const later of [0, 0, day, 2 * day]) computeSituation(window, at(window.startsAt) + later);
    expect(next).toHaveBeenCalledTimes(2);
  });

  test("are in order, never overlap, and match the situation at their time", () => {
    const rule = fc.constantFrom(
      "FREQ=HOURLY;INTERVAL=5",
      "FREQ=DAILY;BYHOUR=1,3,23",
      "FREQ=WEEKLY;BYDAY=SA,SU;INTERVAL=2",
      "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
      "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU",
    );
    const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe");
    fc.assert(
      fc.property(rule, zone, fc.nat({ max: 400 * 24 }), (rrule, timeZone, hours) => {
        const startsAt = new Date(at("2027-01-01T00:00:00Z") + hours * hour).toISOString();
        const window = buildTimes(startsAt, 1, rrule, timeZone);
        const found = listAll(window, 60);
        for (const [index, one] of found.entries()) {
          const next = found[index + 1];
          expect(one.start).toBeLessThan(one.end);
          if (next === undefined) continue;
          expect(one.end).toBeLessThanOrEqual(next.start);
          for (const moment of [one.start, one.end - 1])
            expect(computeSituation(window, moment)).toEqual({
              state: "running",
              current: one,
              next,
            });
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("invalid times", () => {
  const start = "2026-11-22T02:00:00.000Z";
  const buildRule = (rrule: string, hours = 1) => buildTimes(start, hours, rrule);
  const hours = Array.from({ length: 24 }, (_, hour) => hour).join(",");
  const minutes = Array.from({ length: 60 }, (_, minute) => minute).join(",");
  const cases: [name: string, window: Times, path: string][] = [
    ["an end before the start", buildTimes(start, -1), "endsAt"],
    ["an end at the start", buildTimes(start, 0), "endsAt"],
    ["more than 31 days", buildTimes(start, 31 * 24 + 0.01), "endsAt"],
    ["a day that exists in no year", buildRule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"), "rrule"],
    [
      "a yearly day that exists in no month",
      buildRule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
      "rrule",
    ],
    [
      "an hour of a day that exists in no year",
      buildRule("FREQ=HOURLY;BYMONTH=4;BYMONTHDAY=31"),
      "rrule",
    ],
    [
      "29 February in years without it",
      buildRule("FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29"),
      "rrule",
    ],
    ["a rule that ended before", buildRule("FREQ=DAILY;UNTIL=20201231"), "rrule"],
    ["more often than every hour", buildRule("FREQ=HOURLY;BYMINUTE=0,30", 0.1), "rrule"],
    ["twice within an hour of the day", buildRule("FREQ=DAILY;BYMINUTE=0,15", 0.1), "rrule"],
    [
      "BYSETPOS among a hundred thousand times a year",
      buildRule(
        `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=0,6,12,18;BYMINUTE=${minutes};BYSETPOS=1`,
        0.1,
      ),
      "rrule",
    ],
    [
      "BYSETPOS beyond the 360 times of each day",
      buildRule(
        `FREQ=DAILY;BYHOUR=${hours};BYMINUTE=${minutes.slice(0, 35)};BYSETPOS=361,-361,366,-366`,
        0.01,
      ),
      "rrule",
    ],
    [
      "thousands of times of each year",
      buildRule(`FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${hours}`, 0.5),
      "rrule",
    ],
    ["a second start before the end", buildRule("FREQ=DAILY", 24.1), "rrule"],
    ["the same on one of several days", buildRule("FREQ=WEEKLY;BYDAY=SA,SU", 30), "rrule"],
  ];
  for (const [name, window, path] of cases)
    test(`${name}: the error names ${path}`, () => {
      expect(findTimesIssue(window)?.path).toBe(path);
    });

  test("31 days, whole days daily and an hour hourly are valid", () => {
    for (const [rrule, hours] of [
      [null, 31 * 24],
      ["FREQ=DAILY", 24],
      ["FREQ=HOURLY", 1],
      ["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", 24],
      ["FREQ=HOURLY;COUNT=1000", 1],
      ["FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=1,15;BYHOUR=0,6,12,18", 1],
      ["FREQ=YEARLY;BYMONTH=3;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,6,12,18", 1],
    ] as const)
      expect(findTimesIssue(buildTimes(start, hours, rrule))).toBeNull();
  });

  test("any text is accepted or rejected as a rule, and accepted rules can be evaluated at any time", () => {
    const part = fc.oneof(
      fc.constantFrom("COUNT=999", "BYSETPOS=-1", "BYDAY=5FR", "BYWEEKNO=53", "BYYEARDAY=-366"),
      fc.constantFrom("BYMONTHDAY=31", "BYMONTH=2", "INTERVAL=9", "UNTIL=99991231T235959Z"),
      fc.constantFrom("INTERVAL=99999999999", "COUNT=1e9", "BYHOUR=24", "UNTIL=20261345", "X"),
    );
    const rules = fc
      .tuple(
        fc.constantFrom("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "SECONDLY", ""),
        fc.array(part, { maxLength: 4 }),
      )
      .map(([frequency, parts]) => [`FREQ=${frequency}`, ...parts].join(";"));
    fc.assert(
      fc.property(rules, fc.nat({ max: 300 * 365 }), (rrule, days) => {
        const window = buildTimes(start, 1, rrule);
        const isAccepted = NewMaintenanceWindow.safeParse({ title: "A", ...window }).success;
        if (!isAccepted || findTimesIssue(window) !== null) return;
        const { state } = computeSituation(window, at(start) + days * day);
        expect(["scheduled", "running", "over"]).toContain(state);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the situation of a rule", () => {
  test("is not computed again until an occurrence starts or ends", () => {
    const window = buildTimes("2026-11-22T02:00:00Z", 1, "FREQ=HOURLY;INTERVAL=3");
    const [first, later] = ["T11:00:00Z", "T11:59:59.999Z"].map((time) =>
      computeSituation(window, at(`2026-11-23${time}`)),
    );
    expect(first?.state).toBe("running");
    expect(later).toBe(first as NonNullable<typeof first>);
    expect(computeSituation(window, at("2026-11-23T12:00:00Z")).state).toBe("scheduled");
  });

  test("is the same whichever times were computed before", () => {
    const rules = ["HOURLY;INTERVAL=7", "DAILY", "WEEKLY;BYDAY=MO,FR", "MONTHLY;BYMONTHDAY=31"];
    const hours = fc.array(fc.nat({ max: 2_000 }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.constantFrom(...rules),
        fc.integer({ min: 1, max: 7 }),
        hours,
        (rule, length, times) => {
          const start = "2026-10-20T00:30:00Z";
          const cached = buildTimes(start, length, `FREQ=${rule}`, "Europe/Berlin");
          for (const hour of times) {
            const now = at(start) + hour * 3_600_000;
            const { current, next } = computeSituation(cached, now);
            // The cache does not know a rule that is written differently.
            const fresh = { ...cached, rrule: `FREQ=${rule};COUNT=${1_000 - (hour % 3)}` };
            const [one, other] = listOccurrences(fresh, now, Infinity, 2);
            expect(current ?? next).toEqual(one ?? null);
            if (current !== null) expect(next).toEqual(other ?? null);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
