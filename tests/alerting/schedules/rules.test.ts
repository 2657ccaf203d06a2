/** Who is on call at a time, compared with a slow and simple model, and the shifts in a span. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  findOnCall,
  findUpcoming,
  listShifts,
  type ScheduleTimes,
} from "../../../src/alerting/schedules/rules.ts";
import { rotationUnits, type ScheduleLayer } from "../../../src/alerting/schedules/schema.ts";
import { type ScheduleHours, weekdays } from "../../../src/alerting/hours/schema.ts";
import { limitTries } from "../../support/property-runs.ts";

const layerOf = (fields: Partial<ScheduleLayer>): ScheduleLayer => ({
  name: "Rotation",
  personIds: ["ann", "ben"],
  every: 1,
  unit: "weeks",
  start: "2026-01-05T09:00",
  end: null,
  hours: [],
  ...fields,
});

const scheduleOf = (
  layers: readonly Partial<ScheduleLayer>[],
  fields: Partial<ScheduleTimes> = {},
): ScheduleTimes => ({
  timeZone: "Europe/Berlin",
  overrides: [],
  layers: layers.map(layerOf),
  ...fields,
});

const findPersonId = (schedule: ScheduleTimes, at: string) =>
  findOnCall(schedule, Date.parse(at))?.personId ?? null;

const shiftsOf = (schedule: ScheduleTimes, from: string, until: string) =>
  listShifts(schedule, Date.parse(from), Date.parse(until)).map(
    ({ start, end, personId }) =>
      `${new Date(start).toISOString().slice(5, 16)} ${new Date(end).toISOString().slice(5, 16)} ${personId ?? "nobody"}`,
  );

describe("who is on call", () => {
  test("hand-overs stay at the same local time when clocks change", () => {
    const schedule = scheduleOf([{}]);
    expect(findPersonId(schedule, "2026-03-23T07:59:00Z")).toBe("ann");
    expect(findPersonId(schedule, "2026-03-23T08:00:00Z")).toBe("ben");
    // Summer time since Sunday.
    expect(findPersonId(schedule, "2026-03-30T06:59:00Z")).toBe("ben");
    expect(findPersonId(schedule, "2026-03-30T07:00:00Z")).toBe("ann");
  });

  test("nobody is on call before the first hand-over, and after the end of the layer", () => {
    const schedule = scheduleOf([{ end: "2026-01-19T09:00" }]);
    expect(findPersonId(schedule, "2026-01-05T07:59:59.999Z")).toBe(null);
    expect(findPersonId(schedule, "2026-01-05T08:00:00Z")).toBe("ann");
    expect(findPersonId(schedule, "2026-01-19T07:59:59.999Z")).toBe("ben");
    expect(findPersonId(schedule, "2026-01-19T08:00:00Z")).toBe(null);
  });

  test("a hand-over at a skipped time is later, at a repeated time it is the first of both", () => {
    const daily = { unit: "days" as const, start: "2026-03-28T02:30" };
    const spring = scheduleOf([daily]);
    expect(shiftsOf(spring, "2026-03-28T12:00Z", "2026-03-30T12:00Z")).toEqual([
      "03-28T12:00 03-29T01:30 ann",
      "03-29T01:30 03-30T00:30 ben",
      "03-30T00:30 03-30T12:00 ann",
    ]);
    const autumn = scheduleOf([{ ...daily, start: "2026-10-24T02:30" }]);
    expect(shiftsOf(autumn, "2026-10-24T12:00Z", "2026-10-25T12:00Z")).toEqual([
      "10-24T12:00 10-25T00:30 ann",
      "10-25T00:30 10-25T12:00 ben",
    ]);
  });

  test("hours restrict a layer, also over midnight, and the layer below fills the rest", () => {
    const nights = {
      name: "Nights",
      personIds: ["cat"],
      hours: [{ days: [...weekdays], from: "22:00", until: "06:00" }],
    };
    const schedule = scheduleOf([{}, nights]);
    expect(shiftsOf(schedule, "2026-01-06T12:00Z", "2026-01-07T12:00Z")).toEqual([
      "01-06T12:00 01-06T21:00 ann",
      "01-06T21:00 01-07T05:00 cat",
      "01-07T05:00 01-07T12:00 ann",
    ]);
  });

  test("gaps are shifts of nobody", () => {
    const workdays = { days: weekdays.slice(0, 5), from: "09:00", until: "17:00" };
    const schedule = scheduleOf([{ personIds: ["ann"], hours: [workdays] }]);
    expect(shiftsOf(schedule, "2026-01-09T12:00Z", "2026-01-12T12:00Z")).toEqual([
      "01-09T12:00 01-09T16:00 ann",
      "01-09T16:00 01-12T08:00 nobody",
      "01-12T08:00 01-12T12:00 ann",
    ]);
    expect(listShifts(scheduleOf([]), 0, 1000)).toEqual([
      { start: 0, end: 1000, personId: null, overrideId: null },
    ]);
  });

  test("an override replaces the layers, and the latest override decides", () => {
    const overrides = [
      { id: "1", personId: "cat", startsAt: "2026-01-06T10:00Z", endsAt: "2026-01-06T14:00Z" },
      { id: "2", personId: "dan", startsAt: "2026-01-06T12:00Z", endsAt: "2026-01-06T13:00Z" },
    ];
    const schedule = scheduleOf([{}], { overrides });
    expect(shiftsOf(schedule, "2026-01-06T08:00Z", "2026-01-06T16:00Z")).toEqual([
      "01-06T08:00 01-06T10:00 ann",
      "01-06T10:00 01-06T12:00 cat",
      "01-06T12:00 01-06T13:00 dan",
      "01-06T13:00 01-06T14:00 cat",
      "01-06T14:00 01-06T16:00 ann",
    ]);
  });

  test("the next shift is the next one of a person, after a gap, too", () => {
    const hours = [{ days: [...weekdays], from: "09:00", until: "17:00" }];
    const schedule = scheduleOf([{ personIds: ["ann"], hours }]);
    const found = findUpcoming(schedule, Date.parse("2026-01-06T12:00Z"), Date.parse("2026-02-01"));
    expect(found.until).toBe(Date.parse("2026-01-06T16:00Z"));
    expect(found.gapAt).toBe(found.until);
    expect(found.next).toMatchObject({ personId: "ann", start: Date.parse("2026-01-07T08:00Z") });
    const never = findUpcoming(scheduleOf([]), 0, 1000);
    expect(never).toEqual({ until: null, next: null, gapAt: 0 });
  });
});

/** The rules of schedules, slow and simple: walks along hand-overs and days. */
function findOnCallSlowly({ timeZone, layers, overrides }: ScheduleTimes, at: number) {
  const covering = overrides.filter(
    ({ startsAt, endsAt }) => Date.parse(startsAt) <= at && Date.parse(endsAt) > at,
  );
  const onCall = layers.map((layer) => findInLayer(layer, timeZone, at));
  return covering.at(-1)?.personId ?? onCall.filter((one) => one !== null).at(-1) ?? null;
}

