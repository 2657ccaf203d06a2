import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { type MaintenanceState, type Recurrence, recurrenceOf, tooOften } from "./schema.ts";

/** When a window holds: from `startsAt` to `endsAt`, and again as its rule says. */
export type Times = { startsAt: string; endsAt: string; timeZone: string; rrule: string | null };

/** One time at which a window holds, in Unix milliseconds; its end is not part of it. */
export type Occurrence = { start: number; end: number };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const maxLengthMs = 31 * dayMs;
/** What lies further ahead does not occur: 29 February on a given weekday comes every 28 years, around 2100 every 40. */
const horizonMs = 50 * 365.25 * dayMs;
/** A stretch without occurrences that took so long to walk through is remembered. */
const longGapMs = 100 * dayMs;
const seriesKept = 10_000;
/** Days looked at and times made in one walk: all days of the horizon, and as many times again. */
const maxWork = 40_000;
/** Occurrences looked at to find out whether they are too close. */
const sample = 400;
/** Times of a period that BYSETPOS may choose among: they are all made to choose one. */
const maxChoices = 1_000;
const daysIn = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7, DAILY: 1, HOURLY: 1 };
/** Local clocks were never set further than this. */
const largestShiftMs = dayMs;

/** Why these times can't be, and which field is wrong; null when they can. */
export function validateTimes(times: Times): { path: string; message: string } | null {
  const lengthMs = lengthOf(times);
  if (lengthMs <= 0) return { path: "endsAt", message: "must be after startsAt" };
  if (lengthMs > maxLengthMs)
    return { path: "endsAt", message: "must be at most 31 days after startsAt" };
  const message = validateRecurrence(times, lengthMs);
  return message === null ? null : { path: "rrule", message };
}

function validateRecurrence(times: Times, lengthMs: number): string | null {
  if (times.rrule === null) return null;
  const read = recurrenceOf(times.rrule);
  if (typeof read === "string") return read;
  // Minutes of one hour are too close, unless BYSETPOS chooses among them.
  if (read.minutes.length > 1 && read.positions.length === 0) return tooOften;
  const perPeriod =
    daysIn[read.frequency] * Math.max(read.hours.length, 1) * Math.max(read.minutes.length, 1);
  if (read.positions.length > 0 && perPeriod > maxChoices)
    return `must have BYSETPOS choose among at most ${maxChoices} times of a period: days × BYHOUR × BYMINUTE`;
  const series = seriesOf(times);
  const locals = localTimes(series, series.start).take(sample).toArray();
  if (series.isTooLong)
    return "must be simpler: finding its times takes too long (see BYSETPOS, COUNT and the lists beside them)";
  if (locals.length === 0) return "must name times that come, after startsAt and within 50 years";
  const gaps = locals.slice(1).map((local, index) => local - (locals[index] ?? 0));
  if (gaps.some((gap) => gap < hourMs)) return tooOften;
  if (gaps.some((gap) => gap < lengthMs)) return "must not repeat before endsAt";
  return null;
}

/** Exact length, or by local clocks where that is whole days. */
function lengthOf(times: Times): number {
  return wholeDaysOf(times) ?? Date.parse(times.endsAt) - Date.parse(times.startsAt);
}

/** Length by local clocks; null unless it is whole days. */
function wholeDaysOf({ startsAt, endsAt, timeZone }: Times): number | null {
  const localMs = toLocal(Date.parse(endsAt), timeZone) - toLocal(Date.parse(startsAt), timeZone);
  return localMs > 0 && localMs % dayMs === 0 ? localMs : null;
}

/** Whole days end at the same local time (RFC 5545 §3.3.6: a nominal duration); other lengths are exact. */
function endOf(times: Times, start: number, days: number | null): number {
  const [first, end] = [Date.parse(times.startsAt), Date.parse(times.endsAt)];
  if (start === first) return end;
  if (days === null) return start + end - first;
  return toInstant(toLocal(start, times.timeZone) + days, times.timeZone);
}

