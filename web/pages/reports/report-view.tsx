/** Renders a monthly report: figures, days, tables of groups, monitors, outages and incidents. */
import { nameIncident } from "../../language/server-text.ts";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { findBarPart, findPartOfShare } from "../../../src/reports/bar-rules.ts";
import type {
  DayTone,
  Outage,
  Report,
  ReportFigures,
  ReportRow,
} from "../../../src/reports/schema.ts";
import { severities } from "../../../src/core/statuses.ts";
import { dayMs } from "../../../src/core/time/clock.ts";
import { formatPeriod, getFormatter } from "../../../src/core/time/times.ts";
import { buildApiPath, v1 } from "../../data/client.ts";
import { BarDetails, Bars } from "../../components/display/bars.tsx";
import { toPercent } from "../../components/forms/percent.ts";
import { dot, formatCount, formatPercent, formatReason } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { nameSeverity } from "../../components/display/severity.ts";
import { EmptyState, Figure, Panel } from "../../components/page.tsx";
import { formatUnbrokenDuration } from "../../components/display/time.tsx";
import { type Column, Table } from "./report-table.tsx";
import { describeMonth, nameMonth } from "./search.ts";
import { t, tCount, tNode } from "../../language/text.ts";

type Props = {
  report: Report;
  /** The report of the month before, if anything was measured then. */
  before: Report | undefined;
};

