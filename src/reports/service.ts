/** Builds the monthly report of an organization, as JSON or CSV. */
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import { timestamp } from "../core/time/clock.ts";
import { invalid } from "../core/validation.ts";
import type { Scope } from "../events/scope.ts";
import { perOrganization } from "../events/turns.ts";
import { getGroup } from "../monitoring/groups/service.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import { getStatusPage } from "../status-pages/service.ts";
import {
  csvOf,
  figuresOf,
  monthAt,
  monthIn,
  outagesOf,
  periodsOf,
  type Span,
  together,
} from "./rules.ts";
import type { Outage, Report, ReportGroup, ReportQuery, ReportRow } from "./schema.ts";
import { beginOfSpan } from "../monitoring/uptime/rules.ts";
import {
  groupNames,
  incidentsByGroup,
  incidentsIn,
  oldestEvent,
  oldestHour,
  type Measured,
  type ReportedMonitor,
  reportedMonitors,
  statesIn,
  sumsIn,
  type Wanted,
} from "./store.ts";

/** Monitors per query. Other work can run between two queries. */
const stride = 100;
/** Maximum entries of each list in a response. The CSV has all monitors. */
const most = { monitors: 2_000, outages: 500, incidents: 500 };

type Subject = Report["subject"] & { wanted: Wanted };

/** Finds the subject of a report and its monitors. Throws NOT_FOUND. */
async function subjectOf(scope: Scope, query: ReportQuery): Promise<Subject> {
  const { monitorId, groupId, statusPageId } = query;
  if (monitorId !== undefined) {
    const { id, name } = await getMonitor(scope, monitorId);
    return { type: "monitor", id, name, wanted: { groupIds: [], monitorIds: [id] } };
  }
  if (groupId !== undefined) {
    const { id, name } = await getGroup(scope, groupId);
    return { type: "group", id, name, wanted: { groupIds: [id], monitorIds: [] } };
  }
  if (statusPageId !== undefined) {
    const { id, title, sections } = await getStatusPage(scope, statusPageId);
    const groupIds = sections.flatMap((section) => section.groupId ?? []);
    const free = sections.filter((section) => section.groupId === null);
    const monitorIds = free.flatMap(({ monitors }) => monitors.map((monitor) => monitor.id));
    return { type: "status-page", id, name: title, wanted: { groupIds, monitorIds } };
  }
  const { id, name } = await getOwnOrganization(scope);
  return { type: "organization", id, name, wanted: null };
}

/** Returns the elapsed part of a month. Throws VALIDATION_ERROR for a future month. */
async function spanOf(scope: Scope, month: string, wishedZone: string) {
  const now = scope.clock();
  const wished = monthIn(month, wishedZone);
  const oldest = await oldestHour(scope.store);
  // Only UTC days are retained for older months.
  const timeZone = oldest !== null && wished.from < oldest ? "UTC" : wishedZone;
  const whole = monthIn(month, timeZone);
  if (whole.from > now) throw invalid("month", "has not begun");
  const isRunning = whole.to > now;
  return { span: { from: whole.from, to: isRunning ? now : whole.to }, isRunning, timeZone };
}