/** What a window is at this moment, its occurrence under way and the one after that. */
export function situationAt(
  times: Times,
  now: number,
): { state: MaintenanceState; current: Occurrence | null; next: Occurrence | null } {
  let current: Occurrence | null = null;
  for (const occurrence of occurrencesFrom(times, now)) {
    if (occurrence.start <= now) current = occurrence;
    else return { state: current ? "running" : "scheduled", current, next: occurrence };
  }
  return { state: current ? "running" : "over", current, next: null };
}

/** The occurrences of a window that touch the span from `from` to before `to`, oldest first, at most `limit`. */
export function occurrencesBetween(times: Times, from: number, to: number, limit: number) {
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesFrom(times, from, to)) {
    if (occurrence.start >= to || found.length >= limit) break;
    found.push(occurrence);
  }
  return found;
}

/**
 * The occurrences that end after `from`, in order, at least those that start before `to`. Each lasts as long
 * as the first (RFC 5545 §3.8.2.2), but not into the next. Local times that a change of clocks skips or
 * repeats are read as §3.3.5 says: with the offset before it, and as the first of the two.
 */
function* occurrencesFrom(times: Times, from: number, to = Infinity): Generator<Occurrence> {
  const days = wholeDaysOf(times);
  const reachMs = lengthOf(times) + largestShiftMs;
  let start: number | null = null;
  for (const next of startsFrom(times, from - reachMs, to + reachMs)) {
    if (start !== null && next <= start) continue;
    if (start !== null) {
      const end = Math.min(endOf(times, start, days), next);
      if (end > from) yield { start, end };
    }
    start = next;
  }
  if (start === null) return;
  const end = endOf(times, start, days);
  if (end > from) yield { start, end };
}

function* startsFrom(times: Times, from: number, to: number): Generator<number> {
  const first = Date.parse(times.startsAt);
  if (times.rrule === null) {
    yield first;
    return;
  }
  const series = seriesOf(times);
  const earliest = Math.max(toLocal(from, times.timeZone) - largestShiftMs, series.start);
  const latest = to === Infinity ? to : toLocal(to, times.timeZone) + largestShiftMs;
  for (const local of localTimes(series, earliest, latest))
    yield local === series.start ? first : toInstant(local, times.timeZone);
}

/** A rule with where it begins, also as a day, and ends, in local milliseconds. */
type Series = {
  rule: Recurrence;
  start: number;
  origin: Day;
  until: number;
  gaps: Gap[];
  isTooLong: boolean;
};

/** Nothing occurs from `from` to before `to`. */
type Gap = { from: number; to: number };

const known = new Map<string, Series>();

/** What was found out about a rule holds for ever: neither its end nor a long gap is looked for twice. */
function seriesOf(times: Times): Series {
  const key = `${times.startsAt} ${times.timeZone} ${times.rrule}`;
  const series = known.get(key) ?? newSeries(times);
  // Those asked for last are the last to go.
  known.delete(key);
  known.set(key, series);
  for (const oldest of known.keys()) {
    if (known.size <= seriesKept) break;
    known.delete(oldest);
  }
  return series;
}

function newSeries({ startsAt, timeZone, rrule }: Times): Series {
  const read = recurrenceOf(rrule ?? "");
  if (typeof read === "string") throw new Error(`A stored rule can't be read: it ${read}.`);
  const start = toLocal(Date.parse(startsAt), timeZone);
  const { until, count } = read;
  const origin = dayOf(Math.floor(start / dayMs));
  const rule = completed(read, start, origin);
  const series: Series = { rule, start, origin, until: Infinity, gaps: [], isTooLong: false };
  if (until !== null) series.until = until.isUtc ? toLocal(until.at, timeZone) : until.at;
  // Fewer are those of the next 50 years: its end is not in sight.
  if (count !== null)
    series.until =
      localTimes(series, start)
        .drop(count - 1)
        .next().value ?? Infinity;
  return series;
}