function findInLayer(layer: ScheduleLayer, zone: string, at: number): string | null {
  const start = Temporal.PlainDateTime.from(layer.start);
  const toMs = (local: Temporal.PlainDateTime) => local.toZonedDateTime(zone).epochMilliseconds;
  if (layer.end !== null && at >= toMs(Temporal.PlainDateTime.from(layer.end))) return null;
  let person: string | null = null;
  for (let count = 0; ; count++) {
    if (toMs(start.add({ [layer.unit]: count * layer.every })) > at) break;
    person = layer.personIds[count % layer.personIds.length] ?? null;
  }
  return layer.hours.length === 0 || isInHours(layer.hours, zone, at) ? person : null;
}

function isInHours(hours: readonly ScheduleHours[], zone: string, at: number): boolean {
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  const toMs = (date: Temporal.PlainDate, time: string) =>
    date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
  return [today.subtract({ days: 1 }), today].some((date) =>
    hours.some(({ days, from, until }) => {
      if (!days.includes(weekdays[date.dayOfWeek - 1]!)) return false;
      const end = until > from ? date : date.add({ days: 1 });
      return toMs(date, from) <= at && at < toMs(end, until);
    }),
  );
}

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Africa/Cairo",
  "Africa/Casablanca",
];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Changes of clocks, and times around them. */
const nearChange = fc
  .tuple(
    fc.constantFrom(
      "2026-03-29T01:00Z", // Berlin, to summer time.
      "2026-10-25T01:00Z",
      "2026-03-08T07:00Z", // New York.
      "2026-11-01T06:00Z",
      "2026-04-04T15:00Z", // Lord Howe, by half an hour.
      "2026-10-03T15:30Z",
      "2026-04-23T22:00Z", // Cairo, at midnight.
      "2026-10-29T21:00Z",
    ),
    fc.integer({ min: -30 * 60, max: 30 * 60 }),
  )
  .map(([text, minutes]) => Date.parse(text) + minutes * minuteMs);
