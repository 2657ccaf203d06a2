/** The report of a year: a table of its months, and the uptime of each group by month. */
import { useQuery } from "@tanstack/react-query";
import type { YearReport } from "../../../src/reports/schema.ts";
import { formatCount, formatPercent } from "../../components/display/format.ts";
import { Loaded } from "../../components/page.tsx";
import { formatUnbrokenDuration } from "../../components/display/time.tsx";
import { v1 } from "../../data/client.ts";
import { createDataQuery } from "../../data/query.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t, tCount } from "../../language/text.ts";
import { type Column, Table } from "./report-table.tsx";
import { nameMonth, type ReportSearch } from "./search.ts";

type Props = {
  organizationId: string;
  query: Omit<ReportSearch, "month"> & { year: string; timeZone: string };
  onPick: (month: string) => void;
};

export default function YearView({ organizationId, query, onPick }: Props) {
  const year = useQuery(
    createDataQuery(["report-year", organizationId, query], (options) =>
      v1.reports.year.get({ query, ...options }),
    ),
  );
  return (
    <Loaded query={year} subject={t("The report")}>
      {(report) => (
        <>
          <header className="report-head mb-12">
            <h2>
              {report.subject.name} · {report.year}
            </h2>
            <p>
              {report.isRunning && `${t("The year is not over yet.")} `}
              {tCount(report.monitorCount, "{count} monitor.", "{count} monitors.")}
            </p>
          </header>
          <MonthTable report={report} onPick={onPick} />
          <GroupTable report={report} />
        </>
      )}
    </Loaded>
  );
}

const describeSeconds = (seconds: number) =>
  seconds < 1 ? t("None") : formatUnbrokenDuration(seconds);

const slaColumn: Column<YearReport["months"][number]> = {
  head: "SLA",
  value: ({ isMet }) => (isMet === null ? null : Number(isMet)),
  cell: ({ isMet }) =>
    isMet === null ? (
      "–"
    ) : (
      <span className={isMet ? "" : "report-missed"}>{isMet ? t("met") : t("missed")}</span>
    ),
};

function MonthTable({ report, onPick }: { report: YearReport } & Pick<Props, "onPick">) {
  const months = report.months.filter(({ ratio }) => ratio !== null);
  return (
    <Table
      title={t("Months of {year}: {uptime}", {
        year: report.year,
        uptime: formatPercent(report.summary.ratio),
      })}
      rows={months}
      idOf={({ month }) => month}
      name={{
        head: t("Month"),
        value: ({ month }) => month,
        cell: ({ month }) => (
          <button type="button" className="report-pick" onClick={() => onPick(month)}>
            {nameMonth(month)}
          </button>
        ),
      }}
      columns={[
        {
          head: t("Uptime"),
          value: ({ ratio }) => ratio,
          cell: ({ ratio }) => formatPercent(ratio),
          className: "report-uptime",
        },
        {
          head: t("Down"),
          value: ({ downSeconds }) => downSeconds,
          cell: ({ downSeconds }) => describeSeconds(downSeconds),
          isOmittedIfNone: true,
        },
        {
          head: t("Outages"),
          value: ({ outages }) => outages,
          cell: ({ outages }) => (outages === null ? "–" : formatCount(outages)),
          isOmittedIfNone: true,
        },
        {
          head: t("Maintenance"),
          value: ({ maintenanceSeconds }) => maintenanceSeconds,
          cell: ({ maintenanceSeconds }) => describeSeconds(maintenanceSeconds),
          isOmittedIfNone: true,
        },
        ...(report.slaTarget === null ? [] : [slaColumn]),
      ]}
    />
  );
}

function GroupTable({ report: { groups, months, year } }: { report: YearReport }) {
  if (groups.length < 2) return null;
  const monthFormat = new Intl.DateTimeFormat(getLocale(), { month: "short", timeZone: "UTC" });
  return (
    <Table
      title={t("Uptime of groups in {year}", { year })}
      rows={groups}
      idOf={({ id }) => id ?? ""}
      name={{ head: t("Name"), value: ({ name }) => name, cell: ({ name }) => name }}
      columns={[
        {
          head: year,
          value: ({ ratio }) => ratio,
          cell: ({ ratio }) => formatPercent(ratio),
          className: "report-uptime",
        },
        ...months.flatMap(({ month, ratio }, index) =>
          ratio === null
            ? []
            : [
                {
                  head: monthFormat.format(Date.parse(`${month}-01`)),
                  value: ({ ratios }: YearReport["groups"][number]) => ratios[index] ?? null,
                  cell: ({ ratios }: YearReport["groups"][number]) =>
                    formatPercent(ratios[index] ?? null),
                },
              ],
        ),
      ]}
    />
  );
}
