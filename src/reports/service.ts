/** Builds the monthly report of an organization, as JSON or CSV. */
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import { AppError } from "../core/errors.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { invalidFieldError } from "../core/validation.ts";
import { unknownReferenceError } from "../database/references.ts";
import type { Scope } from "../events/scope.ts";
import { createOrganizationTurns } from "../events/organization-turns.ts";
import { getGroup } from "../monitoring/groups/service.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import { getLanguage } from "../status-pages/languages/catalog.ts";
import type { Language } from "../status-pages/languages/language.ts";
import { getStatusPage } from "../status-pages/service.ts";
import {
  formatCsv,
  computeFigures,
  formatZonedMonth,
  getMonthSpan,
  findOutages,
  nameReportFile,
  splitPeriods,
  type Span,
  combineFigures,
  combineDays,
  createEmptyDays,
  listReportDays,
  type RowDays,
  type Seconds,
  summarizeDays,
  zeroSeconds,
  type ReportTerms,
} from "./rules.ts";
import type { ReportPrinter } from "./printer.ts";
import type {
  Outage,
  Report,
  ReportGroup,
  ReportPdfQuery,
  ReportQuery,
  ReportRow,
} from "./schema.ts";
import { computeSpanStart } from "../monitoring/uptime/rules.ts";
import {
  listReportedGroups,
  countIncidentsByGroup,
  findIncidentsInSpan,
  findOldestEvent,
  findOldestHour,
  type MeasuredSeconds,
  type ReportedMonitor,
  findReportedMonitors,
  findStates,
  listDaySums,
  sumPeriods,
  type WantedMonitors,
} from "./store.ts";

const monitorsPerQuery = 100;
/** Maximum entries of each list in a response. The CSV has all monitors. */
const limits = { monitors: 2_000, outages: 500, incidents: 500 };

/** `slaTarget` is the subject's own target; null for none. */
type Subject = Report["subject"] & { wanted: WantedMonitors; slaTarget: number | null };

type TermsOf = (groupId: string | null) => ReportTerms;

/** Finds the subject of a report and its monitors. Throws NOT_FOUND. */
export async function resolveSubject(
  scope: Scope,
  query: Pick<ReportQuery, "monitorId" | "groupId" | "statusPageId">,
): Promise<Subject> {
  const { monitorId, groupId, statusPageId } = query;
  if (monitorId !== undefined) {
    const { id, name, groupId: owner } = await getMonitor(scope, monitorId);
    const slaTarget = owner === null ? null : (await getGroup(scope, owner)).slaTarget;
    return { type: "monitor", id, name, slaTarget, wanted: { groupIds: [], monitorIds: [id] } };
  }
  if (groupId !== undefined) {
    const { id, name, slaTarget } = await getGroup(scope, groupId);
    return { type: "group", id, name, slaTarget, wanted: { groupIds: [id], monitorIds: [] } };
  }
  if (statusPageId !== undefined) {
    if (scope.groupIds !== null) throw unknownReferenceError("statusPageId", "status page");
    const { id, title, sections, slaTarget } = await getStatusPage(scope, statusPageId);
    const groupIds = sections.flatMap((section) => section.groupId ?? []);
    const free = sections.filter((section) => section.groupId === null);
    const monitorIds = free.flatMap(({ monitors }) => monitors.map((monitor) => monitor.id));
    return { type: "status-page", id, name: title, slaTarget, wanted: { groupIds, monitorIds } };
  }
  const { id, name } = await getOwnOrganization(scope);
  const groupLimit = scope.groupIds === null ? null : { groupIds: scope.groupIds, monitorIds: [] };
  return { type: "organization", id, name, slaTarget: null, wanted: groupLimit };
}

/**
 * Returns the elapsed part of a month or year, by its span in a time zone. `field` is its field of the query. Throws
 * VALIDATION_ERROR for a future one.
 */
export async function resolveSpan(
  scope: Scope,
  field: "month" | "year",
  spanIn: (timeZone: string) => Span,
  wishedZone: string,
) {
  const now = scope.clock();
  const oldest = await findOldestHour(scope.store);
  // Only UTC days are retained for older months.
  const timeZone = oldest !== null && spanIn(wishedZone).from < oldest ? "UTC" : wishedZone;
  const wholeSpan = spanIn(timeZone);
  if (wholeSpan.from > now) throw invalidFieldError(field, "has not begun");
  const isRunning = wholeSpan.to > now;
  return {
    span: { from: wholeSpan.from, to: isRunning ? now : wholeSpan.to },
    isRunning,
    timeZone,
  };
}