const anyTime = fc
  .integer({ min: Date.UTC(2026, 0, 5) / minuteMs, max: Date.UTC(2027, 0) / minuteMs })
  .map((minutes) => minutes * minuteMs);
const time = fc.oneof(nearChange, anyTime);

const clockTime = fc.oneof(
  fc.constantFrom("00:00", "23:30", "02:00", "02:30", "09:00"),
  fc.integer({ min: 0, max: 95 }).map((quarter) => {
    const [hour, minute] = [Math.floor(quarter / 4), (quarter % 4) * 15];
    return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  }),
);
const hoursEntry = fc.record({
  days: fc.subarray([...weekdays], { minLength: 1 }),
  from: clockTime,
  until: clockTime,
});
const unitDays = { hours: 1 / 24, days: 1, weeks: 7 };

/** Layers that start at most 30 shifts before a time. */
const generateLayers = (at: number) =>
  fc
    .record({
      unit: fc.constantFrom(...rotationUnits),
      every: fc.integer({ min: 1, max: 13 }),
      shifts: fc.integer({ min: 0, max: 30 }),
      clock: clockTime,
      people: fc.integer({ min: 1, max: 4 }),
      ends: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 4 }),
      hours: fc.array(hoursEntry, { maxLength: 3 }),
    })
    .map(({ unit, every, shifts, clock, people, ends, hours }): ScheduleLayer => {
      const formatDay = (days: number) =>
        new Date(at + days * 24 * hourMs).toISOString().slice(0, 10) + `T${clock}`;
      const before = -Math.ceil(shifts * every * unitDays[unit]);
      return {
        name: "Rotation",
        unit,
        every,
        hours,
        start: formatDay(before),
        end: ends === null ? null : formatDay(before + ends),
        personIds: ["ann", "ben", "cat", "dan"].slice(0, people),
      };
    });

const scheduleAt = time.chain((at) =>
  fc.record({
    at: fc.constant(at),
    timeZone: fc.constantFrom(...zones),
    layers: fc.array(generateLayers(at), { minLength: 1, maxLength: 2 }),
    overrides: fc.array(
      fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 50 })),
      { maxLength: 2 },
    ),
  }),
);

const toSchedule = ({
  at,
  timeZone,
  layers,
  overrides,
}: typeof scheduleAt extends fc.Arbitrary<infer T> ? T : never): ScheduleTimes => ({
  timeZone,
  layers,
  overrides: overrides.map(([start, length], index) => ({
    id: String(index),
    personId: `override ${index}`,
    startsAt: new Date(at + start * 30 * minuteMs).toISOString(),
    endsAt: new Date(at + (start + length) * 30 * minuteMs).toISOString(),
  })),
});

test("the rules equal a slow model with Temporal, in all zones and at all changes of clocks", () => {
  fc.assert(
    fc.property(scheduleAt, (drawn) => {
      const schedule = toSchedule(drawn);
      expect(findOnCall(schedule, drawn.at)?.personId ?? null).toBe(
        findOnCallSlowly(schedule, drawn.at),
      );
    }),
    limitTries(3_000),
  );
});

test("shifts cover their span without overlaps, and name whom the rules find", () => {
  fc.assert(
    fc.property(scheduleAt, (drawn) => {
      const schedule = toSchedule(drawn);
      const [from, until] = [drawn.at - 40 * hourMs, drawn.at + 40 * hourMs];
      const shifts = listShifts(schedule, from, until);
      expect(shifts[0]?.start).toBe(from);
      expect(shifts.at(-1)?.end).toBe(until);
      for (const [index, shift] of shifts.entries()) {
        expect(shift.end).toBeGreaterThan(shift.start);
        if (index > 0) expect(shifts[index - 1]?.end).toBe(shift.start);
        for (const at of [shift.start, Math.floor((shift.start + shift.end) / 2), shift.end - 1]) {
          const found = findOnCall(schedule, at);
          const { personId, overrideId } = shift;
          expect(found).toEqual(personId === null ? null : { personId, overrideId });
        }
      }
    }),
    limitTries(100),
  );
});
