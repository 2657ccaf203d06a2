/** Computes when maintenance windows occur. Evaluates rules with `rrule-temporal` in local time and limits its work. */
import type { RRuleTemporal } from "rrule-temporal";
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";
import { neverOccursIssue, findRruleIssue, tooOftenIssue } from "./rrule-rules.ts";
import type { MaintenanceState } from "./schema.ts";

/** Times of a window: from `startsAt` to `endsAt`, repeated by `rrule`. */
export type Times = { startsAt: string; endsAt: string; timeZone: string; rrule: string | null };

/** One occurrence in Unix milliseconds; `end` is exclusive. */
export type Occurrence = { start: number; end: number };

export const maxLengthMs = 31 * dayMs;
/** How far ahead the next occurrence of a window is searched: 50 years. */
export const searchSpanMs = 50 * 366 * dayMs;
/** Minimum length of a gap between occurrences to cache. Long gaps are slow to search. */
const longGapMs = 100 * dayMs;
const maxSeries = 10_000;
/** Maximum periods to search for an occurrence: 50 years. For hours 10,000, because the search skips empty days. */
const maxPeriods = { YEARLY: 50, MONTHLY: 600, WEEKLY: 2_610, DAILY: 18_263, HOURLY: 10_000 };
/** Maximum candidates per search from which BYSETPOS selects. */
const maxCandidates = 20_000;
/** Number of occurrences whose distances are checked when a rule is saved. */
const sampleSize = 400;
/** Span of one query: long enough for the times around now, because a situation reaches back for a day. */
const minChunkMs = 3 * dayMs;
/** Spans of queries differ by up to this many hours, so that windows do not all need new times at the same moment. */
const chunkSpread = 96;
const maxChunks = 4;
/** Upper bound for a change of a local clock, such as to summer time. */
const largestShiftMs = dayMs;

/** Returns the invalid field and the reason; null for valid times. */
export function findTimesIssue(times: Times): { path: string; message: string } | null {
  const lengthMs = computeLength(times);
  if (lengthMs <= 0) return { path: "endsAt", message: "must be after startsAt" };
  if (lengthMs > maxLengthMs)
    return { path: "endsAt", message: "must be at most 31 days after startsAt" };
  const message = times.rrule === null ? null : findRecurrenceIssue(times, times.rrule, lengthMs);
  return message === null ? null : { path: "rrule", message };
}

function findRecurrenceIssue(times: Times, rrule: string, lengthMs: number): string | null {
  const issue = findRruleIssue(rrule);
  if (issue !== null) return issue;
  const series = getSeries(times);
  const { starts, isTooLong } = listFirstStarts(series.rule, sampleSize);
  if (series.isTooLong || isTooLong)
    return "must be simpler: finding its times takes too long (see BYSETPOS, COUNT and the other lists)";
  if (starts.length === 0) return neverOccursIssue;
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  if (gaps.some((gap) => gap < hourMs)) return tooOftenIssue;
  if (gaps.some((gap) => gap < lengthMs)) return "must not repeat before endsAt";
  return null;
}

/** Returns the length in milliseconds. Whole local days count as 24 hours each, even when clocks change. */
function computeLength(times: Times): number {
  return computeWholeDays(times) ?? Date.parse(times.endsAt) - Date.parse(times.startsAt);
}

/** Returns the length by the local clock, in milliseconds; null unless it is whole days. */
function computeWholeDays({ startsAt, endsAt, timeZone }: Times): number | null {
  const localMs = toLocal(Date.parse(endsAt), timeZone) - toLocal(Date.parse(startsAt), timeZone);
  return localMs > 0 && localMs % dayMs === 0 ? localMs : null;
}

/** An occurrence's start, also as the local time of the rule, which a clock change can skip. */
type Start = { at: number; local: number };

/**
 * Returns the end of an occurrence. Whole days end at the same local time, as a nominal duration of RFC 5545 §3.3.6. Other
 * lengths are exact.
 */
function computeEnd(times: Times, start: Start, days: number | null): number {
  const [first, end] = [Date.parse(times.startsAt), Date.parse(times.endsAt)];
  if (start.at === first) return end;
  return days === null ? start.at + end - first : toInstant(start.local + days, times.timeZone);
}

type Situation = { state: MaintenanceState; current: Occurrence | null; next: Occurrence | null };

