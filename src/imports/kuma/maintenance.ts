/** Converts maintenance of Uptime Kuma to maintenance windows. */
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { type Times, findTimesIssue } from "../../monitoring/maintenance/rules.ts";
import { toCleanLine, isOn, parseColumn, toNumber, toParagraphs } from "./values.ts";
import { createLookup, type Fields } from "../../core/collections/objects.ts";
import { isTimeZone } from "../../core/fields.ts";
import { toText } from "../values.ts";

const weekdays = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
const maxLengthMs = 31 * dayMs;

type MappedWindow = { fields: Fields; notes: string[] } | { reason: string };

/**
 * Parses a local time such as `2027-03-14T02:00`, or a day, as if it were UTC. Returns null without a
 * date.
 */
function parseWallTime(date: unknown): number | null {
  const [, day, time = "00:00"] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/.exec(toText(date)) ?? [];
  if (day === undefined) return null;
  const at = Date.parse(`${day}T${time}:00Z`);
  return Number.isNaN(at) ? null : at;
}

const parseMinutes = (clock: string) => {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)/.exec(clock) ?? [];
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes);
};

/** Converts a maintenance to a maintenance window, or returns the reason why it can't. */
export function convertWindow(row: Fields, serverZone: string, now: number): MappedWindow {
  const notes: string[] = [];
  const zone = toText(row["timezone"]);
  const timeZone = zone !== "SAME_AS_SERVER" && isTimeZone(zone) ? zone : serverZone;
  const strategy = toText(row["strategy"]);
  const isActive = isOn(row["active"] ?? true);
  if (!isActive)
    return {
      reason:
        strategy === "manual" ? "it is switched off" : "it is paused, and a window here is not",
    };
  const times = convertTimes(row, strategy, timeZone, now, notes);
  if ("reason" in times) return times;
  if (times.rrule === null && Date.parse(times.endsAt) <= now) return { reason: "it is over" };
  const issue = findTimesIssue(times);
  if (issue !== null) return { reason: `its ${issue.path} ${issue.message}` };
  return {
    fields: {
      title: toCleanLine(toText(row["title"]), 255) || "Maintenance",
      description: toParagraphs(toText(row["description"]), 2_000),
      ...times,
      countsUptime: false,
    },
    notes,
  };
}

function convertTimes(
  row: Fields,
  strategy: string,
  timeZone: string,
  now: number,
  notes: string[],
): Times | { reason: string } {
  const formatInstant = (wall: number) => new Date(toInstant(wall, timeZone)).toISOString();
  if (strategy === "manual") {
    notes.push("Ends automatically after 31 days. End it earlier, or schedule it again.");
    const start = Math.floor(now / minuteMs) * minuteMs;
    return {
      startsAt: new Date(start).toISOString(),
      endsAt: new Date(start + maxLengthMs).toISOString(),
      timeZone,
      rrule: null,
    };
  }
  const from = parseWallTime(row["start_date"]);
  const until = parseWallTime(row["end_date"]);
  if (strategy === "single") {
    if (from === null || until === null) return { reason: "it has no start or no end" };
    let [startsAt, endsAt] = [formatInstant(from), formatInstant(until)];
    if (Date.parse(endsAt) - Date.parse(startsAt) > maxLengthMs) {
      // Maintenance in progress starts now; its past part is not imported.
      const start = Math.max(Date.parse(startsAt), Math.min(now, Date.parse(endsAt) - 1));
      startsAt = new Date(start).toISOString();
      endsAt = new Date(Math.min(Date.parse(endsAt), start + maxLengthMs)).toISOString();
      notes.push(`Lasts 31 days at most: it is from ${startsAt} to ${endsAt}.`);
    }
    return { startsAt, endsAt, timeZone, rrule: null };
  }
  const recurring = convertRecurrence(row, strategy);
  if ("reason" in recurring) return recurring;
  const { rule, clocks, lengthMinutes } = recurring;
  const [clock = 0] = clocks;
  // The first occurrence is on or after the first day of the rule.
  const today = Math.floor(toLocal(now, timeZone) / dayMs) * dayMs;
  const first = from === null ? today : Math.floor(from / dayMs) * dayMs;
  const limit = until === null ? "" : `;UNTIL=${formatStamp(toInstant(until, timeZone))}`;
  const rrule = `${rule}${limit}`;
  for (let day = 0; day < 366; day++) {
    const start = first + day * dayMs + clock * minuteMs;
    if (!recurring.isOn(new Date(first + day * dayMs))) continue;
    return {
      startsAt: formatInstant(start),
      endsAt: new Date(toInstant(start, timeZone) + lengthMinutes * minuteMs).toISOString(),
      timeZone,
      rrule,
    };
  }
  return { reason: "it never happens" };
}

const formatStamp = (at: number) => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");

type Recurring = {
  rule: string;
  /** Start times, in minutes of the day. */
  clocks: number[];
  lengthMinutes: number;
  isOn: (day: Date) => boolean;
};

