/** Decides when a maintenance window occurs: `rrule-temporal` in local time, with bounds on its work. */
import type { RRuleTemporal } from "rrule-temporal";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { neverOccurs, rruleIssue, tooOften } from "./rrule-rules.ts";
import type { MaintenanceState } from "./schema.ts";

/** When a window applies: from `startsAt` to `endsAt`, and again by its rule. */
export type Times = { startsAt: string; endsAt: string; timeZone: string; rrule: string | null };

/** One occurrence in Unix milliseconds; `end` is exclusive. */
export type Occurrence = { start: number; end: number };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const maxLengthMs = 31 * dayMs;
/** Minimum length of gaps to cache, because long gaps are slow to search. */
const longGapMs = 100 * dayMs;
const maxSeries = 10_000;
/** Maximum periods to search for an occurrence: 50 years, or 10,000 hours, as the search skips empty days. */
const maxPeriods = { YEARLY: 50, MONTHLY: 600, WEEKLY: 2_610, DAILY: 18_263, HOURLY: 10_000 };
/** Maximum candidates per search from which BYSETPOS chooses. */
const maxCandidates = 20_000;
/** Number of occurrences whose distances are checked when a rule is saved. */
const sampleSize = 400;
/** Span of one query, about two months. */
const chunkMs = 62 * dayMs;
/** Upper bound for a change of a local clock. */
const largestShiftMs = dayMs;

/** Returns the invalid field and the reason, or null. */
export function validateTimes(times: Times): { path: string; message: string } | null {
  const lengthMs = lengthOf(times);
  if (lengthMs <= 0) return { path: "endsAt", message: "must be after startsAt" };
  if (lengthMs > maxLengthMs)
    return { path: "endsAt", message: "must be at most 31 days after startsAt" };
  const message = times.rrule === null ? null : validateRecurrence(times, times.rrule, lengthMs);
  return message === null ? null : { path: "rrule", message };
}

function validateRecurrence(times: Times, rrule: string, lengthMs: number): string | null {
  const issue = rruleIssue(rrule);
  if (issue !== null) return issue;
  const series = seriesOf(times);
  const { starts, isTooLong } = firstStarts(series.rule, sampleSize);
  if (series.isTooLong || isTooLong)
    return "must be simpler: finding its times takes too long (see BYSETPOS, COUNT and the lists beside them)";
  if (starts.length === 0) return neverOccurs;
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  if (gaps.some((gap) => gap < hourMs)) return tooOften;
  if (gaps.some((gap) => gap < lengthMs)) return "must not repeat before endsAt";
  return null;
}

/** Length in milliseconds: nominal if it is whole local days, else exact. */
function lengthOf(times: Times): number {
  return wholeDaysOf(times) ?? Date.parse(times.endsAt) - Date.parse(times.startsAt);
}

/** Length by local clocks; null unless it is whole days. */
function wholeDaysOf({ startsAt, endsAt, timeZone }: Times): number | null {
  const localMs = toLocal(Date.parse(endsAt), timeZone) - toLocal(Date.parse(startsAt), timeZone);
  return localMs > 0 && localMs % dayMs === 0 ? localMs : null;
}

/** Whole days end at the same local time (RFC 5545 §3.3.6: a nominal duration); other lengths are exact. */
function endOf(times: Times, start: number, days: number | null): number {
  const [first, end] = [Date.parse(times.startsAt), Date.parse(times.endsAt)];
  if (start === first) return end;
  if (days === null) return start + end - first;
  return toInstant(toLocal(start, times.timeZone) + days, times.timeZone);
}

/** Returns a window's state at `now`, its current occurrence and the following one. */
export function situationAt(
  times: Times,
  now: number,
): { state: MaintenanceState; current: Occurrence | null; next: Occurrence | null } {
  let current: Occurrence | null = null;
  for (const occurrence of occurrencesFrom(times, now)) {
    if (occurrence.start <= now) current = occurrence;
    else return { state: current ? "running" : "scheduled", current, next: occurrence };
  }
  return { state: current ? "running" : "over", current, next: null };
}

/** Returns occurrences that overlap the span from `from` to before `to`, oldest first, at most `limit`. */
export function occurrencesBetween(times: Times, from: number, to: number, limit: number) {
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesFrom(times, from, to)) {
    if (occurrence.start >= to || found.length >= limit) break;
    found.push(occurrence);
  }
  return found;
}

/**
 * Yields occurrences that end after `from`, in order, up to those that start before `to`. Each has the length
 * of the first (RFC 5545 §3.8.2.2), but ends when the next one starts. Skipped local times use the offset
 * before the change; ambiguous ones use the first offset (§3.3.5).
 */
function* occurrencesFrom(times: Times, from: number, to = Infinity): Generator<Occurrence> {
  const days = wholeDaysOf(times);
  const reachMs = lengthOf(times) + largestShiftMs;
  let start: number | null = null;
  for (const next of startsFrom(times, from - reachMs, to + reachMs)) {
    if (start !== null && next <= start) continue;
    if (start !== null) {
      const end = Math.min(endOf(times, start, days), next);
      if (end > from) yield { start, end };
    }
    start = next;
  }
  if (start === null) return;
  const end = endOf(times, start, days);
  if (end > from) yield { start, end };
}

function* startsFrom(times: Times, from: number, to: number): Generator<number> {
  const first = Date.parse(times.startsAt);
  if (times.rrule === null) {
    yield first;
    return;
  }
  const series = seriesOf(times);
  const earliest = toLocal(from, times.timeZone) - largestShiftMs;
  const latest = to === Infinity ? to : toLocal(to, times.timeZone) + largestShiftMs;
  for (const local of localStarts(series, earliest, latest))
    yield local === series.start ? first : toInstant(local, times.timeZone);
}

