/** Computes the outages, uptime and other figures of a monthly report, and writes the report as CSV. */
import { addMonths, formatTimestamp, dayMs, hourMs } from "../core/time/clock.ts";
import { formatCsvRow } from "../core/text/formatting.ts";
import { toInstant, toLocal } from "../core/time/time-zones.ts";
import {
  computeRatio,
  computeSpanStart,
  determineTone,
  type Seconds,
} from "../monitoring/uptime/rules.ts";
import type { Outage, Report, ReportDay, ReportFigures, ReportRow } from "./schema.ts";

export type { Seconds };

/** How figures are judged: the target, and whether time in maintenance is left out or counts as down time. */
export type ReportTerms = Pick<Report, "slaTarget" | "maintenance">;

/** Returns the uptime by these terms; null without measurements. */
export const computeTermsRatio = (
  seconds: Seconds,
  { maintenance }: Pick<ReportTerms, "maintenance">,
) =>
  computeRatio(
    maintenance === "excluded"
      ? seconds
      : { ...seconds, downSeconds: seconds.downSeconds + seconds.maintenanceSeconds },
  );

/** A calendar month in a time zone: `from` inclusive, `to` exclusive. */
export type Span = { from: number; to: number };

export function getMonthSpan(month: string, timeZone: string): Span {
  const [year = 0, number = 0] = month.split("-").map(Number);
  const startOfMonth = (index: number) => toInstant(Date.UTC(year, index, 1), timeZone);
  return { from: startOfMonth(number - 1), to: startOfMonth(number) };
}

export const getYearSpan = (year: string, timeZone: string): Span => ({
  from: getMonthSpan(`${year}-01`, timeZone).from,
  to: getMonthSpan(`${year}-12`, timeZone).to,
});

/** Lists the months of a year that have begun, each with its elapsed part. */
export function listMonths(
  year: string,
  timeZone: string,
  now: number,
): { month: string; span: Span; isRunning: boolean }[] {
  return Array.from({ length: 12 }, (_, index) => {
    const month = `${year}-${String(index + 1).padStart(2, "0")}`;
    const { from, to } = getMonthSpan(month, timeZone);
    return { month, span: { from, to: Math.min(to, now) }, isRunning: to > now };
  }).filter(({ span }) => span.from <= now);
}

/** Counts the outages that overlap with a range. */
export const countOutagesWithin = (
  outages: readonly Pick<Outage, "from" | "to">[],
  { from, to }: Span,
): number =>
  outages.filter(
    (one) => Date.parse(one.from) < to && (one.to === null || Date.parse(one.to) > from),
  ).length;

/** Returns the month of a time in a time zone, such as `2026-11`. */
export const formatZonedMonth = (at: number, timeZone: string) =>
  formatTimestamp(toLocal(at, timeZone)).slice(0, 7);

/** A completed week or month. `key` is its month, or the date of its Monday. */
export type CompletedPeriod = { key: string; span: Span };

/** Returns the last week, from Monday to Sunday, or month that was over at a time in a time zone. */
export function findLastPeriod(
  interval: "weekly" | "monthly",
  now: number,
  timeZone: string,
): CompletedPeriod {
  if (interval === "monthly") {
    const key = addMonths(formatZonedMonth(now, timeZone), -1);
    return { key, span: getMonthSpan(key, timeZone) };
  }
  const today = Math.floor(toLocal(now, timeZone) / dayMs);
  // 1 January 1970 was a Thursday.
  const monday = today - ((today + 3) % 7) - 7;
  const [from, to] = [monday, monday + 7].map((day) => toInstant(day * dayMs, timeZone));
  return {
    key: formatTimestamp(monday * dayMs).slice(0, 10),
    span: { from: from ?? 0, to: to ?? 0 },
  };
}

/** Hours and days of a range. A period belongs to the range that contains its start. */
export type Periods = { hours: number[]; days: number[] };

/** Splits a range into whole UTC days and the hours around them, which have the same sums in fewer rows. */
export function splitPeriods({ from, to }: Span): Periods {
  const [firstHour, endHour] = [Math.ceil(from / hourMs), Math.ceil(to / hourMs)];
  const perDay = dayMs / hourMs;
  const [firstDay, endDay] = [Math.ceil(firstHour / perDay), Math.floor(endHour / perDay)];
  if (firstDay >= endDay) return { hours: createRange(firstHour, endHour), days: [] };
  return {
    hours: [...createRange(firstHour, firstDay * perDay), ...createRange(endDay * perDay, endHour)],
    days: createRange(firstDay, endDay),
  };
}

