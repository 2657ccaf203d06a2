import { timestamp } from "../core/time/clock.ts";
import { csvRow } from "../core/text/words.ts";
import { toInstant, toLocal } from "../core/time/time-zones.ts";
import { beginOfSpan, dayMs, hourMs, ratioOf, type Seconds } from "../monitoring/uptime/rules.ts";
import type { Outage, Report, ReportFigures } from "./schema.ts";

export type { Seconds };

/** A month of a zone's calendar: `from` is part of it, `to` is not. */
export type Span = { from: number; to: number };

export function monthIn(month: string, timeZone: string): Span {
  const [year = 0, number = 0] = month.split("-").map(Number);
  const beginOf = (index: number) => toInstant(Date.UTC(year, index, 1), timeZone);
  return { from: beginOf(number - 1), to: beginOf(number) };
}

/** The month that a zone's clocks show, such as `2026-11`. */
export const monthAt = (at: number, timeZone: string) =>
  timestamp(toLocal(at, timeZone)).slice(0, 7);

/** Whole periods of sums that a span is made of: an hour or a day belongs to where it begins. */
export type Periods = { hours: number[]; days: number[] };

/** Whole days of UTC, and the hours before and after them: their sums are equal, and days are fewer. */
export function periodsOf({ from, to }: Span): Periods {
  const [firstHour, endHour] = [Math.ceil(from / hourMs), Math.ceil(to / hourMs)];
  const perDay = dayMs / hourMs;
  const [firstDay, endDay] = [Math.ceil(firstHour / perDay), Math.floor(endHour / perDay)];
  if (firstDay >= endDay) return { hours: range(firstHour, endHour), days: [] };
  return {
    hours: [...range(firstHour, firstDay * perDay), ...range(endDay * perDay, endHour)],
    days: range(firstDay, endDay),
  };
}

const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** When a state began; `isDown` says which. */
export type StateBegun = { isDown: boolean; at: number; message: string | null };

/** Times in which a monitor was down, as far as they touch the span; the states come oldest first. */
export function outagesOf(
  monitorId: string,
  states: readonly StateBegun[],
  { from, to }: Span,
): Outage[] {
  const outages: Outage[] = [];
  let begun: StateBegun | null = null;
  const end = (at: number | null) => {
    if (begun === null) return;
    // A clock that is put back may end one before it began.
    const until = Math.max(begun.at, Math.min(at ?? to, to));
    if (until > from)
      outages.push({
        monitorId,
        from: timestamp(begun.at),
        to: at === null || at > to ? null : timestamp(until),
        seconds: Math.round((until - Math.max(begun.at, from)) / 1000),
        message: begun.message,
      });
    begun = null;
  };
  for (const state of states) {
    if (state.at >= to) break;
    if (state.isDown) begun ??= state;
    else end(state.at);
  }
  end(null);
  return outages;
}

/** What was found of one monitor. */
type Found = {
  seconds: Seconds;
  createdAt: number;
  /** Where the first measured hour or day of the span begins, and how long it is. */
  measured: { at: number; length: number } | null;
  /** Null where the history of states does not go back so far. */
  outages: readonly Outage[] | null;
  incidents: number;
};

export function figuresOf(found: Found, span: Span, slaTarget: number | null): ReportFigures {
  const { measured, createdAt } = found;
  const begin = beginOfSpan(span.from, createdAt, measured?.at ?? null, measured?.length ?? 0);
  return {
    from: timestamp(Math.min(begin, span.to)),
    isPartial: begin > span.from,
    ...judged(found.seconds, found.outages && lengthsOf(found.outages), slaTarget),
    incidents: found.incidents,
  };
}

/** How many outages there were, and how long. */
type Lengths = { count: number; seconds: number; longest: number };

const lengthsOf = (outages: readonly Outage[]): Lengths => ({
  count: outages.length,
  seconds: outages.reduce((sum, { seconds }) => sum + seconds, 0),
  longest: Math.max(0, ...outages.map(({ seconds }) => seconds)),
});

