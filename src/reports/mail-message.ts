/** Composes a report as a mail, in the language of its recipient. */
import type { Message } from "../alerting/sending/messages.ts";
import { getFormatter } from "../core/time/times.ts";
import type { Language } from "../status-pages/languages/language.ts";
import type { Report, ReportFigures } from "./schema.ts";

/** Maximum listed groups and monitors. */
const maxRows = 20;

export type Interval = "weekly" | "monthly";

type Frame = { interval: Interval; organization: string; url: string; language: Language };

/** Composes the mail of a report. `url` is the address of the report in the admin page. */
export function composeReportMail(id: string, report: Report, frame: Frame): Message {
  const { url, language } = frame;
  const facts = [
    ...listReportFacts(report, frame),
    ...listReportedGroups(report, language)
      .slice(0, maxRows)
      .map((one) => ({ label: one.name, value: describeRow(one, language) })),
    ...listWorst(report.monitors).map((one) => ({
      label: one.name,
      value: describeRow(one, language),
    })),
  ];
  return {
    id,
    type: "notice",
    tone: report.summary.isMet === false ? "down" : "up",
    severity: "info",
    at: report.to,
    title: composeReportTitle(report, frame),
    lines: facts.map(({ label, value }) => language.translate("labeled", { label, text: value })),
    facts,
    url,
    acknowledgeUrl: null,
    acknowledgeUrls: new Map(),
    problem: null,
    alerts: [],
  };
}

export function composeReportTitle(
  report: Pick<Report, "subject" | "from" | "to" | "timeZone">,
  { interval, organization, language }: Omit<Frame, "url">,
): string {
  const { type, name } = report.subject;
  return language.translate("reportTitle", {
    period: describePeriod(report, interval, language),
    name:
      type === "organization"
        ? organization
        : `${name}${language.translate("separator")}${organization}`,
  });
}

/** Lists the figures of the whole report as labels and values. */
export function listReportFacts(
  report: Report,
  { interval, language }: Pick<Frame, "interval" | "language">,
): { label: string; value: string }[] {
  const { summary, timeZone } = report;
  const period = describePeriod(report, interval, language);
  return [
    {
      label: language.translate("reportPeriod"),
      value: `${period}${language.translate("separator")}${timeZone}`,
    },
    { label: language.translate("uptime"), value: describeUptime(report, language) },
    {
      label: language.translate("outages"),
      value:
        summary.outages === null
          ? language.translate("notKnown")
          : language.number(summary.outages),
    },
    {
      label: language.translate("downTime"),
      value: describeDuration(summary.downSeconds, language),
    },
    {
      label: language.translate("maintenanceWork"),
      value: describeMaintenance(report, language),
    },
    { label: language.translate("incidents"), value: language.number(summary.incidents) },
  ];
}

/** Describes a total time. Zero does not count as a short time. */
export const describeDuration = (seconds: number, language: Language): string =>
  seconds === 0 ? language.number(0) : language.duration(seconds);

function describeMaintenance({ summary, maintenance }: Report, language: Language): string {
  const duration = describeDuration(summary.maintenanceSeconds, language);
  if (summary.maintenanceSeconds === 0) return duration;
  const isCounted = maintenance === "down";
  return language.translate(isCounted ? "maintenanceCounted" : "maintenanceExcluded", { duration });
}

function describeUptime({ summary, slaTarget }: Report, language: Language): string {
  const uptime = language.percent(summary.ratio);
  if (slaTarget === null) return uptime;
  const { isMet } = summary;
  const key = isMet === null ? "targetUnknown" : isMet ? "targetMet" : "targetMissed";
  return language.translate(key, { uptime, target: language.percent(slaTarget) });
}

export function describePeriod(
  { from, to, timeZone }: Pick<Report, "from" | "to" | "timeZone">,
  interval: Interval,
  { locale }: Language,
): string {
  const start = Date.parse(from);
  if (interval === "monthly")
    return getFormatter(timeZone, { month: "long", year: "numeric" }, locale).format(start);
  const format = getFormatter(timeZone, { day: "numeric", month: "long", year: "numeric" }, locale);
  return format.formatRange(start, Date.parse(to) - 1);
}

/** Lists the groups with their names; none if there is only one. */
export const listReportedGroups = ({ groups }: Report, language: Language) =>
  groups.length < 2
    ? []
    : groups.map((one) =>
        one.id === null ? { ...one, name: language.translate("ungrouped") } : one,
      );

export const describeRow = ({ ratio, downSeconds }: ReportFigures, language: Language) =>
  downSeconds === 0
    ? language.percent(ratio)
    : language.translate("downFor", {
        uptime: language.percent(ratio),
        duration: language.duration(downSeconds),
      });

/** Lists the monitors that were down the longest. */
const listWorst = (monitors: Report["monitors"]) =>
  monitors
    .filter(({ downSeconds }) => downSeconds > 0)
    .toSorted((one, other) => other.downSeconds - one.downSeconds)
    .slice(0, maxRows);