function convertRecurrence(row: Fields, strategy: string): Recurring | { reason: string } {
  if (strategy === "cron") return convertCron(toText(row["cron"]), toNumber(row["duration"]));
  const start = parseMinutes(toText(row["start_time"]));
  const end = parseMinutes(toText(row["end_time"]));
  if (start === null || end === null) return { reason: "it has no times of the day" };
  const lengthMinutes = end > start ? end - start : end - start + 24 * 60;
  const shared = { clocks: [start], lengthMinutes };
  switch (strategy) {
    case "recurring-interval": {
      const interval = Math.max(1, toNumber(row["interval_day"]));
      const rule = interval === 1 ? "FREQ=DAILY" : `FREQ=DAILY;INTERVAL=${interval}`;
      return { ...shared, rule, isOn: () => true };
    }
    case "recurring-weekday": {
      const days = parseNumbers(row["weekdays"]).map((day) => day % 7);
      if (days.length === 0) return { reason: "it names no weekday" };
      const names = days.map((day) => weekdays[day]);
      return {
        ...shared,
        rule: `FREQ=WEEKLY;BYDAY=${names.join(",")}`,
        isOn: (day) => days.includes(day.getUTCDay()),
      };
    }
    case "recurring-day-of-month": {
      const all = parseColumn(row["days_of_month"]);
      const listedDays = Array.isArray(all) ? all : [];
      const days = listedDays.flatMap((day) =>
        day === "lastDay1" ? [-1] : Number(day) >= 1 ? [Number(day)] : [],
      );
      if (days.length === 0) return { reason: "it names no day of the month" };
      return {
        ...shared,
        rule: `FREQ=MONTHLY;BYMONTHDAY=${days.join(",")}`,
        isOn: (day) => isDayOfMonth(day, days),
      };
    }
  }
  return { reason: `the strategy ${strategy} is unknown` };
}

const parseNumbers = (value: unknown) => {
  const list = parseColumn(value);
  return (Array.isArray(list) ? list : []).map(Number).filter(Number.isInteger);
};

function isDayOfMonth(day: Date, days: readonly number[]): boolean {
  const isLast = new Date(day.getTime() + dayMs).getUTCDate() === 1;
  return days.includes(day.getUTCDate()) || (isLast && days.includes(-1));
}

/** Converts a cron expression with fixed times on all days, on weekdays or on days of the month. */
function convertCron(cron: string, seconds: number): Recurring | { reason: string } {
  const reason = { reason: `its cron expression ${cron} has no equivalent here` };
  const parts = cron.trim().split(/\s+/);
  const [minute, hour, dom, month, dow] = parts;
  if (
    parts.length !== 5 ||
    seconds < 60 ||
    month === undefined ||
    dow === undefined ||
    dom === undefined
  )
    return reason;
  const minutes = parseCronField(minute, 0, 59);
  const hours = parseCronField(hour, 0, 23);
  const days = parseCronField(dom.replace(/\bL\b/g, "32"), 1, 32)?.map((day) =>
    day === 32 ? -1 : day,
  );
  const months = parseCronField(month, 1, 12);
  const cronDays = parseCronField(dow, 0, 7)?.map((day) => day % 7);
  if (!minutes || !hours || !days || !months || !cronDays) return reason;
  // Cron combines both fields with OR, which a recurrence rule can't express.
  if (dom !== "*" && dow !== "*") return reason;
  const times = [
    ...(hour === "*" ? [] : [`BYHOUR=${hours.join(",")}`]),
    `BYMINUTE=${minutes.join(",")}`,
    ...(month === "*" ? [] : [`BYMONTH=${months.join(",")}`]),
  ];
  if (hour === "*" && (dom !== "*" || dow !== "*")) times.unshift(`BYHOUR=${hours.join(",")}`);
  const [frequency, by, fits] =
    dow !== "*"
      ? ([
          "WEEKLY",
          [`BYDAY=${cronDays.map((day) => weekdays[day]).join(",")}`],
          (day: Date) => cronDays.includes(day.getUTCDay()),
        ] as const)
      : dom !== "*"
        ? ([
            "MONTHLY",
            [`BYMONTHDAY=${days.join(",")}`],
            (day: Date) => isDayOfMonth(day, days),
          ] as const)
        : ([hour === "*" ? "HOURLY" : "DAILY", [], () => true] as const);
  return {
    rule: [`FREQ=${frequency}`, ...by, ...times].join(";"),
    clocks: [(hour === "*" ? 0 : (hours[0] ?? 0)) * 60 + (minutes[0] ?? 0)],
    lengthMinutes: Math.round(seconds / 60),
    isOn: (day) => fits(day) && months.includes(day.getUTCMonth() + 1),
  };
}

const indexNames = (words: string, first: number) =>
  words.split(" ").map((name, index) => [name, index + first] as const);
const names: Readonly<Record<string, number>> = createLookup(
  Object.fromEntries([
    ...indexNames("SUN MON TUE WED THU FRI SAT", 0),
    ...indexNames("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1),
  ]),
);

/** Parses a cron field with `*`, numbers, names, ranges and steps; null if it is invalid. */
function parseCronField(part: string | undefined, min: number, max: number): number[] | null {
  const numbers: number[] = [];
  for (const one of (part ?? "").toUpperCase().split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d+))?$/.exec(one) ?? [];
    const [low, high = step === undefined ? low : String(max)] =
      range === "*" ? [String(min), String(max === 32 ? 31 : max)] : range.split("-");
    const from = names[low ?? ""] ?? Number(low || NaN);
    const to = names[high ?? ""] ?? Number(high || NaN);
    if (!(from >= min && to <= max && from <= to)) return null;
    for (let value = from; value <= to; value += Math.max(1, Number(step ?? 1)))
      numbers.push(value);
  }
  return numbers.length === 0 ? null : [...new Set(numbers)].sort((a, b) => a - b);
}