function judged(seconds: Seconds, outages: Lengths | null, slaTarget: number | null) {
  const ratio = ratioOf(seconds);
  const { upSeconds, degradedSeconds, downSeconds, unknownSeconds, maintenanceSeconds } = seconds;
  const isMean = outages !== null && outages.count > 0;
  return {
    ratio,
    upSeconds,
    degradedSeconds,
    downSeconds,
    unknownSeconds,
    maintenanceSeconds,
    outages: outages && outages.count,
    mttrSeconds: isMean ? outages.seconds / outages.count : null,
    mtbfSeconds: isMean ? (upSeconds + degradedSeconds) / outages.count : null,
    longestOutageSeconds: outages && outages.longest,
    isMet: slaTarget === null || ratio === null ? null : ratio >= slaTarget,
  };
}

/** What several monitors come to together: every figure is the sum of theirs, or made of such sums. */
export function together(
  all: readonly ReportFigures[],
  incidents: number,
  span: Span,
  slaTarget: number | null,
): ReportFigures {
  const seconds: Seconds = {
    upSeconds: 0,
    degradedSeconds: 0,
    downSeconds: 0,
    unknownSeconds: 0,
    maintenanceSeconds: 0,
  };
  let outages: Lengths | null = { count: 0, seconds: 0, longest: 0 };
  let from = all.length === 0 ? timestamp(span.from) : timestamp(span.to);
  for (const one of all) {
    for (const name of Object.keys(seconds) as (keyof Seconds)[]) seconds[name] += one[name];
    outages = outages && bothOf(outages, one);
    if (one.from < from) from = one.from;
  }
  return {
    from,
    isPartial: Date.parse(from) > span.from,
    ...judged(seconds, outages, slaTarget),
    incidents,
  };
}

function bothOf(
  { count, seconds, longest }: Lengths,
  { outages, mttrSeconds, longestOutageSeconds }: ReportFigures,
): Lengths | null {
  if (outages === null) return null;
  return {
    count: count + outages,
    seconds: seconds + Math.round((mttrSeconds ?? 0) * outages),
    longest: Math.max(longest, longestOutageSeconds ?? 0),
  };
}

const columns = [
  "kind",
  "id",
  "name",
  "group",
  "month",
  "timeZone",
  "from",
  "to",
  "uptimePercent",
  "upSeconds",
  "degradedSeconds",
  "downSeconds",
  "unknownSeconds",
  "maintenanceSeconds",
  "outages",
  "mttrSeconds",
  "mtbfSeconds",
  "longestOutageSeconds",
  "incidents",
  "slaTargetPercent",
  "slaMet",
];

const cell = (value: number | null) => (value === null ? "" : String(Math.round(value)));
// No more digits than are right; a share of 1 alone is 100.
const percent = (share: number | null) =>
  share === null ? "" : String(Math.floor(share * 1e8 + 1e-4) / 1e6);

/** The report as CSV (RFC 4180): a line for the whole, for each group, and for each monitor. */
export function csvOf({ subject, summary, groups, monitors, ...report }: Report): string {
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const row = (kind: string, id: string, name: string, group: string, one: ReportFigures) =>
    csvRow([
      kind,
      id,
      name,
      group,
      report.month,
      report.timeZone,
      one.from,
      report.to,
      percent(one.ratio),
      cell(one.upSeconds),
      cell(one.degradedSeconds),
      cell(one.downSeconds),
      cell(one.unknownSeconds),
      cell(one.maintenanceSeconds),
      cell(one.outages),
      cell(one.mttrSeconds),
      cell(one.mtbfSeconds),
      cell(one.longestOutageSeconds),
      cell(one.incidents),
      percent(report.slaTarget),
      one.isMet === null ? "" : one.isMet ? "yes" : "no",
    ]);
  return [
    csvRow(columns),
    row(subject.type, subject.id, subject.name, "", summary),
    ...(subject.type === "monitor"
      ? []
      : [
          ...groups.map((group) => row("group", group.id ?? "", group.name, "", group)),
          ...monitors.map((one) =>
            row("monitor", one.id, one.name, names.get(one.groupId) ?? "", one),
          ),
        ]),
  ].join("");
}
