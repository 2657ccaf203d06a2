/** Positions of shifts on the days of the on-call calendar, and the times of its hours. */
import type { Shift } from "../../../src/alerting/schedules/schema.ts";
import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { toInstant, toLocal } from "../../../src/core/time/time-zones.ts";

/** A part of a shift on one day. `left` and `width` are fractions of the day. */
export type Segment = { shift: Shift; left: number; width: number };

export const hoursPerDay = 24;

/** The segments of each day, from the local day `firstDay` on. */
export function listSegments(
  shifts: readonly Shift[],
  firstDay: number,
  dayCount: number,
  zone: string,
): Segment[][] {
  const rows: Segment[][] = Array.from({ length: dayCount }, () => []);
  for (const shift of shifts) {
    const start = toLocal(Date.parse(shift.startsAt), zone) / dayMs - firstDay;
    // An hour that a clock change repeats is shown once.
    const end = Math.max(start, toLocal(Date.parse(shift.endsAt), zone) / dayMs - firstDay);
    for (let day = Math.max(0, Math.floor(start)); day < Math.min(dayCount, end); day++) {
      const left = Math.max(0, start - day);
      const width = Math.min(1, end - day) - left;
      if (width > 0) rows[day]?.push({ shift, left, width });
    }
  }
  return rows;
}

/** Start of an hour of the calendar, counted from the local day `firstDay`, as an instant. */
export const getHourStart = (firstDay: number, hour: number, zone: string): number =>
  toInstant(firstDay * dayMs + hour * hourMs, zone);

/** The shift at an instant. */
export const findShift = (shifts: readonly Shift[], at: number): Shift | undefined =>
  shifts.find(({ startsAt, endsAt }) => Date.parse(startsAt) <= at && at < Date.parse(endsAt));

/** Number of different colors of people. */
const colorCount = 6;

/** Assigns each person a color, in the order of their appearance. */
export function assignColors(personIds: readonly (string | null)[]): Map<string, number> {
  const distinctIds = [...new Set(personIds.filter((id) => id !== null))];
  return new Map(distinctIds.map((id, index) => [id, index % colorCount]));
}
