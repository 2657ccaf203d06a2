/** Computes when a job is due, from a cron expression or systemd's OnCalendar, in local time. */
import type { Cron, CronOptions } from "croner";
import { isTimeZone } from "../../core/fields.ts";
import { expandCalendar } from "./calendar-rules.ts";

/** Returns the first due time after `after`, in Unix milliseconds; null for never again. */
type FindNextDue = (after: number) => number | null;

type Schedule = { expression: string; timeZone: string };

/** Lazily loaded. Its evaluation must be synchronous, because the scheduler computes due times synchronously. */
const loadLibrary = () => require("croner") as typeof import("croner");

/** Parsed schedules. A report needs the next due time, and a job reports as often as every few seconds. */
const parsedSchedules = new Map<string, FindNextDue>();
const maxParsedSchedules = 2_000;

/** Parses a schedule to a function that finds its next due time. Throws an Error for an invalid one. */
export function parseSchedule({ expression, timeZone }: Schedule): FindNextDue {
  const name = `${timeZone} ${expression}`;
  const known = parsedSchedules.get(name);
  if (known !== undefined) return known;
  const findNextDue = isCron(expression)
    ? parseCron(expression, timeZone)
    : parseCalendar(expression, timeZone);
  if (parsedSchedules.size >= maxParsedSchedules) parsedSchedules.clear();
  parsedSchedules.set(name, findNextDue);
  return findNextDue;
}

/** Whether an expression is cron, by the rule of Healthchecks: it has five fields. `@daily` is cron, too. */
function isCron(expression: string): boolean {
  const text = expression.trim();
  return /^@\w+$/.test(text) || text.split(/\s+/).length === 5;
}

/** Returns why a schedule is invalid; null for a valid one. */
export function findScheduleIssue(expression: string): string | null {
  try {
    const first = parseSchedule({ expression, timeZone: "UTC" })(Date.UTC(2000, 0));
    return first === null ? "never occurs" : null;
  } catch {
    if (!isCron(expression))
      return "must be a cron expression with five fields, such as 30 2 * * *, or OnCalendar of systemd, such as Mon..Fri 02:30";
    const wrong = findWrongField(expression);
    return wrong === null ? "must be a cron expression" : `has an invalid ${wrong}`;
  }
}

const cronFields = ["minute", "hour", "day of the month", "month", "day of the week"];

function findWrongField(expression: string): string | null {
  const index = expression
    .trim()
    .split(/\s+/)
    .findIndex((field, position) => {
      const alone = cronFields.map((_, other) => (other === position ? field : "*"));
      return !canParse(() => createCron(alone.join(" "), "UTC", { mode: "5-part" }));
    });
  return cronFields[index] ?? null;
}

function canParse(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function createCron(pattern: string, timezone: string, options: CronOptions): Cron {
  const { Cron: Library } = loadLibrary();
  // Jobs at a fixed time run once when clocks change, as with the cron of Debian.
  return new Library(pattern, { timezone, fixedTimeRule: "no-wildcard", ...options });
}

/**
 * Parses cron as Debian's `cron` does (crontab(5)): days of the month and of the week are alternatives, unless one of
 * them starts with `*`. Also `L`, `#` and `@daily`.
 */
function parseCron(expression: string, timeZone: string): FindNextDue {
  const fields = expression.trim().split(/\s+/);
  const days = [fields[2] ?? "*", fields[4] ?? "*"];
  const domAndDow = days.some((field) => field.startsWith("*"));
  const pattern = fields.map((field, index) => (index < 2 ? listSteps(field) : field)).join(" ");
  const cron = createCron(pattern, timeZone, { mode: "5-part", domAndDow });
  return (after) => cron.nextRun(new Date(after))?.getTime() ?? null;
}

/**
 * Lists the values of ranges with a step, such as 10-40/5. When clocks change, they must count as fixed times, like all
 * fields without `*` (cron(8) of Debian), but the library treats every step as an interval.
 */
const listSteps = (field: string) =>
  field.replace(
    /\b(\d\d?)-(\d\d?)\/(\d\d?)(?=,|$)/g,
    (range, from: string, to: string, step: string) => {
      const values: number[] = [];
      for (let value = Number(from); value <= Number(to) && Number(step) > 0; value += Number(step))
        values.push(value);
      return values.length === 0 ? range : values.join(",");
    },
  );

/** Maximum skipped local times in a row. A year has at most two gaps. */
const maxSkipped = 50;

/** Parses OnCalendar (systemd.time(7)). Local times that a clock change skips do not occur. */
function parseCalendar(expression: string, timeZone: string): FindNextDue {
  const crons = expandCalendar(expression.trim(), isTimeZone).map(
    ({ pattern, timeZone: ownTimeZone }) =>
      createCron(pattern, ownTimeZone ?? timeZone, { mode: "7-part", domAndDow: true }),
  );
  return (after) => {
    let from = after;
    for (let skipped = 0; skipped < maxSkipped; skipped++) {
      const times = crons.flatMap((cron) => {
        const next = cron.nextRun(new Date(from));
        return next === null ? [] : [{ at: next.getTime(), occurs: cron.match(next) }];
      });
      if (times.length === 0) return null;
      const at = Math.min(...times.map((time) => time.at));
      if (times.some((time) => time.at === at && time.occurs)) return at;
      from = at;
    }
    return null;
  };
}
