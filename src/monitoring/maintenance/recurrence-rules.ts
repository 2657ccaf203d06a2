/** Reads and writes RRULEs as the fields of the recurrence editor. */
import { dayMs } from "../../core/time/clock.ts";

export type Repeats = "never" | "daily" | "weekly" | "monthly" | "rule";

/** Values of the recurrence editor, including fields of the kinds that are not selected. */
export type Plan = {
  repeats: Repeats;
  /** Interval in days, weeks or months. */
  every: number;
  /** Weekdays, from Monday as 0. */
  days: number[];
  monthly: "date" | "weekday";
  /** Day of the month; -1 is the last. */
  date: number;
  /** Position of the weekday in the month; -1 is the last. */
  nth: number;
  day: number;
  ends: "never" | "until" | "count";
  /** Last day, such as `2027-01-31`, in the window's time zone. */
  until: string;
  count: number;
  /** An RRULE that the fields can't express. */
  rule: string;
};

const names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const frequencies = { daily: "DAILY", weekly: "WEEKLY", monthly: "MONTHLY" } as const;

export const compareNumbers = (one: number, other: number): number => one - other;

/** Weekday of a local time, from Monday as 0, and its position in the month. */
function getPositionInMonth(local: number) {
  const date = new Date(local);
  const inMonth = date.getUTCDate();
  return {
    day: (date.getUTCDay() + 6) % 7,
    date: inMonth,
    nth: inMonth > 28 ? -1 : Math.ceil(inMonth / 7),
  };
}

/** Defaults for a window that starts at this local time. */
export function createDefaultPlan(local: number): Plan {
  const { day, date, nth } = getPositionInMonth(local);
  return {
    repeats: "never",
    every: 1,
    days: [day],
    monthly: "date",
    date,
    nth,
    day,
    ends: "never",
    until: new Date(local + 90 * dayMs).toISOString().slice(0, 10),
    count: 10,
    rule: "",
  };
}

/** Reads a valid RRULE into the fields, or leaves it as a custom rule if they can't express it. */
export function parseRule(rrule: string | null, local: number): Plan {
  const defaultPlan = createDefaultPlan(local);
  if (rrule === null) return defaultPlan;
  const parts = rrule.toUpperCase().split(";");
  const rule = Object.fromEntries(parts.map((part) => part.split("="))) as RuleParts;
  const fields = parseRuleFields(rule, defaultPlan);
  const end = parseRuleEnd(rule);
  if (fields === null || end === null) return { ...defaultPlan, repeats: "rule", rule: rrule };
  return { ...defaultPlan, every: Number(rule.INTERVAL ?? 1), rule: rrule, ...fields, ...end };
}

const simpleParts = ["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTHDAY"];
type RuleParts = { FREQ: string } & Partial<
  Record<"INTERVAL" | "COUNT" | "UNTIL" | "WKST" | "BYDAY" | "BYMONTHDAY", string>
>;

function parseRuleFields(rule: RuleParts, plain: Plan): Partial<Plan> | null {
  const { FREQ, INTERVAL = "1", WKST = "MO", BYDAY, BYMONTHDAY } = rule;
  const isSimple = Object.keys(rule).every((name) => simpleParts.includes(name));
  if (!isSimple || (BYDAY !== undefined && BYMONTHDAY !== undefined)) return null;
  if (FREQ === "DAILY") return (BYDAY ?? BYMONTHDAY) ? null : { repeats: "daily" };
  if (FREQ === "WEEKLY") {
    // The start of the week matters if weeks are skipped.
    if (BYMONTHDAY !== undefined || (WKST !== "MO" && Number(INTERVAL) > 1)) return null;
    if (BYDAY === undefined) return { repeats: "weekly", days: plain.days };
    const days = [...new Set(BYDAY.split(",").map((name) => names.indexOf(name)))].sort(
      compareNumbers,
    );
    return days.includes(-1) ? null : { repeats: "weekly", days };
  }
  if (FREQ !== "MONTHLY") return null;
  if (BYDAY === undefined) {
    const date = Number(BYMONTHDAY ?? plain.date);
    return date >= -1 ? { repeats: "monthly", monthly: "date", date } : null;
  }
  const [, nth, day = ""] = /^\+?([1-4]|-1)([A-Z]{2})$/.exec(BYDAY) ?? [];
  if (nth === undefined) return null;
  return { repeats: "monthly", monthly: "weekday", nth: Number(nth), day: names.indexOf(day) };
}

function parseRuleEnd({ COUNT, UNTIL }: RuleParts): Partial<Plan> | null {
  if (COUNT !== undefined) return { ends: "count", count: Number(COUNT) };
  if (UNTIL === undefined) return { ends: "never" };
  const date = UNTIL.replace(/^(....)(..)(..)(T235959)?$/, "$1-$2-$3");
  return date.length === 10 ? { ends: "until", until: date } : null;
}

/** Converts the plan to an RRULE; null if it does not recur. */
export function formatRule(plan: Plan): string | null {
  const { repeats, every, days, monthly, date, nth, day, ends, until, count } = plan;
  if (repeats === "never") return null;
  if (repeats === "rule") return plan.rule.trim();
  const parts = [`FREQ=${frequencies[repeats]}`];
  if (every !== 1) parts.push(`INTERVAL=${every}`);
  if (repeats === "weekly" && days.length > 0)
    parts.push(
      `BYDAY=${days
        .toSorted(compareNumbers)
        .map((one) => names[one])
        .join(",")}`,
    );
  if (repeats === "monthly")
    parts.push(monthly === "date" ? `BYMONTHDAY=${date}` : `BYDAY=${nth}${names[day]}`);
  if (ends === "until") parts.push(`UNTIL=${until.replaceAll("-", "")}`);
  if (ends === "count") parts.push(`COUNT=${count}`);
  return parts.join(";");
}

/** Positions of a weekday in a month; -1 is the last. */
export const weekNumbers = [1, 2, 3, 4, -1];
