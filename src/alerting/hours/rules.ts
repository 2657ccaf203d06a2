/** Computes times of the week in a time zone: when they start and end, and whether they include a time. */
import { t } from "../../core/text/texts.ts";
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { type ScheduleHours, type Weekday, weekdays } from "./schema.ts";

/** Start (inclusive) and end (exclusive), in Unix milliseconds. */
export type Span = { start: number; end: number };

/** Length of a week in minutes. */
const weekMinutes = 7 * 1440;

/** Whether times of the week leave no other time. */
export function coversWeek(hours: readonly ScheduleHours[]): boolean {
  const covered = new Uint8Array(weekMinutes);
  for (const { days, from, until } of hours) {
    const start = parseClock(from) / minuteMs;
    const end = parseClock(until) / minuteMs + (until > from ? 0 : 1440);
    for (const day of days)
      for (let minute = start; minute < end; minute++)
        covered[(weekdays.indexOf(day) * 1440 + minute) % weekMinutes] = 1;
  }
  return covered.every((one) => one === 1);
}

/** Returns when times of the week that include `at` start and end; null if they don't include it. */
export function findHours(
  hours: readonly ScheduleHours[],
  timeZone: string,
  at: number,
): Span | null {
  const end = findHoursEnd(hours, timeZone, at);
  const all = end === null ? [] : listWindows(hours, timeZone, at - 14 * dayMs, at + 1);
  const last = all.at(-1);
  return end === null || last === undefined ? null : { start: last.start, end };
}

/** Returns when times of the week that include `at` end, in Unix milliseconds; null if they don't include it. */
export function findHoursEnd(
  hours: readonly ScheduleHours[],
  timeZone: string,
  at: number,
): number | null {
  const includesNow = ({ start, end }: Span) => start <= at && at < end;
  const currentWindow = listWindows(hours, timeZone, at, at + 1).find(includesNow);
  if (currentWindow === undefined) return null;
  // Adjacent times are one. Two weeks, because a clock change can skip the time between them once.
  const all = listWindows(hours, timeZone, at, at + 14 * dayMs);
  return all.find(includesNow)?.end ?? currentWindow.end;
}

/** Whether times of the week include `at`. No times are always. */
export function isWithinHours(hours: readonly ScheduleHours[], timeZone: string, at: number) {
  if (hours.length === 0) return true;
  if (!isClockSteady(timeZone, at)) return listWindows(hours, timeZone, at, at + 1).length > 0;
  const local = toLocal(at, timeZone);
  const today = Math.floor(local / dayMs);
  return [today - 1, today].some((day) => {
    const clock = local - day * dayMs;
    const weekday = findWeekday(day);
    return hours.some(({ days, from, until }) => {
      const end = parseClock(until) + (until > from ? 0 : dayMs);
      return days.includes(weekday) && parseClock(from) <= clock && clock < end;
    });
  });
}

/** Whether the clock does not change within a day before or after `at`. */
function isClockSteady(timeZone: string, at: number): boolean {
  const day = Math.floor(at / dayMs);
  const [first, ...others] = [day - 1, day, day + 1].map((one) => findUtcDayOffset(timeZone, one));
  return first !== null && others.every((offset) => offset === first);
}

// `getUTCDay()` starts with Sunday, which is last here.
const findWeekday = (day: number) => weekdays.at(new Date(day * dayMs).getUTCDay() - 1) as Weekday;

/** Lists the times of the week that overlap a span, sorted and without overlaps. */
export function listWindows(
  hours: readonly ScheduleHours[],
  timeZone: string,
  from: number,
  until: number,
): Span[] {
  const windows: Span[] = [];
  // Two days earlier, for hours that end on the next day, and for zones that skipped a day.
  const firstDay = Math.floor(toLocal(from, timeZone) / dayMs) - 2;
  const lastDay = Math.floor(toLocal(until, timeZone) / dayMs);
  for (let day = firstDay; day <= lastDay; day++) {
    const weekday = findWeekday(day);
    for (const { days, ...clock } of hours) {
      if (!days.includes(weekday)) continue;
      const endDay = clock.until > clock.from ? day : day + 1;
      const start = toInstant(day * dayMs + parseClock(clock.from), timeZone);
      const end = toInstant(endDay * dayMs + parseClock(clock.until), timeZone);
      if (start < until && end > from && start < end) windows.push({ start, end });
    }
  }
  return windows.toSorted((one, other) => one.start - other.start).reduce(appendJoined, []);
}

