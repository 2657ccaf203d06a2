/** Composes a report as a mail. */
import type { Message } from "../alerting/sending/messages.ts";
import { formatCount, formatDuration, formatPercent } from "../core/text/formatting.ts";
import { getFormatter } from "../core/time/times.ts";
import type { Report, ReportFigures } from "./schema.ts";

/** Maximum listed groups and monitors. */
const maxRows = 20;

type Interval = "weekly" | "monthly";

/** Composes the mail of a report. `url` is the address of the report in the admin page. */
export function composeReportMail(
  id: string,
  report: Report,
  { interval, organization, url }: { interval: Interval; organization: string; url: string },
): Message {
  const { subject, summary, groups, monitors, slaTarget } = report;
  const name = subject.type === "organization" ? organization : `${subject.name}, ${organization}`;
  const target =
    slaTarget === null ? "" : ` (target ${formatPercent(slaTarget)}: ${describeTarget(summary)})`;
  const facts = [
    { label: "Period", value: `${describePeriod(report, interval)}, ${report.timeZone}` },
    { label: "Uptime", value: `${formatPercent(summary.ratio)}${target}` },
    {
      label: "Outages",
      value: summary.outages === null ? "not known" : formatCount(summary.outages),
    },
    { label: "Down time", value: formatDuration(summary.downSeconds) },
    { label: "Incidents", value: formatCount(summary.incidents) },
    ...(groups.length < 2
      ? []
      : groups.slice(0, maxRows).map((one) => ({ label: one.name, value: describeRow(one) }))),
    ...listWorst(monitors).map((one) => ({ label: one.name, value: describeRow(one) })),
  ];
  return {
    id,
    type: "notice",
    tone: summary.isMet === false ? "down" : "up",
    severity: "info",
    at: report.to,
    title: `Report of ${describePeriod(report, interval)}: ${name}`,
    lines: facts.map(({ label, value }) => `${label}: ${value}`),
    facts,
    url,
    acknowledgeUrl: null,
    acknowledgeUrls: new Map(),
    problem: null,
    alerts: [],
  };
}

function describePeriod({ from, to, timeZone }: Report, interval: Interval): string {
  const start = Date.parse(from);
  if (interval === "monthly")
    return getFormatter(timeZone, { month: "long", year: "numeric" }, "en-GB").format(start);
  const format = getFormatter(
    timeZone,
    { day: "numeric", month: "long", year: "numeric" },
    "en-GB",
  );
  return format.formatRange(start, Date.parse(to) - 1);
}

const describeTarget = ({ isMet }: ReportFigures) =>
  isMet === null ? "not measured" : isMet ? "met" : "missed";

const describeRow = ({ ratio, downSeconds }: ReportFigures) =>
  downSeconds === 0
    ? formatPercent(ratio)
    : `${formatPercent(ratio)}, down for ${formatDuration(downSeconds)}`;

/** Lists the monitors that were down the longest. */
const listWorst = (monitors: Report["monitors"]) =>
  monitors
    .filter(({ downSeconds }) => downSeconds > 0)
    .toSorted((one, other) => other.downSeconds - one.downSeconds)
    .slice(0, maxRows);
