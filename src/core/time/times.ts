/** Formats times and periods in a time zone. */
import { dayMs } from "./clock.ts";

const minuteMs = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a formatter by time zone and format. Cached, because creating one is slow. */
export function formatIn(
  timeZone: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = timeZone + JSON.stringify(options);
  const known =
    formats.get(key) ??
    new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", ...options });
  formats.set(key, known);
  return known;
}

export const minuteFormat = { hour: "2-digit", minute: "2-digit" } as const;
const secondFormat = { ...minuteFormat, second: "2-digit" } as const;
const dayFormat = { day: "numeric", month: "short" } as const;
const wholeDayFormat = { ...dayFormat, year: "numeric" } as const;

/** Formats a day such as `12 Sept`, with the year if it is not the current one. */
export function dayIn(timeZone: string, at: number, now: number): string {
  const year = formatIn(timeZone, { year: "numeric" });
  const isThisYear = year.format(at) === year.format(now);
  return formatIn(timeZone, isThisYear ? dayFormat : wholeDayFormat).format(at);
}

export function isSameDayIn(timeZone: string, one: number, other: number): boolean {
  const day = formatIn(timeZone, wholeDayFormat);
  return day.format(one) === day.format(other);
}

/** Formats a time as `14:31` today, `12 Sept 14:31` this year, or `12 Sept 2025 14:31` for another year. */
export function momentIn(timeZone: string, at: number, now: number, seconds = false): string {
  const clock = formatIn(timeZone, seconds ? secondFormat : minuteFormat).format(at);
  return isSameDayIn(timeZone, at, now) ? clock : `${dayIn(timeZone, at, now)} ${clock}`;
}

/** Formats a period such as `Today 12:00–13:00`, `12 Nov 12:00:00–12:00:30` or `Thu 12 Nov`. */
export function periodIn(timeZone: string, from: number, to: number, now: number): string {
  if (to - from >= dayMs) {
    const first = `${formatIn(timeZone, { weekday: "short" }).format(from)} ${dayIn(timeZone, from, now)}`;
    return to - from > dayMs ? `${first} – ${dayIn(timeZone, to - 1, now)}` : first;
  }
  const isInMinutes = from % minuteMs === 0 && to % minuteMs === 0;
  const clock = formatIn(timeZone, isInMinutes ? minuteFormat : secondFormat);
  const day = isSameDayIn(timeZone, from, now) ? "Today" : dayIn(timeZone, from, now);
  return `${day} ${clock.format(from)}–${clock.format(to)}`;
}

/** Formats a start as `since 05:09` today, or `since 12 Sept` on another day. */
export function sinceIn(timeZone: string, at: number, now: number): string {
  const isToday = isSameDayIn(timeZone, at, now);
  return `since ${isToday ? momentIn(timeZone, at, now) : dayIn(timeZone, at, now)}`;
}

/** Formats end times as ` until 16:00`, or as `, the first until 16:00` if they differ; empty for none. */
export function endsIn(timeZone: string, ends: readonly number[], now: number): string {
  if (ends.length === 0) return "";
  const first = Math.min(...ends);
  const until = ` until ${momentIn(timeZone, first, now)}`;
  return ends.every((end) => end === first) ? until : `, the first${until}`;
}

/** Formats a period such as `Sun 29 Nov 02:00–04:00 CET`. Names both days if they differ. */
export function spanIn(timeZone: string, from: number, to: number, now: number): string {
  const clock = formatIn(timeZone, minuteFormat);
  const day = (at: number) =>
    `${formatIn(timeZone, { weekday: "short" }).format(at)} ${dayIn(timeZone, at, now)}`;
  const zone = formatIn(timeZone, { timeZoneName: "short" })
    .formatToParts(to)
    .find(({ type }) => type === "timeZoneName")?.value;
  // A period until midnight ends on the previous day.
  const isOneDay = isSameDayIn(timeZone, from, to - 1);
  const end = isOneDay ? `–${clock.format(to)}` : ` – ${day(to)} ${clock.format(to)}`;
  return `${day(from)} ${clock.format(from)}${end} ${zone}`;
}