/** What the rule leaves open, it takes from its beginning. */
function completed(rule: Recurrence, start: number, day: Day): Recurrence {
  const { frequency, weeks, yearDays, monthDays, weekdays } = rule;
  const hasDays = [yearDays, monthDays, weekdays].some(({ length }) => length > 0);
  const whole = { ...rule };
  whole.minutes = rule.minutes.toSorted((a, b) => a - b);
  if (rule.minutes.length === 0) whole.minutes = [Math.floor((start % hourMs) / 60_000)];
  if (rule.hours.length === 0 && frequency !== "HOURLY")
    whole.hours = [Math.floor((start % dayMs) / hourMs)];
  whole.hours = whole.hours.toSorted((a, b) => a - b);
  if (hasDays || frequency === "DAILY" || frequency === "HOURLY") return whole;
  if (frequency === "WEEKLY" || weeks.length > 0) whole.weekdays = [{ day: day.weekday, nth: 0 }];
  else whole.monthDays = [day.date];
  if (frequency === "YEARLY" && weeks.length === 0 && rule.months.length === 0)
    whole.months = [day.month];
  return whole;
}

/** The local times of a series from `from` to `to`, in order; periods before it are stepped over, not walked through. */
function* localTimes(series: Series, from: number, to = Infinity): Generator<number> {
  const { rule, start, origin, until } = series;
  const end = Math.min(until, from + horizonMs, to);
  let emptySince = Math.max(from, start);
  let next = emptySince;
  const work = { left: maxWork };
  for (let index = firstPeriod(rule, origin, next); ; index++) {
    const gap = series.gaps.find((gap) => gap.from <= next && next < gap.to);
    if (gap !== undefined) {
      next = gap.to;
      index = Math.max(index, firstPeriod(rule, origin, next));
    }
    const [first, behind] = daysOfPeriod(rule, origin, index);
    if (next > end || first * dayMs > end) break;
    for (const time of timesIn(rule, start, first, behind, next, work)) {
      if (time > end) break;
      if (time < next) continue;
      remember(series, { from: emptySince, to: time });
      yield time;
      emptySince = time + 1;
    }
    if (work.left < 0) {
      series.isTooLong = true;
      remember(series, { from: emptySince, to: next });
      return;
    }
    next = Math.max(next, emptySince, behind * dayMs);
  }
  remember(series, { from: emptySince, to: end });
}

function remember(series: Series, { from, to }: Gap) {
  if (to - from < longGapMs) return;
  const touches = (gap: Gap) => gap.from <= to && from <= gap.to;
  const touching = [{ from, to }, ...series.gaps.filter(touches)];
  series.gaps = series.gaps.filter((gap) => !touches(gap));
  series.gaps.push({
    from: Math.min(...touching.map((gap) => gap.from)),
    to: Math.max(...touching.map((gap) => gap.to)),
  });
  if (series.gaps.length > 8) series.gaps.shift();
}

/** The number of the period of the rule in which `at` lies, counted from the one in which the rule begins. */
function firstPeriod({ frequency, interval, weekStart }: Recurrence, one: Day, at: number) {
  const other = dayOf(Math.floor(at / dayMs));
  const [years, days] = [other.year - one.year, other.number - one.number];
  const passed = {
    YEARLY: years,
    MONTHLY: years * 12 + other.month - one.month,
    WEEKLY: (days + modulo(one.weekday - weekStart, 7)) / 7,
    DAILY: days,
    HOURLY: days,
  }[frequency];
  return Math.max(0, Math.floor(passed / (frequency === "HOURLY" ? 1 : interval)));
}

/** The first day of a period and the one behind its last. Hours are counted within days. */
function daysOfPeriod(
  { frequency, interval, weekStart }: Recurrence,
  { number, year, month, weekday }: Day,
  index: number,
): [number, number] {
  const step = index * interval;
  switch (frequency) {
    case "YEARLY":
      return [dayNumber(year + step, 0), dayNumber(year + step + 1, 0)];
    case "MONTHLY":
      return [dayNumber(year, month - 1 + step), dayNumber(year, month + step)];
    case "WEEKLY": {
      const first = number - modulo(weekday - weekStart, 7) + step * 7;
      return [first, first + 7];
    }
    case "DAILY":
      return [number + step, number + step + 1];
    case "HOURLY":
      return [number + index, number + index + 1];
  }
}