const createRange = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** Lists the UTC days of a month as their numbers since 1970, for a running month until today. */
export function listReportDays({ from, to }: Span, isRunning: boolean): number[] {
  const end = isRunning ? Math.ceil(to / dayMs) : Math.round(to / dayMs);
  return createRange(Math.min(Math.round(from / dayMs), end - 1), end);
}

/** The days of a row: the worst status of each, and its share of down time. */
export type RowDays = Pick<ReportRow, "days" | "downRatios">;

export const createEmptyDays = (count: number): RowDays => ({
  days: Array.from({ length: count }, () => "none"),
  downRatios: Array.from({ length: count }, () => 0),
});

/** The share of measured time that was down, with three significant digits. */
function computeDownRatio({ upSeconds, degradedSeconds, downSeconds }: Seconds): number {
  const measured = upSeconds + degradedSeconds + downSeconds;
  return measured === 0 ? 0 : Number((downSeconds / measured).toPrecision(3));
}

/** Figures of each day, and the days of each monitor key. */
export function summarizeDays(
  days: readonly number[],
  rows: readonly (Seconds & { key: number; day: number })[],
  terms: Pick<ReportTerms, "maintenance">,
): { days: ReportDay[]; byKey: Map<number, RowDays> } {
  const indexOf = new Map(days.map((day, index) => [day, index]));
  const totals = days.map(() => ({ ...zeroSeconds }));
  const byKey = new Map<number, RowDays>();
  for (const { key, day, ...sums } of rows) {
    const index = indexOf.get(day) ?? 0;
    const total = totals[index];
    if (total === undefined) continue;
    for (const name of Object.keys(total) as (keyof Seconds)[]) total[name] += sums[name];
    const row = byKey.get(key) ?? createEmptyDays(days.length);
    row.days[index] = determineTone(sums);
    row.downRatios[index] = computeDownRatio(sums);
    byKey.set(key, row);
  }
  return {
    days: totals.map((total, index) => ({
      date: formatTimestamp((days[index] ?? 0) * dayMs).slice(0, 10),
      tone: determineTone(total),
      ratio: computeTermsRatio(total, terms),
      upSeconds: total.upSeconds,
      degradedSeconds: total.degradedSeconds,
      downSeconds: total.downSeconds,
      maintenanceSeconds: total.maintenanceSeconds,
    })),
    byKey,
  };
}

const rankedStates: readonly RowDays["days"][number][] = [
  "down",
  "degraded",
  "up",
  "maintenance",
  "none",
];

/** The worst status of each day of several monitors, and the mean of their shares of down time. */
export function combineDays(all: readonly RowDays[]): RowDays {
  const combined = createEmptyDays(all[0]?.days.length ?? 0);
  for (const index of combined.days.keys()) {
    combined.days[index] =
      rankedStates.find((tone) => all.some(({ days }) => days[index] === tone)) ?? "none";
    const measured = all.filter(({ days }) => isMeasured(days[index]));
    const sum = measured.reduce((total, { downRatios }) => total + (downRatios[index] ?? 0), 0);
    combined.downRatios[index] = sum === 0 ? 0 : Number((sum / measured.length).toPrecision(3));
  }
  return combined;
}

const isMeasured = (tone: RowDays["days"][number] | undefined) =>
  tone !== undefined && tone !== "none" && tone !== "maintenance";

export const zeroSeconds: Seconds = {
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  unknownSeconds: 0,
  maintenanceSeconds: 0,
};

/** Start of a monitor's state. */
export type StateStart = { isDown: boolean; at: number; message: string | null };

/** Derives the outages of a monitor within the range. `states` must be sorted, oldest first. */
export function findOutages(
  monitorId: string,
  states: readonly StateStart[],
  { from, to }: Span,
): Outage[] {
  const outages: Outage[] = [];
  let startedOutage: StateStart | null = null;
  const endOutage = (at: number | null) => {
    if (startedOutage === null) return;
    // After a clock correction a state can end before its start.
    const until = Math.max(startedOutage.at, Math.min(at ?? to, to));
    if (until > from)
      outages.push({
        monitorId,
        from: formatTimestamp(startedOutage.at),
        to: at === null || at > to ? null : formatTimestamp(until),
        seconds: Math.round((until - Math.max(startedOutage.at, from)) / 1000),
        message: startedOutage.message,
      });
    startedOutage = null;
  };
  for (const state of states) {
    if (state.at >= to) break;
    if (state.isDown) startedOutage ??= state;
    else endOutage(state.at);
  }
  endOutage(null);
  return outages;
}

