/** Reads and writes dates and times as people type them: `tomorrow 09:00`, `in 2 h`, `26 Nov 19:00`. */
import { dayMs, minuteMs } from "../../../src/core/time/clock.ts";
import { getFormatter, minuteFormat } from "../../../src/core/time/times.ts";
import { toInstant, toLocal } from "../../../src/core/time/time-zones.ts";
import { t } from "../../language/text.ts";

/** Base of relative times, such as `in 2 h`. */
type DateTimeContext = {
  /** The current time in Unix milliseconds. */
  now: number;
  /** The zone of the typed times. */
  zone: string;
  /** The start of a period, from which `for 2 h` counts; local, such as `2026-11-22T02:00`. */
  from?: string | undefined;
};

const unitMs: Record<string, number> = {
  m: minuteMs,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};
/** Patterns of how months and weekdays start. */
const months = t("jan feb mar apr may jun jul aug sep oct nov dec").split(" ");
const weekdays = t("sun mon tue wed thu fri sat").split(" ");
const monthName = `((?:${months.join("|")})\\p{L}*)\\.?`;
const weekdayName = `(?:${weekdays.join("|")})\\p{L}*\\.?`;

const findName = (patterns: readonly string[], name: string) =>
  patterns.findIndex((pattern) => new RegExp(`^${pattern}`).test(name));

/** Patterns of words in the language of the page, and the words that the rules below know. */
const typedWords = [
  [t("(now)"), "now"],
  [t("(today)"), "today"],
  [t("(tomorrow)"), "tomorrow"],
  [t("(yesterday)"), "yesterday"],
  [t("(\\d+) (\\S+) ago"), "$1 $2 ago"],
  [t("(for)"), "for"],
  [t("(until)"), "until"],
  [t("(at)"), "at"],
  [t("(on)"), "on"],
  [t("(next)"), "next"],
  [t("(hours?)"), "h"],
  [t("(days?)"), "d"],
].map(([pattern, word]) => ({
  pattern: new RegExp(`(?<![\\p{L}\\d])(?:${pattern})(?!\\p{L})`, "gu"),
  word: word ?? "",
}));

/** Reduces a typed text to the words that the rules know. */
function normalizeWords(typed: string): string {
  const text = typed.trim().toLowerCase().replace(/,/g, " ").replace(/\s+/g, " ");
  return typedWords.reduce((words, { pattern, word }) => words.replace(pattern, word), text);
}

/** Writes milliseconds that look like UTC as `2026-11-22T02:00`. */
const toText = (local: number) => new Date(local).toISOString().slice(0, 16);

/** Parses `2026-11-22T02:00` as if it were UTC; NaN for another text. */
export const parseLocal = (text: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : NaN;

/** Formats an instant for a date and time field. */
export const toClock = (at: number, zone: string) => toText(toLocal(at, zone));

/** Converts a local time to an instant; null for an incomplete one, which the server rejects. */
export function toInstantText(clock: string, zone: string): string | null {
  const local = parseLocal(clock);
  return Number.isNaN(local) ? null : new Date(toInstant(local, zone)).toISOString();
}

/**
 * Converts an edited local time to an instant. An unchanged one keeps the instant `before`, because a clock change repeats
 * local times, and fields have no seconds.
 */
export const changeInstant = (clock: string, zone: string, before: string | null): string | null =>
  before !== null && toClock(Date.parse(before), zone) === clock
    ? before
    : toInstantText(clock, zone);

const dayFormat = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;

/** Formats `2026-11-22T02:00` as `Sun 22 Nov 2026 02:00`; leaves another text unchanged. */
export function formatLocal(text: string): string {
  const local = parseLocal(text);
  if (Number.isNaN(local)) return text;
  return `${formatDay(text.slice(0, 10))} ${getFormatter("UTC", minuteFormat).format(local)}`;
}

/** Formats `2026-11-22` as `Sun 22 Nov 2026`; leaves another text unchanged. */
export function formatDay(text: string): string {
  const local = parseLocal(`${text}T00:00`);
  return Number.isNaN(local)
    ? text
    : getFormatter("UTC", dayFormat).format(local).replaceAll(",", "");
}

/** Reads a typed day as `2026-11-22`, also `7 days ago`; null if it is not understood. */
export const parseDay = (typed: string, context: DateTimeContext): string | null =>
  parseDateTime(typed, context)?.slice(0, 10) ?? null;

/** Reads a typed date and time as local text, such as `2026-11-22T02:00`; null if it is not understood. */
export function parseDateTime(typed: string, context: DateTimeContext): string | null {
  const words = normalizeWords(typed);
  const duration = /^(in|for|\+) ?(.+)$/.exec(words);
  if (words === "") return null;
  const ago = /^(\d+) ?(d|w)[a-z]* ago$/.exec(words);
  if (ago !== null) return subtractDays(Number(ago[1]) * (ago[2] === "w" ? 7 : 1), context);
  if (words === "now") return toClock(context.now, context.zone);
  if (duration !== null) return addDuration(duration[1] === "for", duration[2] ?? "", context);
  const clocked = splitClock(words.replace(/^(?:until|at|on) /, ""));
  if (clocked === null) return null;
  const day = clocked.day === "" ? null : parseDate(clocked.day, context);
  if (clocked.day === "") return findNextClock(clocked.minutes ?? 0, context);
  return day === null ? null : toText(day + (clocked.minutes ?? 0) * minuteMs);
}

/** Reads a typed time of the past: `15:05` is the last time that the clock showed this. Null if it is not understood, or not past. */
export function parsePastTime(typed: string, context: DateTimeContext): string | null {
  const { now, zone } = context;
  const words = normalizeWords(typed);
  const ago = /^(\d+) ?(m(?!o)|h|d|w)[a-z]* ago$/.exec(words);
  if (ago !== null) return toClock(now - Number(ago[1]) * (unitMs[ago[2] ?? ""] ?? 0), zone);
  const text = isNaN(parseLocal(typed)) ? parseDateTime(typed, context) : typed;
  if (text === null) return null;
  const step = /^\d{1,2}([:.]\d\d(?!\.)| ?[ap]m)/.test(words) ? dayMs : 7 * dayMs;
  const isRelative = step === dayMs || new RegExp(`^${weekdayName} `, "u").test(words);
  const isLater = parseLocal(text) > toLocal(now, zone);
  if (isLater && isRelative) return toText(parseLocal(text) - step);
  return isLater ? null : text;
}

/** Adds a duration such as `1 h 30 min` to the start of the period, or to now. */
function addDuration(isFromStart: boolean, text: string, { now, zone, from }: DateTimeContext) {
  const part = /(\d+(?:\.\d+)?) ?(m(?!o)|h|d|w)[a-z]*(?: |$)/y;
  let length = 0;
  while (part.lastIndex < text.length) {
    const found = part.exec(text);
    if (found === null) return null;
    length += Number(found[1]) * (unitMs[found[2] ?? ""] ?? 0);
  }
  const start = isFromStart ? parseLocal(from ?? "") : NaN;
  const at = (Number.isNaN(start) ? now : toInstant(start, zone)) + length;
  // Beyond the range of dates.
  return length > 0 && at < Date.UTC(9000, 0) ? toClock(at, zone) : null;
}

/** The same time of day some days ago; null before the range of dates. */
function subtractDays(days: number, { now, zone }: DateTimeContext) {
  const local = toLocal(now, zone) - days * dayMs;
  return local > 0 ? toText(local) : null;
}

/** Splits the time of day off the end: `tomorrow 9:30 pm`. Null for an impossible time. */
function splitClock(words: string): { day: string; minutes: number | null } | null {
  const found = /^(.*?)(?:^|[ t])(\d{1,2})(?:[:.](\d\d))? ?(am|pm)?$/.exec(words);
  const [, day = "", hour = "", minute, half] = found ?? [];
  if (found === null || (minute === undefined && half === undefined))
    return { day: words, minutes: null };
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === "pm" ? 12 : 0);
  const isHour = half === undefined ? hours < 24 : Number(hour) >= 1 && Number(hour) <= 12;
  if (!isHour || Number(minute ?? 0) > 59) return null;
  return { day: day.trim(), minutes: hours * 60 + Number(minute ?? 0) };
}

