/** Renders a monthly report: figures, tables of groups, monitors, outages and incidents. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Report, ReportFigures } from "../../../src/reports/schema.ts";
import { getFormatter } from "../../../src/core/time/times.ts";
import { apiPathOf, v1 } from "../../data/client.ts";
import {
  formatCount,
  formatPercent,
  pluralize,
  formatReason,
} from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Dash, EmptyState, Figure, Panel } from "../../components/page.tsx";
import { durationInWords } from "../../components/display/time.tsx";
import { describeMonth } from "./search.ts";

export function ReportView({ report, organization }: { report: Report; organization: string }) {
  const isMeasured = report.monitorCount > 0 && hasBeenMeasured(report.summary, report);
  return (
    <>
      <Heading report={report} organization={organization} isMeasured={isMeasured} />
      {isMeasured ? (
        <>
          <Figures report={report} />
          <GroupTable report={report} />
          <MonitorTable report={report} />
        </>
      ) : (
        <EmptyState
          icon={<Icon name="chart" size={28} />}
          title={`Nothing was measured in ${describeMonth(report.month)}`}
        >
          No monitor existed yet.
        </EmptyState>
      )}
      <OutageTable report={report} />
      <IncidentTable report={report} />
      <Definitions />
    </>
  );
}

function Heading({
  report,
  organization,
  isMeasured,
}: {
  report: Report;
  organization: string;
  isMeasured: boolean;
}) {
  const { subject, summary, timeZone } = report;
  return (
    <header className="report-head mb-12">
      <h2>
        {subject.name} · {describeMonth(report.month)}
      </h2>
      <p>
        {subject.type !== "organization" && `${organization}. `}
        {formatMoment(report.from, timeZone)} – {formatMoment(report.to, timeZone)}, {timeZone}
        {report.isRunning && ": the month is not over yet"}.{" "}
        {pluralize(report.monitorCount, "monitor")}
        {summary.isPartial && isMeasured && `, since ${formatMoment(summary.from, timeZone)}`}.
      </p>
    </header>
  );
}

function Figures({ report: { summary, slaTarget } }: { report: Report }) {
  const degraded = durationInWords(summary.degradedSeconds).replace("less than a second", "0 s");
  return (
    <section className="panel stats" aria-label="Figures">
      <dl>
        <Figure
          label="Uptime"
          value={formatPercent(summary.ratio)}
          note={describeSla(summary, slaTarget)}
        />
        <Figure
          label="Down"
          value={<Duration seconds={summary.downSeconds} />}
          note={`degraded ${degraded}`}
        />
        <Figure
          label="Outages"
          value={<Count count={summary.outages} />}
          note={`longest ${summary.longestOutageSeconds ? durationInWords(summary.longestOutageSeconds) : "–"}`}
        />
        <Figure
          label="MTTR"
          value={<Duration seconds={summary.mttrSeconds} />}
          note="mean length of an outage"
        />
        <Figure
          label="MTBF"
          value={<Duration seconds={summary.mtbfSeconds} />}
          note="up time per outage"
        />
        <Figure
          label="Incidents"
          value={formatCount(summary.incidents)}
          note={`maintenance ${summary.maintenanceSeconds > 0 ? durationInWords(summary.maintenanceSeconds) : "–"}`}
        />
      </dl>
    </section>
  );
}

const GroupTable = ({ report }: { report: Report }) =>
  report.groups.length > 1 && (
    <Table title="Groups" head={[...figureHeads]}>
      {report.groups.map((group) => (
        <FigureRow key={group.id ?? ""} name={group.name} figures={group} report={report} />
      ))}
    </Table>
  );

function MonitorTable({ report }: { report: Report }) {
  const { subject, monitors, monitorCount } = report;
  if (subject.type === "monitor") return null;
  const cut =
    monitors.length < monitorCount
      ? `: the ${formatCount(monitors.length)} with the most down time of ${formatCount(monitorCount)}`
      : "";
  return (
    <Table title={`Monitors${cut}`} head={[...figureHeads]}>
      {monitors.map((monitor) => (
        <FigureRow
          key={monitor.id}
          name={
            <Link to="/monitors/$id" params={{ id: monitor.id }} data-item-focus={monitor.id}>
              {monitor.name}
            </Link>
          }
          figures={monitor}
          report={report}
        />
      ))}
    </Table>
  );
}

function OutageTable({ report }: { report: Report }) {
  const { outages, monitors, subject, timeZone } = report;
  if (outages.length === 0) return null;
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  return (
    <Table title="Outages" head={["Monitor", "From", "To", "Duration", "Reason"]}>
      {outages.map(({ monitorId, from, to, seconds, message }) => (
        <tr key={`${monitorId} ${from}`}>
          <th scope="row">{names.get(monitorId) ?? subject.name}</th>
          <td>{formatMoment(from, timeZone)}</td>
          <td>{to === null ? "ongoing" : formatMoment(to, timeZone)}</td>
          <td>
            <Duration seconds={seconds} />
          </td>
          <td className="report-words">{formatReason(message ?? "")}</td>
        </tr>
      ))}
    </Table>
  );
}

const IncidentTable = ({ report: { incidents, timeZone } }: { report: Report }) =>
  incidents.length > 0 && (
    <Table title="Incidents" head={["Incident", "Severity", "Opened", "Resolved"]}>
      {incidents.map(({ id, title, severity, createdAt, resolvedAt }) => (
        <tr key={id} data-item>
          <th scope="row">
            <Link to="/incidents/$id" params={{ id }} data-item-focus={id}>
              {title}
            </Link>
          </th>
          <td>{severity}</td>
          <td>{formatMoment(createdAt, timeZone)}</td>
          <td>{resolvedAt === null ? "open" : formatMoment(resolvedAt, timeZone)}</td>
        </tr>
      ))}
    </Table>
  );

const Definitions = () => (
  <p className="report-note">
    Uptime is up and degraded time divided by measured time. Maintenance and checks that were not
    judged are excluded. An outage is a period in which a monitor was down, also one that started
    before the month. A failed check without confirmation is down time, but no outage. MTTR (mean
    time to restoration) is the mean length of an outage. MTBF (mean operating time between
    failures) is up time per outage. Both follow IEC 60050-192. Script:{" "}
    <code>{apiPathOf(v1.reports)}</code>.
  </p>
);

const figureHeads = [
  "Name",
  "Uptime",
  "Down",
  "Outages",
  "MTTR",
  "MTBF",
  "Longest",
  "Incidents",
  "SLA",
];

const formatMoment = (at: string, zone: string) =>
  getFormatter(zone, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  })
    .format(Date.parse(at))
    .replace(",", "");

/** Whether the subject existed in the month. */
const hasBeenMeasured = ({ from }: ReportFigures, { to }: Report) => from < to;