/** Returns a window's state at `now`, the current occurrence and the next one. */
export function computeSituation(times: Times, now: number): Situation {
  if (times.rrule === null) return searchSituation(times, now);
  const series = getSeries(times);
  const { known } = series;
  if (known?.endsAt === times.endsAt && known.from <= now && now < known.until)
    return known.situation;
  const situation = searchSituation(times, now);
  const { current, next } = situation;
  const until = Math.min(current?.end ?? Infinity, next?.start ?? Infinity);
  series.known = { endsAt: times.endsAt, from: now, until, situation };
  return situation;
}

function searchSituation(times: Times, now: number): Situation {
  let current: Occurrence | null = null;
  for (const occurrence of generateOccurrences(times, now)) {
    if (occurrence.start <= now) current = occurrence;
    else return { state: current ? "running" : "scheduled", current, next: occurrence };
  }
  return { state: current ? "running" : "over", current, next: null };
}

/** Returns at most `limit` occurrences that overlap the span, oldest first. `to` is exclusive. */
export function listOccurrences(times: Times, from: number, to: number, limit: number) {
  const found: Occurrence[] = [];
  for (const occurrence of generateOccurrences(times, from, to)) {
    if (occurrence.start >= to || found.length >= limit) break;
    found.push(occurrence);
  }
  return found;
}

/**
 * Yields occurrences that end after `from`, in order, at least until `to`. Each has the length of the first
 * (RFC 5545 §3.8.2.2), but ends when the next one starts. Skipped local times use the offset before the change;
 * ambiguous times use the first offset (§3.3.5).
 */
function* generateOccurrences(times: Times, from: number, to = Infinity): Generator<Occurrence> {
  const days = computeWholeDays(times);
  const reachMs = computeLength(times) + largestShiftMs;
  let start: Start | null = null;
  for (const next of generateStarts(times, from - reachMs, to + reachMs)) {
    if (start !== null && next.at <= start.at) continue;
    if (start !== null) {
      const end = Math.min(computeEnd(times, start, days), next.at);
      if (end > from) yield { start: start.at, end };
    }
    start = next;
  }
  if (start === null) return;
  const end = computeEnd(times, start, days);
  if (end > from) yield { start: start.at, end };
}

function* generateStarts(times: Times, from: number, to: number): Generator<Start> {
  const first = Date.parse(times.startsAt);
  if (times.rrule === null) {
    yield { at: first, local: first };
    return;
  }
  const series = getSeries(times);
  const earliest = toLocal(from, times.timeZone) - largestShiftMs;
  const latest = to === Infinity ? to : toLocal(to, times.timeZone) + largestShiftMs;
  for (const local of generateLocalStarts(series, earliest, latest))
    yield { at: local === series.start ? first : toInstant(local, times.timeZone), local };
}

/** All occurrence starts from `from` to `end`. */
type Chunk = { from: number; end: number; starts: readonly number[] };

/** A parsed rule. Its times are local milliseconds, as if the local clock were UTC. */
type Series = {
  start: number;
  /** Rule with UNTIL instead of COUNT, so that a query can start at any time. */
  rule: RRuleTemporal;
  /** Whether the search for the last occurrence of COUNT exceeded a limit. */
  isTooLong: boolean;
  /** Long spans without a start. `to` is the next start, or `Infinity` if there is none. */
  gaps: { from: number; to: number }[];
  chunkMs: number;
  chunks: readonly Chunk[];
  /** The last situation of a window with this end, which lasts until an occurrence starts or ends. */
  known: { endsAt: string; from: number; until: number; situation: Situation } | null;
};

const seriesCache = new Map<string, Series>();

/** Returns the series of a rule from a cache, which evicts the least recently used series. */
function getSeries(times: Times): Series {
  const key = `${times.startsAt} ${times.timeZone} ${times.rrule}`;
  const series = seriesCache.get(key) ?? createSeries(times);
  seriesCache.delete(key);
  seriesCache.set(key, series);
  for (const oldest of seriesCache.keys()) {
    if (seriesCache.size <= maxSeries) break;
    seriesCache.delete(oldest);
  }
  return series;
}

function createSeries({ startsAt, timeZone, rrule }: Times): Series {
  const start = toLocal(Date.parse(startsAt), timeZone);
  const text = completeRule((rrule ?? "").toUpperCase(), start, timeZone);
  const rule = createRule(text, start);
  const count = Number(/COUNT=\+?(\d+)/.exec(text)?.[1] ?? 0);
  const chunkMs = minChunkMs + (seriesCache.size % chunkSpread) * hourMs;
  const cached = { start, chunkMs, chunks: [], gaps: [], known: null };
  if (count === 0) return { ...cached, rule, isTooLong: false };
  const { starts, isTooLong } = listFirstStarts(rule, count);
  const last = starts[count - 1];
  const until = last === undefined ? "" : `;UNTIL=${formatStamp(last)}`;
  const uncounted = text.replace(/;?COUNT=\+?\d+/, "") + until;
  return { ...cached, rule: createRule(uncounted, start), isTooLong };
}