/** The next time at which the clock shows this, after the start of the period or after now. */
function findNextClock(minutes: number, { now, zone, from }: DateTimeContext) {
  const start = parseLocal(from ?? "");
  const after = Number.isNaN(start) ? toLocal(now, zone) : start;
  const sameDay = Math.floor(after / dayMs) * dayMs + minutes * minuteMs;
  return toText(sameDay > after ? sameDay : sameDay + dayMs);
}

/** Reads a day as its local midnight. Days without a year are those nearest to today. */
function parseDate(words: string, { now, zone }: DateTimeContext): number | null {
  const today = Math.floor(toLocal(now, zone) / dayMs) * dayMs;
  if (words === "today") return today;
  if (words === "tomorrow") return today + dayMs;
  if (words === "yesterday") return today - dayMs;
  if (new RegExp(`^(?:next )?${weekdayName}$`, "u").test(words)) {
    const weekdayIndex = findName(weekdays, words.replace("next ", ""));
    return today + (((weekdayIndex - new Date(today).getUTCDay() + 6) % 7) + 1) * dayMs;
  }
  const date = words.replace(new RegExp(`^${weekdayName} `, "u"), "");
  const iso = /^(\d{4})-(\d\d?)-(\d\d?)$/.exec(date);
  if (iso !== null) return toDay(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
  const before = new RegExp(`^(\\d\\d?)\\.? ${monthName}(?: (\\d{4}))?$`, "u").exec(date);
  const after = new RegExp(`^${monthName} (\\d\\d?)(?: (\\d{4}))?$`, "u").exec(date);
  const dotted = /^(\d\d?)\.(\d\d?)\.(?: ?(\d{4}))?$/.exec(date);
  const [, day, name, year] =
    before ?? dotted ?? (after === null ? [] : [after[0], after[2], after[1], after[3]]);
  if (day === undefined || name === undefined) return null;
  const month = dotted === null ? findName(months, name) : Number(name) - 1;
  const toYear = (number: number) => toDay(number, month, Number(day));
  if (year !== undefined) return toYear(Number(year));
  const thisYear = new Date(today).getUTCFullYear();
  const near = [thisYear - 1, thisYear, thisYear + 1].flatMap((number) => toYear(number) ?? []);
  return near.toSorted((one, other) => Math.abs(one - today) - Math.abs(other - today))[0] ?? null;
}

/** Local midnight of a date; null if the month does not have this day. */
function toDay(year: number, month: number, day: number): number | null {
  const at = new Date(Date.UTC(year, month, day));
  return at.getUTCMonth() === month && at.getUTCDate() === day ? at.getTime() : null;
}

/** Completes a time of day such as `9`, `930` or `9:30` to `HH:MM`. Returns other texts unchanged. */
export function completeClock(text: string): string {
  const [, hours = "", minutes = "00"] = /^(\d{1,2}?)(?:[:.]?(\d\d))?$/.exec(text.trim()) ?? [];
  return hours === "" ? text : `${hours.padStart(2, "0")}:${minutes}`;
}