/** A rule evaluated in local milliseconds, as if the local clock were UTC. */
type Series = {
  start: number;
  /** Without COUNT, so that a query can start anywhere. */
  rule: RRuleTemporal;
  /** Whether finding the end of COUNT exceeded a bound. */
  isTooLong: boolean;
  /** Long spans without a start, each from a time searched to the next start; `Infinity` for no next start. */
  gaps: { from: number; to: number }[];
};

const seriesCache = new Map<string, Series>();

/** Returns the cached series of a rule, least recently used evicted first. */
function seriesOf(times: Times): Series {
  const key = `${times.startsAt} ${times.timeZone} ${times.rrule}`;
  const series = seriesCache.get(key) ?? newSeries(times);
  seriesCache.delete(key);
  seriesCache.set(key, series);
  for (const oldest of seriesCache.keys()) {
    if (seriesCache.size <= maxSeries) break;
    seriesCache.delete(oldest);
  }
  return series;
}

function newSeries({ startsAt, timeZone, rrule }: Times): Series {
  const start = toLocal(Date.parse(startsAt), timeZone);
  const text = completeRule((rrule ?? "").toUpperCase(), start, timeZone);
  const rule = newRule(text, start);
  const count = Number(/COUNT=\+?(\d+)/.exec(text)?.[1] ?? 0);
  if (count === 0) return { start, rule, isTooLong: false, gaps: [] };
  const { starts, isTooLong } = firstStarts(rule, count);
  const last = starts[count - 1];
  const until = last === undefined ? "" : `;UNTIL=${stampOf(last)}`;
  const uncounted = text.replace(/;?COUNT=\+?\d+/, "") + until;
  return { start, rule: newRule(uncounted, start), isTooLong, gaps: [] };
}

/** Writes UNTIL in local time and adds the weekday that BYWEEKNO takes from the start. */
function completeRule(rrule: string, start: number, timeZone: string): string {
  const text = rrule.replace(/UNTIL=([^;]+)/, (_, until: string) => {
    const [date = "", time = "235959"] = until.replace("Z", "").split("T");
    const at = Date.parse(
      `${date}T${time}Z`.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5"),
    );
    return `UNTIL=${stampOf(until.endsWith("Z") ? toLocal(at, timeZone) : at)}`;
  });
  const needsDay = /BYWEEKNO/.test(text) && !/BYDAY/.test(text);
  const day = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"][new Date(start).getUTCDay()];
  return needsDay ? `${text};BYDAY=${day}` : text;
}

/** Formats a time as RFC 5545 does: `20270131T220000Z`. */
const stampOf = (at: number) => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");

/** Loaded with the first rule: parsing 180 kB would delay the start. */
const library = () => require("rrule-temporal") as typeof import("rrule-temporal");

function newRule(text: string, start: number): RRuleTemporal {
  const { RRuleTemporal } = library();
  const frequency = /FREQ=(\w+)/.exec(text)?.[1] as keyof typeof maxPeriods;
  return new RRuleTemporal({
    rruleString: `DTSTART:${stampOf(start)}\nRRULE:${text}`,
    maxIterations: maxPeriods[frequency],
    maxCandidateEvaluations: maxCandidates,
    cache: false,
  });
}

/** Returns the first starts of a rule, fewer if it ends or exceeds a bound. */
function firstStarts(rule: RRuleTemporal, limit: number) {
  const starts: number[] = [];
  const isTooLong = exceedsBound(() =>
    rule.all(({ epochMilliseconds }) => starts.push(epochMilliseconds) < limit),
  );
  return { starts, isTooLong };
}

/** Yields local starts from `from` to `to`; without an end one query finds one start. */
function* localStarts(series: Series, from: number, to: number): Generator<number> {
  let at = from;
  while (at <= to) {
    const next = nextStart(series, at);
    if (next > to || next === Infinity) return;
    const last = to === Infinity ? next : Math.min(to, next + chunkMs);
    yield* last === next ? [next] : startsBetween(series, next, last);
    at = last + 1;
  }
}

/** Finds the first local start at or after `from`; `Infinity` if there is none within the bounds. */
function nextStart(series: Series, from: number): number {
  const known = series.gaps.find((gap) => gap.from <= from && from <= gap.to);
  if (known !== undefined) return known.to;
  const rest = series.start % 1000;
  let to = Infinity;
  exceedsBound(() => {
    const found = series.rule.next(new Date(from - rest), true);
    if (found !== null) to = found.epochMilliseconds + rest;
  });
  if (to - from >= longGapMs)
    series.gaps = [{ from, to }, ...series.gaps.filter((gap) => gap.to !== to)].slice(0, 8);
  return to;
}

function startsBetween({ rule, start }: Series, from: number, to: number): number[] {
  const rest = start % 1000;
  const found = rule.between(new Date(from - rest), new Date(to - rest), true);
  return found.map(({ epochMilliseconds }) => epochMilliseconds + rest);
}

/** Returns whether a search exceeded the maximum of candidates. Reaching the maximum of periods does not count. */
function exceedsBound(search: () => unknown): boolean {
  try {
    search();
    return false;
  } catch (error) {
    const [bound] = /^Maximum (iterations|candidate)/.exec((error as Error).message) ?? [];
    if (bound === undefined) throw error;
    return bound === "Maximum candidate";
  }
}