/** Returns the report of a month, by default the current one. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function reportOf(scope: Scope, query: ReportQuery): Promise<Report> {
  const report = await wholeReportOf(scope, query);
  const { monitors } = report;
  if (monitors.length <= most.monitors) return report;
  const worst = new Set(
    monitors.toSorted((one, other) => other.downSeconds - one.downSeconds).slice(0, most.monitors),
  );
  return { ...report, monitors: monitors.filter((one) => worst.has(one)) };
}

const inTurn = perOrganization();

const wholeReportOf = (scope: Scope, query: ReportQuery): Promise<Report> =>
  inTurn(scope, () => madeReport(scope, query));

async function madeReport(scope: Scope, query: ReportQuery): Promise<Report> {
  const { wanted, ...subject } = await subjectOf(scope, query);
  const organization = await getOwnOrganization(scope);
  const slaTarget = query.slaTarget ?? organization.slaTarget;
  const wishedZone = query.timeZone ?? organization.timeZone;
  const month = query.month ?? monthAt(scope.clock(), wishedZone);
  const { span, isRunning, timeZone } = await spanOf(scope, month, wishedZone);
  const reported = await reportedMonitors(scope, wanted);
  const ids = reported.map(({ id }) => id);
  const incidents = await incidentsIn(scope, span, wanted && ids, most.incidents);
  const { rows, outages } = await rowsOf(scope, reported, span, slaTarget, incidents.ofMonitor);
  return {
    month,
    timeZone,
    from: timestamp(span.from),
    to: timestamp(span.to),
    isRunning,
    subject,
    slaTarget,
    monitorCount: rows.length,
    summary: together(rows, incidents.total, span, slaTarget),
    groups: await groupsOf(scope, rows, span, slaTarget),
    monitors: rows,
    outages: longestOf(outages),
    incidents: incidents.newest,
  };
}

async function rowsOf(
  scope: Scope,
  reported: readonly ReportedMonitor[],
  span: Span,
  slaTarget: number | null,
  incidents: ReadonlyMap<string, number>,
) {
  const { store } = scope;
  const periods = periodsOf(span);
  const oldest = await oldestEvent(store);
  const rows: ReportRow[] = [];
  const all: Outage[] = [];
  for (let at = 0; at < reported.length; at += stride) {
    const some = reported.slice(at, at + stride);
    const sums = await sumsIn(
      store,
      some.map(({ key }) => key),
      periods,
    );
    const ids = some.map(({ id }) => id);
    const states = await statesIn(scope, ids, span);
    for (const { key, id, name, groupId, createdAt } of some) {
      const { measured, ...seconds } = sums.get(key) ?? nothing;
      const createdMs = Date.parse(createdAt);
      const isKnown = areStatesKnown(oldest, span, createdMs, measured);
      const outages = isKnown ? outagesOf(id, states.get(id) ?? [], span) : null;
      if (outages !== null) all.push(...outages);
      const found = {
        seconds,
        measured,
        createdAt: createdMs,
        outages,
        incidents: incidents.get(id) ?? 0,
      };
      rows.push({ id, name, groupId, ...figuresOf(found, span, slaTarget) });
    }
    if (reported.length > stride) await Bun.sleep(0);
  }
  return { rows, outages: all };
}

/** Whether the state history covers the measured time. Imported results can be older. */
function areStatesKnown(
  oldest: string | null,
  span: Span,
  createdMs: number,
  measured: Measured["measured"],
): boolean {
  if (oldest === null) return false;
  const begin = beginOfSpan(span.from, createdMs, measured?.at ?? null, measured?.length ?? 0);
  const from = Math.max(span.from, createdMs);
  return begin >= from && oldest <= timestamp(from);
}

const nothing = {
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  unknownSeconds: 0,
  maintenanceSeconds: 0,
  measured: null,
};

async function groupsOf(
  scope: Scope,
  rows: readonly ReportRow[],
  span: Span,
  slaTarget: number | null,
): Promise<ReportGroup[]> {
  const members = Map.groupBy(rows, ({ groupId }) => groupId);
  const incidents = await incidentsByGroup(scope, span);
  const groups = [...(await groupNames(scope)), { id: null, name: "Ungrouped" }];
  return groups.flatMap(({ id, name }) => {
    const its = members.get(id);
    if (its === undefined) return [];
    const figures = together(its, incidents.get(id) ?? 0, span, slaTarget);
    return [{ id, name, monitors: its.length, ...figures }];
  });
}

function longestOf(outages: readonly Outage[]): Outage[] {
  return outages
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, most.outages)
    .sort((one, other) => one.from.localeCompare(other.from));
}

/** Returns the report as a CSV file with all monitors. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function downloadReport(scope: Scope, query: ReportQuery): Promise<File> {
  const report = await wholeReportOf(scope, query);
  const name = report.subject.type === "organization" ? "" : `-${report.subject.type}`;
  return new File([csvOf(report)], `report${name}-${report.month}.csv`);
}
