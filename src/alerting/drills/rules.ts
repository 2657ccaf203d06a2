/** Decides when the monthly drill of a policy or person starts. */
import { sha256 } from "../../core/ids.ts";
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { weekdays } from "../hours/schema.ts";
import type { MonthlyDrill } from "./schema.ts";

type Span = { start: number; end: number };

/**
 * Returns the hours of the drill in the month of a local time, in Unix milliseconds. Hours that a clock change skips are
 * that much later.
 */
function findHours({ day, from, until, timeZone }: MonthlyDrill, local: number, months = 0): Span {
  const date = new Date(local);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
  // `getUTCDay()` starts with Sunday, `weekdays` with Monday.
  const firstWeekday = (new Date(first).getUTCDay() + 6) % 7;
  const days = typeof day === "number" ? day - 1 : (weekdays.indexOf(day) - firstWeekday + 7) % 7;
  const localStart = first + days * dayMs + parseClock(from);
  const start = toInstant(localStart, timeZone);
  const end = toInstant(localStart + parseClock(until) - parseClock(from), timeZone);
  return { start, end: end > start ? end : start + parseClock(until) - parseClock(from) };
}

const parseClock = (clock: string) => Date.parse(`1970-01-01T${clock}Z`);

/** Whether a monthly drill may start at `now`, in Unix milliseconds. */
export function isWithinDrillHours(drill: MonthlyDrill, now: number): boolean {
  const { start, end } = findHours(drill, toLocal(now, drill.timeZone));
  return start <= now && now < end;
}

/**
 * Returns the next time after `now` at which a policy or person is drilled, in Unix milliseconds. The minute within the hours
 * differs from month to month and from subject to subject, but not from call to call: an edit never causes a second drill.
 */
export function findDrillTime(subjectId: string, drill: MonthlyDrill, now: number): number {
  for (let months = 0; ; months++) {
    const { start, end } = findHours(drill, toLocal(now, drill.timeZone), months);
    const minutes = Math.floor((end - start) / minuteMs);
    const random = Number.parseInt(sha256(`${subjectId} ${start}`).slice(0, 12), 16);
    const at = start + (minutes < 1 ? 0 : random % minutes) * minuteMs;
    if (at > now) return at;
  }
}