/** Measurements of one monitor. */
type MeasuredMonitor = {
  seconds: Seconds;
  createdAt: number;
  /** Start and length of the first measured hour or day of the range. */
  measured: { at: number; length: number } | null;
  /** Null if the state history does not cover the range. */
  outages: readonly Outage[] | null;
  incidents: number;
};

export function computeFigures(
  found: MeasuredMonitor,
  span: Span,
  terms: ReportTerms,
): ReportFigures {
  const { measured, createdAt } = found;
  const begin = computeSpanStart(span.from, createdAt, measured?.at ?? null, measured?.length ?? 0);
  return {
    from: formatTimestamp(Math.min(begin, span.to)),
    isPartial: begin > span.from,
    ...computeShares(found.seconds, found.outages && summarizeOutages(found.outages), terms),
    incidents: found.incidents,
  };
}

/** Number and duration of outages. */
type OutageTotals = { count: number; seconds: number; longest: number };

const summarizeOutages = (outages: readonly Outage[]): OutageTotals => ({
  count: outages.length,
  seconds: outages.reduce((sum, { seconds }) => sum + seconds, 0),
  longest: Math.max(0, ...outages.map(({ seconds }) => seconds)),
});

function computeShares(seconds: Seconds, outages: OutageTotals | null, terms: ReportTerms) {
  const ratio = computeTermsRatio(seconds, terms);
  const { slaTarget } = terms;
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
    slaTarget,
    isMet: slaTarget === null || ratio === null ? null : ratio >= slaTarget,
  };
}

/** Combines the figures of several monitors: sums, and means and ratios computed from sums. */
export function combineFigures(
  all: readonly ReportFigures[],
  incidents: number,
  span: Span,
  terms: ReportTerms,
): ReportFigures {
  const seconds = { ...zeroSeconds };
  let outages: OutageTotals | null = { count: 0, seconds: 0, longest: 0 };
  let from = all.length === 0 ? formatTimestamp(span.from) : formatTimestamp(span.to);
  for (const one of all) {
    for (const name of Object.keys(seconds) as (keyof Seconds)[]) seconds[name] += one[name];
    outages = outages && combineOutages(outages, one);
    if (one.from < from) from = one.from;
  }
  return {
    from,
    isPartial: Date.parse(from) > span.from,
    ...computeShares(seconds, outages, terms),
    incidents,
  };
}

function combineOutages(
  { count, seconds, longest }: OutageTotals,
  { outages, mttrSeconds, longestOutageSeconds }: ReportFigures,
): OutageTotals | null {
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
  "maintenance",
];

const formatCell = (value: number | null) => (value === null ? "" : String(Math.round(value)));
// Rounds down to six decimals, so that only a share of 1 becomes 100.
const formatPercent = (share: number | null) =>
  share === null ? "" : String(Math.floor(share * 1e8 + 1e-4) / 1e6);

/** Writes the report as CSV (RFC 4180): a line for the whole report, each group and each monitor. */
export function formatCsv({ subject, summary, groups, monitors, ...report }: Report): string {
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const formatRow = (kind: string, id: string, name: string, group: string, one: ReportFigures) =>
    formatCsvRow([
      kind,
      id,
      name,
      group,
      report.month,
      report.timeZone,
      one.from,
      report.to,
      formatPercent(one.ratio),
      formatCell(one.upSeconds),
      formatCell(one.degradedSeconds),
      formatCell(one.downSeconds),
      formatCell(one.unknownSeconds),
      formatCell(one.maintenanceSeconds),
      formatCell(one.outages),
      formatCell(one.mttrSeconds),
      formatCell(one.mtbfSeconds),
      formatCell(one.longestOutageSeconds),
      formatCell(one.incidents),
      formatPercent(one.slaTarget),
      one.isMet === null ? "" : one.isMet ? "yes" : "no",
      report.maintenance,
    ]);
  return [
    formatCsvRow(columns),
    formatRow(subject.type, subject.id, subject.name, "", summary),
    ...(subject.type === "monitor"
      ? []
      : [
          ...groups.map((group) => formatRow("group", group.id ?? "", group.name, "", group)),
          ...monitors.map((one) =>
            formatRow("monitor", one.id, one.name, names.get(one.groupId) ?? "", one),
          ),
        ]),
  ].join("");
}

/** Names the file of a report after its month, or the first day of its week. */
export function nameReportFile(
  { subject, month, from, timeZone }: Report,
  extension: string,
  interval: "weekly" | "monthly" = "monthly",
): string {
  const firstDay = formatTimestamp(toLocal(Date.parse(from), timeZone)).slice(0, 10);
  const period = interval === "weekly" ? `week-${firstDay}` : month;
  return `report${subject.type === "organization" ? "" : `-${subject.type}`}-${period}.${extension}`;
}
