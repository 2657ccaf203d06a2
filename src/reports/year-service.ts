/** Builds the report of a year: the figures of the whole year, and the uptime of each month. */
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import type { Scope } from "../events/scope.ts";
import {
  combineFigures,
  computeTermsRatio,
  countOutagesWithin,
  createEmptyDays,
  formatZonedMonth,
  listMonths,
  type Seconds,
  type Span,
  splitPeriods,
  type ReportTerms,
  getYearSpan,
  zeroSeconds,
} from "./rules.ts";
import type { Outage, ReportRow, YearReport, YearReportQuery } from "./schema.ts";
import {
  buildGroups,
  buildRows,
  findTargets,
  limitRows,
  resolveSpan,
  resolveSubject,
  runInReportTurn,
  splitMonitors,
} from "./service.ts";
import {
  findIncidentsInSpan,
  findReportedMonitors,
  type ReportedMonitor,
  sumPeriods,
} from "./store.ts";

/** Returns the report of a year, by default the current one. Throws NOT_FOUND, VALIDATION_ERROR. */
export const getYearReport = (scope: Scope, query: YearReportQuery): Promise<YearReport> =>
  runInReportTurn(scope, () => createYearReport(scope, query));

async function createYearReport(scope: Scope, query: YearReportQuery): Promise<YearReport> {
  const wishedZone = query.timeZone ?? (await getOwnOrganization(scope)).timeZone;
  const year = query.year ?? formatZonedMonth(scope.clock(), wishedZone).slice(0, 4);
  const { span, isRunning, timeZone } = await resolveSpan(
    scope,
    "year",
    (zone) => getYearSpan(year, zone),
    wishedZone,
  );
  const { wanted, slaTarget: own, ...subject } = await resolveSubject(scope, query);
  const targets = await findTargets(scope, query.slaTarget ?? own);
  const terms: ReportTerms = { slaTarget: targets.whole, maintenance: query.maintenance };
  const termsOf = (groupId: string | null) => ({ ...terms, slaTarget: targets.of(groupId) });
  const reported = await findReportedMonitors(scope, wanted);
  const ids = reported.map(({ id }) => id);
  const incidents = await findIncidentsInSpan(scope, span, wanted && ids, 0);
  const { rows, outages } = await buildRows(scope, reported, span, {
    termsOf,
    incidents: incidents.ofMonitor,
    daysOf: () => createEmptyDays(0),
  });
  const areOutagesKnown = rows.every((row) => row.outages !== null);
  const months = await readMonths(scope, reported, listMonths(year, timeZone, span.to));
  const sumOf = (sums: ReadonlyMap<string, Seconds>, members: readonly { id: string }[]) =>
    addSeconds(members.flatMap(({ id }) => sums.get(id) ?? []));
  const ratiosOf = (members: readonly { id: string }[]) =>
    months.map(({ sums }) => computeTermsRatio(sumOf(sums, members), terms));
  const members = Map.groupBy(rows, ({ groupId }) => groupId);
  return {
    year,
    timeZone,
    from: formatTimestamp(span.from),
    to: formatTimestamp(span.to),
    isRunning,
    subject,
    ...terms,
    monitorCount: rows.length,
    summary: combineFigures(rows, incidents.total, span, terms),
    months: months.map(({ sums, ...month }) =>
      summarizeMonth(month, sumOf(sums, rows), areOutagesKnown ? outages : null, terms),
    ),
    groups: (await buildGroups(scope, rows, span, { groups: targets.groups, termsOf })).map(
      (group) => ({ ...group, ratios: ratiosOf(members.get(group.id) ?? []) }),
    ),
    monitors: limitRows<ReportRow>(rows).map((row) => ({ ...row, ratios: ratiosOf([row]) })),
  };
}

type Month = { month: string; span: Span; isRunning: boolean };

/** Reads the sums of each monitor in each month, by the ID of the monitor. */
async function readMonths(
  { store }: Scope,
  reported: readonly ReportedMonitor[],
  months: readonly Month[],
) {
  const found: (Month & { sums: Map<string, Seconds> })[] = [];
  for (const month of months) {
    const sums = new Map<string, Seconds>();
    const periods = splitPeriods(month.span);
    for await (const portion of splitMonitors(reported)) {
      const keys = portion.map(({ key }) => key);
      const byKey = await sumPeriods(store, keys, periods);
      for (const { key, id } of portion) {
        const { measured: _measured, ...seconds } = byKey.get(key) ?? {
          measured: null,
          ...zeroSeconds,
        };
        sums.set(id, seconds);
      }
    }
    await Bun.sleep(0);
    found.push({ ...month, sums });
  }
  return found;
}

function addSeconds(all: readonly Seconds[]): Seconds {
  const total = { ...zeroSeconds };
  for (const one of all)
    for (const name of Object.keys(total) as (keyof Seconds)[]) total[name] += one[name];
  return total;
}

function summarizeMonth(
  { month, span, isRunning }: Month,
  seconds: Seconds,
  /** Null if the history of states is incomplete. */
  outages: readonly Outage[] | null,
  terms: ReportTerms,
): YearReport["months"][number] {
  const ratio = computeTermsRatio(seconds, terms);
  const { slaTarget } = terms;
  return {
    month,
    isRunning,
    ratio,
    ...seconds,
    outages: outages && countOutagesWithin(outages, span),
    isMet: slaTarget === null || ratio === null ? null : ratio >= slaTarget,
  };
}