/** Returns the report of a month, by default the current one. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function getReport(scope: Scope, query: ReportQuery): Promise<Report> {
  const report = await getWholeReport(scope, query);
  return { ...report, monitors: limitRows(report.monitors) };
}

/** Returns the listed monitors: with too many, those with the most down time, in the same order. */
export function limitRows<T extends ReportRow>(monitors: T[]): T[] {
  if (monitors.length <= limits.monitors) return monitors;
  const worst = new Set(
    monitors
      .toSorted((one, other) => other.downSeconds - one.downSeconds)
      .slice(0, limits.monitors),
  );
  return monitors.filter((one) => worst.has(one));
}

export const runInReportTurn = createOrganizationTurns();

const getWholeReport = (scope: Scope, query: ReportQuery): Promise<Report> =>
  runInReportTurn(scope, () => createReport(scope, query));

async function createReport(scope: Scope, query: ReportQuery): Promise<Report> {
  const wishedZone = query.timeZone ?? (await getOwnOrganization(scope)).timeZone;
  const month = query.month ?? formatZonedMonth(scope.clock(), wishedZone);
  const span = await resolveSpan(scope, "month", (zone) => getMonthSpan(month, zone), wishedZone);
  return createReportOfSpan(scope, { ...query, month }, span);
}

/** Returns the report of a completed week or month. Throws NOT_FOUND. */
export const getReportOfPeriod = (
  scope: Scope,
  query: ReportQuery,
  { span, timeZone }: { span: Span; timeZone: string },
): Promise<Report> =>
  runInReportTurn(scope, () =>
    createReportOfSpan(
      scope,
      { ...query, month: formatZonedMonth(span.from, timeZone) },
      { span, timeZone, isRunning: false },
    ),
  );

async function createReportOfSpan(
  scope: Scope,
  query: ReportQuery & { month: string },
  { span, isRunning, timeZone }: { span: Span; isRunning: boolean; timeZone: string },
): Promise<Report> {
  const { month } = query;
  const { wanted, slaTarget: own, ...subject } = await resolveSubject(scope, query);
  const targets = await findTargets(scope, query.slaTarget ?? own);
  const terms = { slaTarget: targets.whole, maintenance: query.maintenance };
  const reported = await findReportedMonitors(scope, wanted);
  const ids = reported.map(({ id }) => id);
  const incidents = await findIncidentsInSpan(scope, span, wanted && ids, limits.incidents);
  const dayNumbers = listReportDays(span, isRunning);
  const { days, byKey } = summarizeDays(
    dayNumbers,
    await readDays(scope, reported, dayNumbers),
    terms,
  );
  const termsOf = (groupId: string | null) => ({ ...terms, slaTarget: targets.of(groupId) });
  const { rows, outages } = await buildRows(scope, reported, span, {
    termsOf,
    incidents: incidents.ofMonitor,
    daysOf: (key) => byKey.get(key) ?? createEmptyDays(days.length),
  });
  return {
    month,
    timeZone,
    from: formatTimestamp(span.from),
    to: formatTimestamp(span.to),
    isRunning,
    subject,
    ...terms,
    monitorCount: rows.length,
    summary: combineFigures(rows, incidents.total, span, terms),
    days,
    groups: await buildGroups(scope, rows, span, { groups: targets.groups, termsOf }),
    monitors: rows,
    outages: pickLongestOutages(outages),
    incidents: incidents.newest,
  };
}

/**
 * Returns the target of the whole report and of each group. A target of the report or of its subject applies to all;
 * otherwise each group has its own, or that of the organization.
 */
export async function findTargets(scope: Scope, own: number | null) {
  const organizationTarget = own ?? (await getOwnOrganization(scope)).slaTarget;
  const groups = await listReportedGroups(scope);
  const targetOf = new Map(groups.map(({ id, slaTarget }) => [id, slaTarget]));
  return {
    whole: organizationTarget,
    groups,
    of: (groupId: string | null) =>
      own ?? (groupId === null ? null : targetOf.get(groupId)) ?? organizationTarget,
  };
}

/** Splits the monitors of a report into portions. Other work can run between two of them. */
export async function* splitMonitors(reported: readonly ReportedMonitor[]) {
  for (let at = 0; at < reported.length; at += monitorsPerQuery) {
    if (at > 0) await Bun.sleep(0);
    yield reported.slice(at, at + monitorsPerQuery);
  }
}

/** Reads the sums of each monitor and day. */
async function readDays({ store }: Scope, reported: readonly ReportedMonitor[], days: number[]) {
  const rows: (Seconds & { key: number; day: number })[] = [];
  for await (const portion of splitMonitors(reported)) {
    rows.push(
      ...(await listDaySums(
        store,
        portion.map(({ key }) => key),
        days,
      )),
    );
  }
  return rows;
}

