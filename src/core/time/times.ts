/** Formats times and periods in a time zone. */
import { getLocale } from "../text/locale.ts";
import { t } from "../text/texts.ts";
import { dayMs, minuteMs } from "./clock.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** Clock of formatted times: 24 hours, or 12 hours with am and pm. */
export type HourCycle = "h23" | "h12";

let hourCycle: HourCycle = "h23";

/** Sets the clock of all times. For the admin page alone, which has one reader; the server always uses 24 hours. */
export const setHourCycle = (chosen: HourCycle) => void (hourCycle = chosen);

/** Returns a formatter by time zone, format and locale. Cached, because creating one is slow. */
export function getFormatter(
  timeZone: string,
  options: Intl.DateTimeFormatOptions,
  locale = getLocale(),
): Intl.DateTimeFormat {
  const key = timeZone + hourCycle + locale + JSON.stringify(options);
  const clock = hourCycle === "h12" && options.hour ? ({ hour: "numeric" } as const) : {};
  const known =
    formats.get(key) ??
    new Intl.DateTimeFormat(locale, { timeZone, hourCycle, ...options, ...clock });
  formats.set(key, known);
  return known;
}

export const minuteFormat = { hour: "2-digit", minute: "2-digit" } as const;
const secondFormat = { ...minuteFormat, second: "2-digit" } as const;
const dayFormat = { day: "numeric", month: "short" } as const;
const wholeDayFormat = { ...dayFormat, year: "numeric" } as const;

/** Formats a day such as `12 Sept`, with the year if it is not the current one. */
export function formatDay(timeZone: string, at: number, now: number, locale = getLocale()): string {
  const year = getFormatter(timeZone, { year: "numeric" });
  const isThisYear = year.format(at) === year.format(now);
  return getFormatter(timeZone, isThisYear ? dayFormat : wholeDayFormat, locale).format(at);
}

export function isSameDay(timeZone: string, one: number, other: number): boolean {
  const day = getFormatter(timeZone, wholeDayFormat);
  return day.format(one) === day.format(other);
}

/** Formats a time as `14:31` today, `12 Sept 14:31` this year, or `12 Sept 2025 14:31` for another year. */
export function formatDateTime(timeZone: string, at: number, now: number, seconds = false): string {
  const clock = getFormatter(timeZone, seconds ? secondFormat : minuteFormat).format(at);
  return isSameDay(timeZone, at, now) ? clock : `${formatDay(timeZone, at, now)} ${clock}`;
}

/** Formats a period such as `Today 12:00–13:00`, `12 Nov 12:00:00–12:00:30` or `Thu 12 Nov`. */
export function formatPeriod(timeZone: string, from: number, to: number, now: number): string {
  if (to - from >= dayMs) {
    const first = `${getFormatter(timeZone, { weekday: "short" }).format(from)} ${formatDay(timeZone, from, now)}`;
    return to - from > dayMs ? `${first} – ${formatDay(timeZone, to - 1, now)}` : first;
  }
  const isInMinutes = from % minuteMs === 0 && to % minuteMs === 0;
  const clock = getFormatter(timeZone, isInMinutes ? minuteFormat : secondFormat);
  const day = isSameDay(timeZone, from, now) ? t("Today") : formatDay(timeZone, from, now);
  return `${day} ${clock.format(from)}–${clock.format(to)}`;
}

/** Formats a start as `since 05:09` today, or `since 12 Sept` on another day. */
export function formatSince(timeZone: string, at: number, now: number): string {
  const isToday = isSameDay(timeZone, at, now);
  const time = isToday ? formatDateTime(timeZone, at, now) : formatDay(timeZone, at, now);
  return t("since {time}", { time });
}

/** Formats end times as ` until 16:00`, or as `, the first until 16:00` if they differ; empty for none. */
export function formatUntil(timeZone: string, endTimes: readonly number[], now: number): string {
  if (endTimes.length === 0) return "";
  const first = Math.min(...endTimes);
  const time = formatDateTime(timeZone, first, now);
  const isOne = endTimes.every((end) => end === first);
  return isOne ? ` ${t("until {time}", { time })}` : t(", the first until {time}", { time });
}

/** Formats a period such as `Sun 29 Nov 02:00–04:00 CET`. Names both days if they differ. */
export function formatTimeSpan(
  timeZone: string,
  from: number,
  to: number,
  now: number,
  locale = getLocale(),
): string {
  const clock = getFormatter(timeZone, minuteFormat, locale);
  const formatWeekday = (at: number) => formatDayOfWeek(timeZone, at, now, locale);
  const zone = getFormatter(timeZone, { timeZoneName: "short" }, locale)
    .formatToParts(to)
    .find(({ type }) => type === "timeZoneName")?.value;
  // A period until midnight ends on the previous day.
  const isOneDay = isSameDay(timeZone, from, to - 1);
  const end = isOneDay ? `–${clock.format(to)}` : ` – ${formatWeekday(to)} ${clock.format(to)}`;
  return `${formatWeekday(from)} ${clock.format(from)}${end} ${zone}`;
}

/** Formats a day with its weekday, such as `Sun 29 Nov`. In English without the comma of CLDR. */
function formatDayOfWeek(timeZone: string, at: number, now: number, locale: string): string {
  const year = getFormatter(timeZone, { year: "numeric" });
  const isThisYear = year.format(at) === year.format(now);
  const format = { weekday: "short", ...(isThisYear ? dayFormat : wholeDayFormat) } as const;
  const text = getFormatter(timeZone, format, locale).format(at);
  return locale === "en-GB" ? text.replace(",", "") : text;
}