export function ReportView({
  report,
  before: loaded,
  organization,
}: {
  report: Report;
  before: Report | undefined;
  organization: string;
}) {
  const before = loaded && hasBeenMeasured(loaded.summary, loaded) ? loaded : undefined;
  const isMeasured = report.monitorCount > 0 && hasBeenMeasured(report.summary, report);
  return (
    <>
      <Heading report={report} organization={organization} isMeasured={isMeasured} />
      {isMeasured ? (
        <>
          <Figures report={report} before={before} />
          <DayBars report={report} />
          <GroupTable report={report} before={before} />
          <MonitorTable report={report} before={before} />
        </>
      ) : (
        <EmptyState
          icon={<Icon name="chart" size={28} />}
          title={t("Nothing was measured in {month}", { month: describeMonth(report.month) })}
        >
          {t("No monitor existed yet.")}
        </EmptyState>
      )}
      <OutageTable report={report} />
      <IncidentTable report={report} />
      <Definitions report={report} />
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
  const count = tCount(report.monitorCount, "{count} monitor", "{count} monitors");
  const describeExtent = () =>
    summary.isPartial && isMeasured
      ? t("{monitors}, since {from}.", {
          monitors: count,
          from: formatMoment(summary.from, timeZone),
        })
      : `${count}.`;
  return (
    <header className="report-head mb-12">
      <h2>
        {subject.name} · {describeMonth(report.month)}
      </h2>
      <p>
        {subject.type !== "organization" && `${organization}. `}
        {formatMoment(report.from, timeZone)} – {formatMoment(report.to, timeZone)}, {timeZone}
        {report.isRunning ? t(": the month is not over yet.") : "."} {describeExtent()}
      </p>
    </header>
  );
}

function Figures({ report, before }: Props) {
  const { summary, slaTarget } = report;
  const month = before === undefined ? "" : nameMonth(before.month);
  const compare = (figure: (one: ReportFigures) => string) =>
    before === undefined ? [] : [`${month}: ${figure(before.summary)}`];
  return (
    <section className="panel stats" aria-label={t("Figures")}>
      <dl>
        <Figure
          label={t("Uptime")}
          value={formatPercent(summary.ratio)}
          note={[describeSla(summary, slaTarget), ...compare(({ ratio }) => formatPercent(ratio))]
            .filter(Boolean)
            .join(dot)}
        />
        <Figure
          label={t("Down")}
          value={describeSeconds(summary.downSeconds)}
          note={compare((one) => describeSeconds(one.downSeconds)).join("")}
        />
        <Figure
          label={t("Degraded")}
          value={describeSeconds(summary.degradedSeconds)}
          note={compare(({ degradedSeconds }) => describeSeconds(degradedSeconds)).join("")}
        />
        <Figure
          label={t("Outages")}
          value={describeCount(summary.outages)}
          note={[
            ...describeLongest(summary),
            ...compare(({ outages }) => describeCount(outages)),
          ].join(dot)}
        />
        <Figure
          label={t("Time to restore")}
          value={describeSeconds(summary.mttrSeconds)}
          note={["MTTR", ...compare(({ mttrSeconds }) => describeSeconds(mttrSeconds))].join(dot)}
        />
        <Figure
          label={t("Time between outages")}
          value={describeSeconds(summary.mtbfSeconds)}
          note={["MTBF", ...compare(({ mtbfSeconds }) => describeSeconds(mtbfSeconds))].join(dot)}
        />
        <Figure
          label={t("Incidents")}
          value={formatCount(summary.incidents)}
          note={compare(({ incidents }) => formatCount(incidents)).join("")}
        />
        <Figure
          label={report.maintenance === "down" ? t("Maintenance, as down time") : t("Maintenance")}
          value={describeSeconds(summary.maintenanceSeconds)}
          note={compare((one) => describeSeconds(one.maintenanceSeconds)).join("")}
        />
      </dl>
    </section>
  );
}

const describeLongest = ({ longestOutageSeconds: seconds }: ReportFigures) =>
  seconds ? [t("longest {duration}", { duration: describeSeconds(seconds) })] : [];

/** Classes of a bar that is colored from the top, by the share of down time. */
const classBar = <T extends DayTone>(tone: T, part: number | null) =>
  part === null || part === 100 ? tone : (`${tone} bar-part-${part}` as const);

/** One bar per day of the month. For a single monitor, a bar opens its day. */
function DayBars({ report: { days, subject, timeZone } }: { report: Report }) {
  const navigate = useNavigate();
  const openDay = (index: number) => {
    const from = Date.parse(days[index]?.date ?? "");
    void navigate({
      to: "/monitors/$id",
      params: { id: subject.id },
      search: { from, to: from + dayMs },
    });
  };
  return (
    <Panel
      title={timeZone === "UTC" ? t("Days") : t("Days in UTC")}
      actions={days.some((day) => findBarPart(day) !== null) && <Legend />}
    >
      <Bars
        tones={days.map((day) => classBar(day.tone, findBarPart(day)))}
        label={t("{name}, one bar a day: {days}", {
          name: subject.name,
          days: describeTones(days.map(({ tone }) => tone)),
        })}
        className="report-days"
        {...(subject.type === "monitor" && { onPick: openDay })}
      >
        {(index) => <Day day={days[index]} />}
      </Bars>
    </Panel>
  );
}

/** The shares of time that the parts of a bar stand for. */
const Legend = () => (
  <p className="report-legend">
    <span>{t("Share of the time:")}</span>
    {[
      [0, "<\u202f1\u202f%"],
      [0.01, "<\u202f10\u202f%"],
      [0.1, "<\u202f50\u202f%"],
      [0.5, "≥\u202f50\u202f%"],
    ].map(([share, words]) => (
      <span key={share}>
        <span className="bars" aria-hidden="true">
          <i className={`bar-${classBar("down", findPartOfShare(Number(share)))}`} />
        </span>
        {words}
      </span>
    ))}
  </p>
);

function Day({ day }: { day: Report["days"][number] | undefined }) {
  if (day === undefined) return null;
  const { date, tone, ratio, downSeconds, degradedSeconds, maintenanceSeconds } = day;
  const formatLasting = (seconds: number) => (seconds > 0 ? describeSeconds(seconds) : null);
  const at = Date.parse(date);
  return (
    <BarDetails
      title={formatPeriod("UTC", at, at + dayMs, Date.now())}
      keys={[
        [["←", "→"], "move"],
        [["Esc"], "close"],
      ]}
      lines={[
        [t("Uptime"), ratio === null ? null : formatPercent(ratio)],
        [t("Down"), formatLasting(downSeconds)],
        [t("Degraded"), formatLasting(degradedSeconds)],
        [t("Maintenance"), formatLasting(maintenanceSeconds)],
        [t("No data"), tone === "none" ? t("Nothing was measured.") : null],
      ]}
    />
  );
}

const toneWords = {
  down: (count: number, all: number) => t("down on {count} of {all}", { count, all }),
  degraded: (count: number, all: number) => t("degraded on {count} of {all}", { count, all }),
};

/** Counts the days with problems, such as `down on 2 of 30`. */
function describeTones(tones: readonly DayTone[]): string {
  const problems = (["down", "degraded"] as const).flatMap((tone) => {
    const count = tones.filter((one) => one === tone).length;
    return count === 0 ? [] : [toneWords[tone](count, tones.length)];
  });
  return problems.join(", ") || t("no problems");
}

/** Bars per row are rendered for at most this many rows. */
const maxRowsWithBars = 300;

const RowDays = ({ days, downRatios }: Pick<ReportRow, "days" | "downRatios">) => (
  <span className="bars report-row-days" role="img" aria-label={describeTones(days)}>
    {days.map((tone, index) => (
      <i
        key={index}
        className={`bar-${classBar(tone, tone === "down" ? findPartOfShare(downRatios[index] ?? 1) : null)}`}
      />
    ))}
  </span>
);

/** The result, and the target if it is not the one of the report. */
function describeMet({ isMet, slaTarget }: ReportFigures, report: Report) {
  const hasOwnTarget = slaTarget !== null && slaTarget !== report.slaTarget;
  return (
    <>
      {isMet === null ? (
        "–"
      ) : (
        <span className={isMet ? "" : "report-missed"}>{isMet ? t("met") : t("missed")}</span>
      )}
      {hasOwnTarget && `${dot}${toPercent(slaTarget)}\u202f%`}
    </>
  );
}

type Row = Pick<ReportRow, "days" | "downRatios"> & { id: string | null };

/** Columns of groups and monitors. */
function listFigureColumns<T extends ReportFigures & Row>(
  { report, before }: Props,
  rowsBefore: readonly (ReportFigures & { id: string | null })[],
  rows: readonly T[],
): Column<T>[] {
  const earlier = new Map(rowsBefore.map((row) => [row.id, row.ratio]));
  const findEarlierRatio = ({ id }: T) => earlier.get(id) ?? null;
  const createDurationColumn = (head: string, value: (row: T) => number | null): Column<T> => ({
    head,
    value,
    cell: (row) => describeSeconds(value(row)),
    isOmittedIfNone: true,
  });
  const columns: (Column<T> & { isShown?: boolean })[] = [
    {
      isShown: rows.length <= maxRowsWithBars,
      head: t("Days"),
      value: ({ days }) => days.filter((tone) => tone === "down").length,
      cell: (row) => <RowDays {...row} />,
    },
    {
      head: t("Uptime"),
      value: ({ ratio }) => ratio,
      cell: ({ ratio }) => formatPercent(ratio),
      className: "report-uptime",
    },
    {
      isShown: before !== undefined,
      head: before === undefined ? "" : nameMonth(before.month),
      value: findEarlierRatio,
      cell: (row) => formatPercent(findEarlierRatio(row)),
    },
    createDurationColumn(t("Down"), ({ downSeconds }) => downSeconds),
    createDurationColumn(t("Degraded"), ({ degradedSeconds }) => degradedSeconds),
    {
      head: t("Outages"),
      value: ({ outages }) => outages,
      cell: ({ outages }) => describeCount(outages),
      isOmittedIfNone: true,
    },
    createDurationColumn("MTTR", ({ mttrSeconds }) => mttrSeconds),
    createDurationColumn("MTBF", ({ mtbfSeconds }) => mtbfSeconds),
    createDurationColumn(t("Longest"), ({ longestOutageSeconds }) => longestOutageSeconds),
    {
      head: t("Incidents"),
      value: ({ incidents }) => incidents,
      cell: ({ incidents }) => formatCount(incidents),
      isOmittedIfNone: true,
    },
    {
      isShown: rows.some(({ slaTarget }) => slaTarget !== null),
      head: "SLA",
      value: ({ isMet }) => (isMet === null ? null : Number(isMet)),
      cell: (row) => describeMet(row, report),
    },
  ];
  return columns
    .filter(({ isShown = true }) => isShown)
    .map((column) => restrictToMeasured(column, report));
}

/** Rows without measured time have no values. */
const restrictToMeasured = <T extends ReportFigures>(
  { value, cell, ...column }: Column<T>,
  report: Report,
): Column<T> => ({
  ...column,
  value: (row) => (hasBeenMeasured(row, report) ? value(row) : null),
  cell: (row) => (hasBeenMeasured(row, report) ? cell(row) : "–"),
});

/** Monitors without a group have no ID. */
const nameGroup = ({ id, name }: Report["groups"][number]): string =>
  id === null ? t("Ungrouped") : name;

function GroupTable(props: Props) {
  const { groups } = props.report;
  if (groups.length <= 1) return null;
  return (
    <Table
      title={t("Groups")}
      rows={groups}
      idOf={({ id }) => id ?? ""}
      name={{
        head: t("Name"),
        value: nameGroup,
        cell: (group) => <FigureName row={group} report={props.report} name={nameGroup(group)} />,
      }}
      columns={listFigureColumns(props, props.before?.groups ?? [], groups)}
    />
  );
}

function MonitorTable(props: Props) {
  const { subject, monitors, monitorCount } = props.report;
  if (subject.type === "monitor") return null;
  const title =
    monitors.length < monitorCount
      ? t("Monitors: the {count} with the most down time of {all}", {
          count: formatCount(monitors.length),
          all: formatCount(monitorCount),
        })
      : t("Monitors");
  return (
    <Table
      title={title}
      rows={monitors}
      idOf={({ id }) => id}
      name={{
        head: t("Name"),
        value: ({ name }) => name,
        cell: (monitor) => (
          <FigureName
            row={monitor}
            report={props.report}
            name={
              <Link to="/monitors/$id" params={{ id: monitor.id }} data-item-focus={monitor.id}>
                {monitor.name}
              </Link>
            }
          />
        ),
      }}
      columns={listFigureColumns(props, props.before?.monitors ?? [], monitors)}
    />
  );
}

/** The name of a row, and the start of its figures if that is later than the start of the month. */
function FigureName({
  row,
  report,
  name,
}: {
  row: ReportFigures;
  report: Report;
  name: ReactNode;
}) {
  const isMeasured = hasBeenMeasured(row, report);
  return (
    <>
      {name}
      {!isMeasured && <small>{t("created later")}</small>}
      {isMeasured && row.isPartial && (
        <small>{tNode("since {from}", { from: formatMoment(row.from, report.timeZone) })}</small>
      )}
    </>
  );
}

function OutageTable({ report }: { report: Report }) {
  const { outages, monitors, subject, timeZone } = report;
  if (outages.length === 0) return null;
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  const nameOf = ({ monitorId }: Outage) => names.get(monitorId) ?? subject.name;
  return (
    <Table
      title={t("Outages")}
      rows={outages}
      idOf={({ monitorId, from }) => `${monitorId} ${from}`}
      name={{ head: t("Monitor"), value: nameOf, cell: nameOf }}
      columns={[
        {
          head: t("From"),
          value: ({ from }) => from,
          cell: ({ from }) => formatMoment(from, timeZone),
        },
        {
          head: t("To"),
          value: ({ to }) => to ?? "~",
          cell: ({ to }) => (to === null ? t("ongoing") : formatMoment(to, timeZone)),
        },
        {
          head: t("Duration"),
          value: (outage) => outage.seconds,
          cell: (outage) => describeSeconds(outage.seconds),
        },
        {
          head: t("Reason"),
          value: ({ message }) => message,
          cell: ({ message }) => formatReason(message ?? ""),
          className: "report-words",
        },
      ]}
    />
  );
}

const IncidentTable = ({ report: { incidents, timeZone } }: { report: Report }) =>
  incidents.length > 0 && (
    <Table
      title={t("Incidents")}
      rows={incidents}
      idOf={({ id }) => id}
      name={{
        head: t("Incident"),
        value: nameIncident,
        cell: (incident) => (
          <Link to="/incidents/$id" params={{ id: incident.id }} data-item-focus={incident.id}>
            {nameIncident(incident)}
          </Link>
        ),
      }}
      columns={[
        {
          head: t("Severity"),
          value: ({ severity }) => severities.findIndex((one) => one === severity),
          cell: ({ severity }) => nameSeverity(severity),
        },
        {
          head: t("Opened"),
          value: ({ createdAt }) => createdAt,
          cell: ({ createdAt }) => formatMoment(createdAt, timeZone),
        },
        {
          head: t("Resolved"),
          value: ({ resolvedAt }) => resolvedAt ?? "~",
          cell: ({ resolvedAt }) =>
            resolvedAt === null ? t("open") : formatMoment(resolvedAt, timeZone),
        },
      ]}
    />
  );

const Definitions = ({ report: { maintenance } }: { report: Report }) => (
  <p className="report-note">
    {tNode(
      "Uptime is up and degraded time divided by measured time. {excluded} An outage is a period in which a monitor was down, also one that started before the month. A failed check without confirmation is down time, but no outage. MTTR (mean time to restoration) is the mean length of an outage. MTBF (mean operating time between failures) is up time per outage. Both follow IEC 60050-192. Script: {path}.",
      {
        excluded:
          maintenance === "down"
            ? t(
                "Time in maintenance counts as down time in it. Checks that were not judged are excluded.",
              )
            : t("Maintenance and checks that were not judged are excluded."),
        path: <code>{buildApiPath(v1.reports)}</code>,
      },
    )}
  </p>
);

const formatMoment = (at: string, zone: string) =>
  getFormatter(zone, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  })
    .format(Date.parse(at))
    .replace(",", "");

/** Whether the subject existed in the month. */
const hasBeenMeasured = ({ from }: ReportFigures, { to }: Report) => from < to;

function describeSla({ isMet, isPartial }: ReportFigures, target: number | null): string {
  if (target === null) return isPartial ? t("part of the month") : "";
  const targetText = t("target {number} %", { number: toPercent(target) });
  if (isMet === null) return targetText;
  return isMet
    ? t("{target}: met", { target: targetText })
    : t("{target}: missed", { target: targetText });
}

/** A duration, `None` for zero, `–` if unknown. */
const describeSeconds = (seconds: number | null): string =>
  seconds === null ? "–" : seconds < 1 ? t("None") : formatUnbrokenDuration(seconds);

const describeCount = (count: number | null): string => (count === null ? "–" : formatCount(count));
