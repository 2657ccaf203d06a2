/** Converts daily or weekly maintenance of Gatus to a maintenance window. */
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { isTimeZone } from "../../core/fields.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { findTimesIssue } from "../../monitoring/maintenance/rules.ts";
import type { Section } from "./section.ts";

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const minuteSeconds = 60;

type Window = {
  fields: Fields;
  /** Identity of the window, independent of the day of the import. */
  basis: string;
  notes: string[];
};

/** Returns a window that starts at its next occurrence from today, or the reason why there is none. */
export function buildMaintenance(section: Section, now: number): Window | { reason: string } {
  const start = section.text("start");
  const seconds = section.duration("duration");
  const zone = section.text("timezone") || "UTC";
  const every = section.texts("every");
  if (section.flag("enabled") === false) return { reason: "it is switched off" };
  const [, hours, minutes] = /^([01]\d|2[0-3]).([0-5]\d)$/.exec(start) ?? [];
  if (hours === undefined) return { reason: "its start is not a time such as 23:00" };
  if (seconds === null || seconds < minuteSeconds || seconds > 24 * 3_600)
    return { reason: "its duration is not between 1m and 24h" };
  if (!isTimeZone(zone)) return { reason: "its time zone is unknown" };
  const weekdays = every.map((day) => days.indexOf(day));
  if (weekdays.includes(-1))
    return { reason: `its days are not names such as ${days.slice(1, 3).join(" and ")}` };
  const startMinutes = Number(hours) * 60 + Number(minutes);
  const today = Math.floor(toLocal(now, zone) / dayMs) * dayMs;
  const first = Array.from({ length: 7 }, (_, index) => today + index * dayMs).find(
    (day) => weekdays.length === 0 || weekdays.includes(new Date(day).getUTCDay()),
  );
  const startsAt = toInstant((first ?? today) + startMinutes * minuteMs, zone);
  const names = [...new Set(weekdays)]
    .sort((one, other) => one - other)
    .map((day) => days[day]?.slice(0, 2).toUpperCase());
  const times = {
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(startsAt + Math.round(seconds * 1000)).toISOString(),
    timeZone: zone,
    rrule: names.length === 0 ? "FREQ=DAILY" : `FREQ=WEEKLY;BYDAY=${names.join(",")}`,
  };
  const issue = findTimesIssue(times);
  if (issue !== null) return { reason: `its ${issue.path} ${issue.message}` };
  return {
    // Gatus counts checks during maintenance, too, and shows no announcement.
    fields: { ...times, description: "", countsUptime: true, public: false },
    basis: `${times.rrule} ${start} ${seconds} ${zone}`,
    notes: [],
  };
}