function describeSla({ isMet, isPartial }: ReportFigures, target: number | null): string {
  if (target === null) return isPartial ? "part of the month" : "no target set";
  const of = `target ${Number((target * 100).toFixed(7))}\u202f%`;
  return isMet === null ? of : `${of}: ${isMet ? "met" : "missed"}`;
}

const Duration = ({ seconds }: { seconds: number | null }) =>
  seconds === null ? <Dash /> : seconds < 1 ? "0 s" : durationInWords(seconds);

const Count = ({ count }: { count: number | null }) =>
  count === null ? <Dash /> : formatCount(count);

function Table({ title, head, children }: { title: string; head: string[]; children: ReactNode }) {
  const [first, ...others] = head;
  return (
    <Panel title={title} flush className="report-table">
      <div className="report-scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{first}</th>
              {others.map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </Panel>
  );
}

function FigureRow({
  name,
  figures,
  report,
}: {
  name: ReactNode;
  figures: ReportFigures;
  report: Report;
}) {
  const { isPartial, from, isMet } = figures;
  if (!hasBeenMeasured(figures, report))
    return (
      <tr data-item>
        <th scope="row">
          {name}
          <small>no data yet</small>
        </th>
        {figureHeads.slice(1).map((head) => (
          <td key={head}>
            <Dash />
          </td>
        ))}
      </tr>
    );
  return (
    <tr data-item>
      <th scope="row">
        {name}
        {isPartial && <small>since {formatMoment(from, report.timeZone)}</small>}
      </th>
      <td>{formatPercent(figures.ratio)}</td>
      <td>
        <Duration seconds={figures.downSeconds} />
      </td>
      <td>
        <Count count={figures.outages} />
      </td>
      <td>
        <Duration seconds={figures.mttrSeconds} />
      </td>
      <td>
        <Duration seconds={figures.mtbfSeconds} />
      </td>
      <td>
        {figures.longestOutageSeconds ? (
          <Duration seconds={figures.longestOutageSeconds} />
        ) : (
          <Dash />
        )}
      </td>
      <td>{formatCount(figures.incidents)}</td>
      <td className={isMet === false ? "report-missed" : ""}>
        {isMet === null ? <Dash /> : isMet ? "met" : "missed"}
      </td>
    </tr>
  );
}