/** Appends a span, or extends the last one if they touch. */
function appendJoined(spans: Span[], span: Span): Span[] {
  const last = spans.at(-1);
  if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
  else spans.push(span);
  return spans;
}

/** Milliseconds since midnight of a time such as `09:30`. */
const parseClock = (text: string) =>
  (Number(text.slice(0, 2)) * 60 + Number(text.slice(3))) * minuteMs;

// These two are many times as fast as `core/time/time-zones.ts`, which browsers without Temporal need.

/** Offsets in milliseconds by zone and day; null for days on which the clock changes. */
type Offsets = Map<string, Map<number, number | null>>;

const offsetsByDay: Offsets = new Map();
const offsetsByLocalDay: Offsets = new Map();
const maxZones = 50;
const maxDays = 1_000;

/** Returns the offset of a whole day from a cache, because a schedule has hundreds of times on each day. */
function findDayOffset(
  offsets: Offsets,
  timeZone: string,
  day: number,
  computeOffset: () => number | null,
): number | null {
  let days = offsets.get(timeZone);
  if (days === undefined) {
    if (offsets.size >= maxZones) offsets.clear();
    offsets.set(timeZone, (days = new Map()));
  }
  const known = days.get(day);
  if (known !== undefined) return known;
  if (days.size >= maxDays) days.clear();
  const offset = computeOffset();
  days.set(day, offset);
  return offset;
}

/** Returns the local time of an instant, in milliseconds that look like UTC. */
export function toLocal(at: number, timeZone: string): number {
  return at + (findUtcDayOffset(timeZone, Math.floor(at / dayMs)) ?? computeOffset(at, timeZone));
}

const findUtcDayOffset = (timeZone: string, day: number) =>
  findDayOffset(offsetsByDay, timeZone, day, () => {
    const first = computeOffset(day * dayMs, timeZone);
    return first === computeOffset((day + 1) * dayMs, timeZone) ? first : null;
  });

const computeOffset = (at: number, timeZone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6;

/** Ambiguous times take the first offset; skipped times use the offset before the gap. */
export function toInstant(local: number, timeZone: string): number {
  const day = Math.floor(local / dayMs);
  const offset = findDayOffset(offsetsByLocalDay, timeZone, day, () => {
    const start = computeInstant(day * dayMs, timeZone);
    const isWhole = computeInstant((day + 1) * dayMs, timeZone) - start === dayMs;
    return isWhole ? day * dayMs - start : null;
  });
  return offset === null ? computeInstant(local, timeZone) : local - offset;
}

const computeInstant = (local: number, timeZone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(local)
    .toZonedDateTimeISO("UTC")
    .toPlainDateTime()
    .toZonedDateTime(timeZone).epochMilliseconds;

/** Describes times of the week, such as `Mon, Tue 22:00–07:00 and daily 12:00–13:00`. */
export const formatHours = (hours: readonly ScheduleHours[]): string =>
  hours.map(({ days, from, until }) => `${formatDays(days)} ${from}–${until}`).join(t(" and "));

const formatDays = (days: readonly Weekday[]) =>
  days.length === 7 ? t("daily") : days.map((day) => shortDays[day]).join(", ");

const shortDays: Record<Weekday, string> = {
  monday: t("Mon"),
  tuesday: t("Tue"),
  wednesday: t("Wed"),
  thursday: t("Thu"),
  friday: t("Fri"),
  saturday: t("Sat"),
  sunday: t("Sun"),
};
