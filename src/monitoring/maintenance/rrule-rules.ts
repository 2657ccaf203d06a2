/** Validates RRULE texts (RFC 5545 §3.3.10): syntax, limits, and supported combinations of parts. */
import { createLookup } from "../../core/collections/objects.ts";

const frequencies = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"] as const;
type Frequency = (typeof frequencies)[number];

/** Maximum interval per frequency, ten years each. */
const maxInterval = { YEARLY: 10, MONTHLY: 120, WEEKLY: 520, DAILY: 3_650, HOURLY: 87_600 };
const maxCount = 1_000;
/** Maximum times per period from which BYSETPOS selects. */
const maxChoices = 1_000;
const daysPerPeriod = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7, DAILY: 1, HOURLY: 1 };

/** Smallest and largest number of each list. Negative numbers count from the end. */
const numberLists: Record<string, [min: number, max: number]> = createLookup({
  BYMONTH: [1, 12],
  BYWEEKNO: [-53, 53],
  BYYEARDAY: [-366, 366],
  BYMONTHDAY: [-31, 31],
  BYHOUR: [0, 23],
  BYMINUTE: [0, 59],
  BYSETPOS: [-366, 366],
});

export const tooOftenIssue = "must not repeat more often than every hour";
export const neverOccursIssue = "must have a time after startsAt and within 50 years";

/** Returns why a rule is rejected, as the end of a sentence after the name of the field; null for a valid rule. */
export function findRruleIssue(text: string): string | null {
  const parts = new Map<string, string>();
  for (const part of text.toUpperCase().split(";")) {
    const [, name, value] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined)
      return "must be the value of an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU";
    if (parts.has(name)) return `must have ${name} only once`;
    parts.set(name, value);
  }
  const frequencyName = parts.get("FREQ") ?? "";
  if (frequencyName === "SECONDLY" || frequencyName === "MINUTELY") return tooOftenIssue;
  const frequency = frequencies.find((name) => name === frequencyName);
  if (frequency === undefined) return `must have a FREQ of ${frequencies.join(", ")}`;
  for (const [name, value] of parts) {
    const issue = name === "FREQ" ? null : findPartIssue(name, value, frequency);
    if (issue !== null) return issue;
  }
  return findCombinationIssue(parts, frequency) ?? findCostIssue(parts, frequency);
}

function findPartIssue(name: string, value: string, frequency: Frequency): string | null {
  const list = numberLists[name];
  if (list !== undefined) {
    const [min, max] = list;
    const zero = min < 0 ? " but 0" : "";
    const issue = `must list whole numbers from ${min} to ${max}${zero} in ${name}`;
    return value.split(",").every((one) => isNumber(one, min, max)) ? null : issue;
  }
  switch (name) {
    case "INTERVAL": {
      const max = maxInterval[frequency];
      const issue = `must have an INTERVAL from 1 to ${max}, which is ten years`;
      return isNumber(value, 1, max) ? null : issue;
    }
    case "COUNT":
      return isNumber(value, 1, maxCount) ? null : `must have a COUNT from 1 to ${maxCount}`;
    case "UNTIL":
      return isTime(value) ? null : "must have an UNTIL such as 20270131 or 20270131T220000Z";
    case "WKST":
      return weekdayPattern.test(value) ? null : "must have a weekday such as MO in WKST";
    case "BYDAY":
      return value.split(",").every((one) => numberedWeekdayPattern.test(one))
        ? null
        : "must list weekdays such as SU, 1MO or -1FR in BYDAY";
  }
  return "must have only parts of RFC 5545, without BYSECOND";
}