export async function buildRows(
  scope: Scope,
  reported: readonly ReportedMonitor[],
  span: Span,
  {
    termsOf,
    incidents,
    daysOf,
  }: {
    termsOf: TermsOf;
    incidents: ReadonlyMap<string, number>;
    daysOf: (key: number) => RowDays;
  },
) {
  const { store } = scope;
  const periods = splitPeriods(span);
  const oldest = await findOldestEvent(store);
  const rows: ReportRow[] = [];
  const all: Outage[] = [];
  for await (const portion of splitMonitors(reported)) {
    const sums = await sumPeriods(
      store,
      portion.map(({ key }) => key),
      periods,
    );
    const ids = portion.map(({ id }) => id);
    const states = await findStates(scope, ids, span);
    for (const { key, id, name, groupId, createdAt } of portion) {
      const { measured, ...seconds } = sums.get(key) ?? { ...zeroSeconds, measured: null };
      const createdMs = Date.parse(createdAt);
      const isKnown = areStatesKnown(oldest, span, createdMs, measured);
      const outages = isKnown ? findOutages(id, states.get(id) ?? [], span) : null;
      if (outages !== null) all.push(...outages);
      const found = {
        seconds,
        measured,
        createdAt: createdMs,
        outages,
        incidents: incidents.get(id) ?? 0,
      };
      const figures = computeFigures(found, span, termsOf(groupId));
      rows.push({ id, name, groupId, ...figures, ...daysOf(key) });
    }
  }
  return { rows, outages: all };
}

/** Whether the state history covers the measured time. Imported results can be older. */
function areStatesKnown(
  oldest: string | null,
  span: Span,
  createdMs: number,
  measured: MeasuredSeconds["measured"],
): boolean {
  if (oldest === null) return false;
  const begin = computeSpanStart(span.from, createdMs, measured?.at ?? null, measured?.length ?? 0);
  const from = Math.max(span.from, createdMs);
  return begin >= from && oldest <= formatTimestamp(from);
}

export async function buildGroups(
  scope: Scope,
  rows: readonly ReportRow[],
  span: Span,
  { groups, termsOf }: { groups: readonly { id: string; name: string }[]; termsOf: TermsOf },
): Promise<ReportGroup[]> {
  const members = Map.groupBy(rows, ({ groupId }) => groupId);
  const incidents = await countIncidentsByGroup(scope, span);
  return [...groups, { id: null, name: "Ungrouped" }].flatMap(({ id, name }) => {
    const groupRows = members.get(id);
    if (groupRows === undefined) return [];
    const figures = combineFigures(groupRows, incidents.get(id) ?? 0, span, termsOf(id));
    return [{ id, name, monitors: groupRows.length, ...figures, ...combineDays(groupRows) }];
  });
}

function pickLongestOutages(outages: readonly Outage[]): Outage[] {
  return outages
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, limits.outages)
    .sort((one, other) => one.from.localeCompare(other.from));
}

/** Returns the report as a CSV file with all monitors. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function downloadReport(scope: Scope, query: ReportQuery): Promise<File> {
  const report = await getWholeReport(scope, query);
  return new File([formatCsv(report)], nameReportFile(report, "csv"));
}

/** Returns the report as a PDF file. Throws NOT_FOUND, VALIDATION_ERROR, CONFLICT without Chromium. */
export async function downloadReportAsPdf(
  scope: Scope,
  { language: tag, ...query }: ReportPdfQuery,
  printer: ReportPrinter,
): Promise<File> {
  const report = await getWholeReport(scope, query);
  const { name: organization } = await getOwnOrganization(scope);
  const frame = { interval: "monthly", organization, language: getLanguage(tag) } as const;
  return printReport(scope, report, frame, printer);
}

/** Prints a report as PDF. Throws CONFLICT without Chromium, and UNAVAILABLE. */
export async function printReport(
  scope: Scope,
  report: Report,
  frame: { interval: "weekly" | "monthly"; organization: string; language: Language },
  printer: ReportPrinter,
): Promise<File> {
  const program = await printer.findProgram();
  if (program === null)
    throw new AppError(
      "CONFLICT",
      "There is no Chromium on this machine to write a PDF. Install it, or name it with serve --browser.",
    );
  const { composePdfDocument } = await import("./pdf-document.ts");
  const html = composePdfDocument(report, frame);
  const pdf = await printer.print(scope.organizationId, program, html).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw new AppError("UNAVAILABLE", "Chromium could not write the PDF. Try again.");
  });
  return new File([pdf], nameReportFile(report, "pdf", frame.interval));
}