/** The times of a period in order; without positions to choose by, those of days before `from` are left out. */
function* timesIn(
  rule: Recurrence,
  start: number,
  first: number,
  behind: number,
  from: number,
  work: { left: number },
): Generator<number> {
  if (rule.positions.length === 0) {
    yield* timesOn(rule, start, Math.max(first, Math.floor(from / dayMs)), behind, work);
    return;
  }
  const times = timesOn(rule, start, first, behind, work).toArray();
  const places = rule.positions.map((place) => (place > 0 ? place - 1 : times.length + place));
  yield* times.filter((_, index) => places.includes(index));
}

function* timesOn(
  rule: Recurrence,
  start: number,
  first: number,
  behind: number,
  work: { left: number },
) {
  const rest = start % 60_000;
  for (let number = first; number < behind; number++) {
    if (work.left-- < 0) return;
    if (!isOn(rule, dayOf(number))) continue;
    for (const hour of hoursOn(rule, start, number)) {
      work.left -= rule.minutes.length;
      for (const minute of rule.minutes)
        yield number * dayMs + hour * hourMs + minute * 60_000 + rest;
    }
  }
}

const everyHour = Array.from({ length: 24 }, (_, hour) => hour);

function hoursOn({ frequency, interval, hours }: Recurrence, start: number, day: number) {
  if (frequency !== "HOURLY") return hours;
  const before = day * 24 - Math.floor(start / hourMs);
  return (hours.length > 0 ? hours : everyHour).filter((hour) => (before + hour) % interval === 0);
}

type Day = {
  /** Days since 1 January 1970. */
  number: number;
  year: number;
  /** From 1 to 12. */
  month: number;
  date: number;
  /** From Monday as 0. */
  weekday: number;
};

function dayOf(number: number): Day {
  const date = new Date(number * dayMs);
  return {
    number,
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    date: date.getUTCDate(),
    weekday: modulo(number + 3, 7),
  };
}

/** Of the first day of a month, whose index may run beyond its year. */
function dayNumber(year: number, monthIndex: number): number {
  return Date.UTC(year, monthIndex) / dayMs;
}

function isOn(rule: Recurrence, day: Day): boolean {
  const { months, weeks, yearDays, monthDays, weekdays } = rule;
  const { year, month } = day;
  if (months.length > 0 && !months.includes(month)) return false;
  if (
    monthDays.length > 0 &&
    !isAmong(monthDays, day, dayNumber(year, month - 1), dayNumber(year, month))
  )
    return false;
  if (yearDays.length > 0 && !isAmong(yearDays, day, dayNumber(year, 0), dayNumber(year + 1, 0)))
    return false;
  if (weekdays.length > 0 && !weekdays.some((one) => isWeekday(rule, one, day))) return false;
  return weeks.length === 0 || isInWeek(weeks, rule.weekStart, day);
}

/** Whether the day is one of these places in the span, counted from 1 or, negative, from its end. */
function isAmong(places: readonly number[], { number }: Day, first: number, behind: number) {
  return places.includes(number - first + 1) || places.includes(number - behind);
}

function isWeekday(
  { frequency, months }: Recurrence,
  { day, nth }: Recurrence["weekdays"][number],
  { number, year, month, weekday }: Day,
): boolean {
  if (day !== weekday || nth === 0) return day === weekday;
  const inMonth = frequency === "MONTHLY" || months.length > 0;
  const first = inMonth ? dayNumber(year, month - 1) : dayNumber(year, 0);
  const behind = inMonth ? dayNumber(year, month) : dayNumber(year + 1, 0);
  const place = Math.floor((number - first) / 7) + 1;
  return nth > 0 ? place === nth : -Math.ceil((behind - number) / 7) === nth;
}

/** A week belongs to the year that has at least four of its days. */
function isInWeek(weeks: readonly number[], weekStart: number, { number, weekday }: Day) {
  const fourth = number - modulo(weekday - weekStart, 7) + 3;
  const { year } = dayOf(fourth);
  const left = Math.floor((dayNumber(year + 1, 0) - 1 - fourth) / 7);
  const place = Math.floor((fourth - dayNumber(year, 0)) / 7) + 1;
  return weeks.includes(place) || weeks.includes(-left - 1);
}

function modulo(number: number, by: number): number {
  return ((number % by) + by) % by;
}
