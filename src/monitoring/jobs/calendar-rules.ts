/** Translates systemd's OnCalendar (systemd.time(7)) into cron patterns with seconds and years. */
import { createLookup } from "../../core/collections/objects.ts";

type Pattern = {
  /** Seconds, minutes, hours, days, months, days of the week and years. */
  pattern: string;
  /** Time zone at the end of the expression; null if there is none. */
  timeZone: string | null;
};

const shorthands: Readonly<Record<string, string>> = createLookup({
  minutely: "*-*-* *:*:00",
  hourly: "*-*-* *:00:00",
  daily: "*-*-* 00:00:00",
  weekly: "Mon *-*-* 00:00:00",
  monthly: "*-*-01 00:00:00",
  quarterly: "*-01,04,07,10-01 00:00:00",
  semiannually: "*-01,07-01 00:00:00",
  "semi-annually": "*-01,07-01 00:00:00",
  yearly: "*-01-01 00:00:00",
  annually: "*-01-01 00:00:00",
});

// Monday first, as in ranges of systemd. Cron accepts 7 for Sunday.
const weekdays = ["", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const years = { min: 1970, max: 2199 };

/** Returns the patterns that together occur at the times of the expression. Throws an Error for an invalid one. */
export function expandCalendar(line: string, isTimeZone: (name: string) => boolean): Pattern[] {
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? "";
  const hasZone = words.length > 1 && isTimeZone(last) && parseWeekdays(last) === null;
  const timeWords = hasZone ? words.slice(0, -1) : words;
  const timeZone = hasZone ? last : null;
  const [first = ""] = timeWords;
  const shorthand = timeWords.length === 1 ? shorthands[first.toLowerCase()] : undefined;
  const patterns = parseWords(shorthand === undefined ? timeWords : shorthand.split(" "));
  return patterns.map((pattern) => ({ pattern, timeZone }));
}

function parseWords(words: readonly string[]): string[] {
  const remainingWords = [...words];
  const weekday = parseWeekdays(remainingWords[0] ?? "");
  if (weekday !== null) remainingWords.shift();
  const date = /[-~]/.test(remainingWords[0] ?? "") ? remainingWords.shift() : undefined;
  const time = remainingWords[0]?.includes(":") === true ? remainingWords.shift() : undefined;
  if (remainingWords.length > 0 || [weekday, date, time].every((part) => part == null))
    throw new Error("unknown word");
  const times = parseTime(time ?? "00:00:00");
  return parseDate(date ?? "*-*-*").map(({ year, month, day }) =>
    [times, day, month, weekday ?? "*", year].join(" "),
  );
}

/** Returns the weekdays as numbers, such as 1,2,3 for Mon..Wed; null for another word. */
function parseWeekdays(word: string): string | null {
  const numbers = word
    .toLowerCase()
    .replace(/,$/, "")
    .replace(/[a-z]+/g, (name) => {
      const index = weekdays.findIndex((day) => day === name || day.slice(0, 3) === name);
      return index === -1 ? "x" : String(index);
    });
  if (!/^\d((\.\.|,)\d)*$/.test(numbers) || !/^[a-z]/i.test(word)) return null;
  return formatList(expandField(numbers, { min: 1, max: 7 }));
}

function parseTime(word: string): string {
  const [hour = "", minute = "", second = "00", ...more] = word.split(":");
  if (more.length > 0) throw new Error("unknown time");
  const [hours, minutes, seconds] = [
    [hour, 23] as const,
    [minute, 59] as const,
    [second, 59] as const,
  ].map(([field, max]) => formatList(expandField(field, { min: 0, max })));
  return `${seconds} ${minutes} ${hours}`;
}

type DatePattern = { year: string; month: string; day: string };

function parseDate(word: string): DatePattern[] {
  const [, year = "*", month = "", separator, day = ""] =
    /^(?:([^~-]+)-)?([^~-]+)([-~])([^~-]+)$/.exec(word) ?? [];
  const inYears = expandField(year, years);
  const inMonths = expandField(month, { min: 1, max: 12 });
  if (separator === "~") return countFromEnd(day, inMonths, inYears);
  if (separator === undefined) throw new Error("unknown date");
  const days = expandField(day, { min: 1, max: 31 });
  return [{ year: formatList(inYears), month: formatList(inMonths), day: formatList(days) }];
}

/** Expands days that count from the end of the month: one pattern for each length of a month. */
function countFromEnd(
  field: string,
  inMonths: readonly number[] | null,
  inYears: readonly number[] | null,
): DatePattern[] {
  const fromEnd = expandField(field, { min: 1, max: 31 }, true) ?? expandRange(1, 31, 1);
  const isLeap = (year: number) => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  const allYears = inYears ?? expandRange(years.min, years.max, 1);
  const groups = [
    { length: 31, months: [1, 3, 5, 7, 8, 10, 12], years: inYears },
    { length: 30, months: [4, 6, 9, 11], years: inYears },
    { length: 28, months: [2], years: allYears.filter((year) => !isLeap(year)) },
    { length: 29, months: [2], years: allYears.filter(isLeap) },
  ];
  return groups.flatMap((group) => {
    const months = group.months.filter((month) => inMonths?.includes(month) ?? true);
    const days = fromEnd.map((day) => group.length + 1 - day).filter((day) => day >= 1);
    if (months.length === 0 || days.length === 0 || group.years?.length === 0) return [];
    return [{ year: formatList(group.years), month: formatList(months), day: formatList(days) }];
  });
}

type Span = { min: number; max: number };

/** Expands a field to its values; null for all. Repetitions that count `fromEnd` continue towards 1. */
function expandField(field: string, span: Span, fromEnd = false): number[] | null {
  if (field === "*") return null;
  const values = field.split(",").flatMap((part) => expandPart(part, span, fromEnd));
  if (values.some((value) => value < span.min || value > span.max)) throw new Error("out of range");
  return [...new Set(values)].sort((one, other) => one - other);
}

function expandPart(part: string, { min, max }: Span, fromEnd: boolean): number[] {
  const [, start = "", end, step] =
    /^(\*|\d{1,4})(?:\.\.(\d{1,4}))?(?:\/(\d{1,4}))?$/.exec(part) ?? [];
  if (start === "" || (start === "*" && end !== undefined)) throw new Error("unknown value");
  const every = step === undefined ? 1 : Number(step);
  if (every === 0) throw new Error("no step");
  const from = start === "*" ? min : Number(start);
  if (fromEnd && step !== undefined && end === undefined)
    return expandRange(1, from, 1).filter((value) => (from - value) % every === 0);
  const isRange = end !== undefined || step !== undefined || start === "*";
  const to = end === undefined ? (isRange ? max : from) : Number(end);
  if (to < from) throw new Error("range from high to low");
  return expandRange(from, to, every);
}

function expandRange(from: number, to: number, step: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.floor((to - from) / step) + 1) },
    (_, index) => from + index * step,
  );
}

const formatList = (values: readonly number[] | null) => values?.join(",") ?? "*";