const weekdayPattern = /^(MO|TU|WE|TH|FR|SA|SU)$/;
const numberedWeekdayPattern = /^([+-]?([1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/;

function isNumber(text: string, min: number, max: number): boolean {
  const number = /^[+-]?\d{1,5}$/.test(text) ? Number(text) : NaN;
  return number >= min && number <= max && (min >= 0 || number !== 0);
}

function isTime(text: string): boolean {
  const [, year, month, day, hour = "00", minute = "00", second = "00"] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?$/.exec(text) ?? [];
  return !Number.isNaN(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`));
}

function findCombinationIssue(parts: Map<string, string>, frequency: Frequency): string | null {
  const has = (...names: string[]) => names.some((name) => parts.has(name));
  const weekdays = (parts.get("BYDAY") ?? "").split(",").filter((day) => day !== "");
  const numbered = weekdays.filter((day) => /\d/.test(day));
  if (has("COUNT") && has("UNTIL")) return "must not have both COUNT and UNTIL";
  if (has("BYWEEKNO") && frequency !== "YEARLY") return "must have BYWEEKNO only with FREQ=YEARLY";
  if (has("BYYEARDAY") && !["YEARLY", "HOURLY"].includes(frequency))
    return "must have BYYEARDAY only with FREQ=YEARLY or HOURLY";
  if (has("BYMONTHDAY") && frequency === "WEEKLY")
    return "must not have BYMONTHDAY with FREQ=WEEKLY";
  if (numbered.length > 0 && (!["YEARLY", "MONTHLY"].includes(frequency) || has("BYWEEKNO")))
    return "must have numbered weekdays only with FREQ=MONTHLY, or YEARLY without BYWEEKNO";
  if (frequency === "YEARLY" && has("BYYEARDAY") && has("BYWEEKNO", "BYMONTHDAY", "BYDAY"))
    return "must have BYYEARDAY without BYWEEKNO, BYMONTHDAY and BYDAY with FREQ=YEARLY";
  if (has("BYWEEKNO") && has("BYMONTHDAY")) return "must have BYWEEKNO without BYMONTHDAY";
  const isMixed = has("BYMONTHDAY") || numbered.length < weekdays.length;
  if (frequency === "YEARLY" && numbered.length > 0 && isMixed)
    return "must have numbered weekdays without BYMONTHDAY and plain weekdays with FREQ=YEARLY";
  const lists = ["BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE"];
  if (has("BYSETPOS") && (frequency === "HOURLY" || !has(...lists)))
    return "must have BYSETPOS only with another BY part, and not with FREQ=HOURLY";
  return null;
}

/** Rejects rules whose evaluation would take too long. */
function findCostIssue(parts: Map<string, string>, frequency: Frequency): string | null {
  const countChoices = (name: string) =>
    new Set((parts.get(name) ?? "0").split(",").map(Number)).size;
  // Several minutes repeat more often than hourly, unless BYSETPOS selects one of them.
  if (!parts.has("BYSETPOS"))
    return countChoices("BYMINUTE") > 1 ? tooOftenIssue : findYearIssue(parts, frequency);
  const choices = daysPerPeriod[frequency] * countChoices("BYHOUR") * countChoices("BYMINUTE");
  if (choices > maxChoices)
    return `must have BYSETPOS choose among at most ${maxChoices} times of a period: days × BYHOUR × BYMINUTE`;
  const positions = (parts.get("BYSETPOS") ?? "").split(",").map(Number);
  return positions.every((position) => Math.abs(position) > choices) ? neverOccursIssue : null;
}

/** Rejects rules that list thousands of times of each year: all of a year are computed to find one. */
function findYearIssue(parts: Map<string, string>, frequency: Frequency): string | null {
  if (frequency !== "YEARLY") return null;
  const count = (name: string) => parts.get(name)?.split(",").length;
  const months = count("BYMONTH") ?? 12;
  const days = parts.has("BYDAY")
    ? months * 31
    : (count("BYYEARDAY") ?? months * (count("BYMONTHDAY") ?? 1));
  return days * (count("BYHOUR") ?? 1) > maxChoices
    ? `must have at most ${maxChoices} times in a year: days × BYHOUR. Use FREQ=DAILY instead`
    : null;
}
