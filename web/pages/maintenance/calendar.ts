/** Days and weeks of the maintenance calendar, and the occurrences on each day. */
import { addMonths, dayMs } from "../../../src/core/time/clock.ts";
import { getDay } from "../../../src/core/time/time-zones.ts";

/** A day of the local calendar: days since 1 January 1970. */
export type DayNumber = number;

export const toDate = (day: DayNumber): Date => new Date(day * dayMs);

/** Month of a day, such as `2026-11`. */
export const formatMonth = (day: DayNumber): string => toDate(day).toISOString().slice(0, 7);

/** Weeks that contain the month, each from Monday to Sunday. */
export function listWeeks(month: string): DayNumber[][] {
  const first = Date.parse(`${month}-01T00:00:00Z`) / dayMs;
  const behind = Date.parse(`${addMonths(month, 1)}-01T00:00:00Z`) / dayMs;
  const weeks: DayNumber[][] = [];
  // 1 January 1970 was a Thursday.
  for (let monday = first - ((first + 3) % 7); monday < behind; monday += 7)
    weeks.push(Array.from({ length: 7 }, (_, index) => monday + index));
  return weeks;
}

/** An occurrence on one of its days. */
export type Entry = PlannedWindow & { start: number; end: number; isFirstDay: boolean };
type PlannedWindow = { id: string; title: string };
type PlannedTimes = PlannedWindow & {
  occurrences: readonly { startsAt: string; endsAt: string }[];
};

/** Groups occurrences by day from `first` to `last`, in order. */
export function groupEntriesByDay(
  windows: readonly PlannedTimes[],
  first: DayNumber,
  last: DayNumber,
  zone: string,
): Map<DayNumber, Entry[]> {
  const entries = new Map<DayNumber, Entry[]>();
  const all = windows
    .flatMap(({ id, title, occurrences }) =>
      occurrences.map(({ startsAt, endsAt }) => {
        return { id, title, start: Date.parse(startsAt), end: Date.parse(endsAt) };
      }),
    )
    .sort((one, other) => one.start - other.start);
  for (const one of all) {
    const firstDay = getDay(one.start, zone);
    // The end is exclusive: an occurrence until midnight is not on the next day.
    const lastDay = Math.min(last, getDay(one.end - 1, zone));
    for (let day = Math.max(first, firstDay); day <= lastDay; day++) {
      const entry = { ...one, isFirstDay: day === firstDay };
      entries.set(day, [...(entries.get(day) ?? []), entry]);
    }
  }
  return entries;
}