/** Converts UNTIL to local time. Adds the weekday of the start to a BYWEEKNO without BYDAY. */
function completeRule(rrule: string, start: number, timeZone: string): string {
  const text = rrule.replace(/UNTIL=([^;]+)/, (_, until: string) => {
    const [date = "", time = "235959"] = until.replace("Z", "").split("T");
    const at = Date.parse(
      `${date}T${time}Z`.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5"),
    );
    return `UNTIL=${formatStamp(until.endsWith("Z") ? toLocal(at, timeZone) : at)}`;
  });
  const needsDay = /BYWEEKNO/.test(text) && !/BYDAY/.test(text);
  const day = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"][new Date(start).getUTCDay()];
  return needsDay ? `${text};BYDAY=${day}` : text;
}

/** Formats a time in the notation of RFC 5545: `20270131T220000Z`. */
const formatStamp = (at: number) => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");

/** Loads the library with the first rule, because parsing 180 kB would delay the start of the appliance. */
const loadLibrary = () => require("rrule-temporal") as typeof import("rrule-temporal");

function createRule(text: string, start: number): RRuleTemporal {
  const { RRuleTemporal } = loadLibrary();
  const frequency = /FREQ=(\w+)/.exec(text)?.[1] as keyof typeof maxPeriods;
  return new RRuleTemporal({
    rruleString: `DTSTART:${formatStamp(start)}\nRRULE:${text}`,
    maxIterations: maxPeriods[frequency],
    maxCandidateEvaluations: maxCandidates,
    cache: false,
  });
}

/** Returns the first `limit` starts of a rule, or fewer if it ends or exceeds a limit on its work. */
function listFirstStarts(rule: RRuleTemporal, limit: number) {
  const starts: number[] = [];
  const isTooLong = exceedsBound(() =>
    rule.all(({ epochMilliseconds }) => starts.push(epochMilliseconds) < limit),
  );
  return { starts, isTooLong };
}

/** Yields local starts from `from` to `to`, which can be `Infinity`. */
function* generateLocalStarts(series: Series, from: number, to: number): Generator<number> {
  let at = from;
  while (at <= to) {
    const { starts, end } = getChunk(series, at);
    for (const start of starts) {
      if (start > to) return;
      if (start >= at) yield start;
    }
    if (end === Infinity) return;
    at = end + 1;
  }
}

/** Returns a chunk of starts that contains `at`, from a cache of the last few: pages read past and future times. */
function getChunk(series: Series, at: number): Chunk {
  const known = series.chunks.find((chunk) => chunk.from <= at && at <= chunk.end);
  if (known !== undefined) return known;
  const next = findNextStart(series, at);
  const end = next + series.chunkMs;
  const starts = next === Infinity ? [] : listStarts(series, next, end);
  const chunk = { from: at, end, starts };
  series.chunks = [chunk, ...series.chunks.slice(0, maxChunks - 1)];
  return chunk;
}

/** Finds the first local start at or after `from`; `Infinity` if the search finds none within its limits. */
function findNextStart(series: Series, from: number): number {
  const known = series.gaps.find((gap) => gap.from <= from && from <= gap.to);
  if (known !== undefined) return known.to;
  const milliseconds = series.start % 1000;
  let to = Infinity;
  exceedsBound(() => {
    const found = series.rule.next(new Date(from - milliseconds), true);
    if (found !== null) to = found.epochMilliseconds + milliseconds;
  });
  if (to - from >= longGapMs)
    series.gaps = [{ from, to }, ...series.gaps.filter((gap) => gap.to !== to)].slice(0, 8);
  return to;
}

function listStarts({ rule, start }: Series, from: number, to: number): number[] {
  const milliseconds = start % 1000;
  const found = rule.between(new Date(from - milliseconds), new Date(to - milliseconds), true);
  return found.map(({ epochMilliseconds }) => epochMilliseconds + milliseconds);
}

/** Whether a search exceeds the maximum of candidates. Exceeding the maximum of periods only ends the search. */
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
