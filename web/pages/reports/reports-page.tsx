/** The Reports page: chooses a subject and a month or year, and shows their report. */
import { addMonths } from "../../../src/core/time/clock.ts";
import { ActionIcon, Button, Checkbox, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { toLocal } from "../../../src/core/time/time-zones.ts";
import { createChunk } from "../../data/chunks.ts";
import { v1 } from "../../data/client.ts";
import { overviewQuery, useOverview } from "../../data/overview.ts";
import { createDataQuery } from "../../data/query.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { useStatusPages } from "../../data/status-pages.ts";
import { CurlButton } from "../../components/copy.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { Loaded, PageHeader } from "../../components/page.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useNow, useZone } from "../../components/display/time.tsx";
import { describeMonth, type ReportSearch, parseReportSearch } from "./search.ts";
import { ReportView } from "./report-view.tsx";
import { t } from "../../language/text.ts";

const YearView = lazy(createChunk(() => import("./year-view.tsx")));
const ReportMails = lazy(createChunk(() => import("./report-mails.tsx")));

/** Refresh interval of the current month, in milliseconds. */
const refetchInterval = 60_000;

/** Monthly reports, which can be printed and downloaded. */
export default function ReportsPage() {
  const zone = useZone();
  const { organization } = useSignedInPerson();
  const navigate = useNavigate();
  const search = parseReportSearch(useSearch({ strict: false }));
  const current = new Date(toLocal(useNow(), zone)).toISOString().slice(0, 7);
  const { month = current, view, maintenance, ...subject } = search;
  const terms = { timeZone: zone, ...(maintenance && { maintenance }), ...subject };
  useRowKeys();
  const show = (next: ReportSearch) =>
    void navigate({ to: "/reports", search: next, replace: true, resetScroll: false });
  return (
    <div className="report">
      <PageHeader title={t("Reports")}>
        {view === "year" ? (
          <YearCurl query={{ year: month.slice(0, 4), ...terms }} />
        ) : (
          <Exports query={{ month, ...terms }} />
        )}
        {search.monitorId === undefined && <MailButton subject={subject} />}
        <Button variant="filled" onClick={() => print()}>
          {t("Print")}
        </Button>
      </PageHeader>
      <Choices search={search} current={current} onChange={show} />
      {view === "year" ? (
        <Suspense>
          <YearView
            organizationId={organization.id}
            query={{ year: month.slice(0, 4), ...terms }}
            onPick={(picked) =>
              show({ ...subject, ...(maintenance && { maintenance }), month: picked })
            }
          />
        </Suspense>
      ) : (
        <Month query={{ month, ...terms }} isCurrent={month === current} />
      )}
    </div>
  );
}

type ReportTerms = Omit<ReportSearch, "month" | "view"> & { timeZone: string };
type Query = ReportTerms & { month: string };

/** The report of a month, compared with the month before. */
function Month({ query, isCurrent }: { query: Query; isCurrent: boolean }) {
  const { organization } = useSignedInPerson();
  const report = useQuery({
    ...createDataQuery(["report", organization.id, query], (options) =>
      v1.reports.get({ query, ...options }),
    ),
    ...(isCurrent && { refetchInterval }),
    placeholderData: (before) => before,
  });
  const earlier = { ...query, month: addMonths(query.month, -1) };
  const before = useQuery(
    createDataQuery(["report", organization.id, earlier], (options) =>
      v1.reports.get({ query: earlier, ...options }),
    ),
  );
  return (
    <Loaded query={report} otherQueries={[before]} subject={t("The report")}>
      {(found) => (
        <ReportView report={found} before={before.data} organization={organization.name} />
      )}
    </Loaded>
  );
}

const YearCurl = ({ query }: { query: ReportTerms & { year: string } }) => (
  <span className="not-phone">
    <CurlButton action={() => ({ method: "GET", route: v1.reports.year, query })} />
  </span>
);

/** The report for scripts, and as a file. */
function Exports({ query }: { query: Query }) {
  const { organization } = useSignedInPerson();
  const exported = new URLSearchParams({ ...query, organization: organization.id });
  return (
    <>
      <span className="not-phone">
        <CurlButton action={() => ({ method: "GET", route: v1.reports, query })} />
      </span>
      {([v1.reports.csv, v1.reports.pdf] as const).map((route, index) => (
        <Button
          key={route["~path"]}
          component="a"
          href={`${route["~path"]}?${exported}`}
          download
          leftSection={<Icon name="download" size={14} />}
        >
          {index === 0 ? "CSV" : "PDF"}
        </Button>
      ))}
    </>
  );
}

/** Chooses the subject, the month, and whether maintenance counts. */
function Choices({
  search,
  current,
  onChange,
}: {
  search: ReportSearch;
  current: string;
  onChange: (next: ReportSearch) => void;
}) {
  const { month = current, view, maintenance, ...subject } = search;
  const terms = { ...(view && { view }), ...(maintenance && { maintenance }) };
  return (
    <div className="report-choice">
      <SubjectSelect search={search} onChange={(next) => onChange({ ...next, month, ...terms })} />
      <SegmentedControl
        aria-label={t("Period")}
        data={[
          { value: "month", label: t("Month") },
          { value: "year", label: t("Year") },
        ]}
        value={view ?? "month"}
        onChange={(next) =>
          onChange({
            ...subject,
            month,
            ...(next === "year" && { view: "year" }),
            ...(maintenance && { maintenance }),
          })
        }
      />
      <PeriodSwitch
        search={{ ...search, month }}
        current={current}
        onChange={(next) => onChange({ ...search, month: next })}
      />
      <Checkbox
        label={t("Maintenance counts as down time")}
        checked={maintenance === "down"}
        onChange={({ currentTarget: { checked } }) =>
          onChange({
            ...subject,
            month,
            ...(view && { view }),
            ...(checked && { maintenance: "down" }),
          })
        }
      />
    </div>
  );
}

/** Opens the addresses to which the reports of a subject are sent. */
function MailButton({
  subject,
}: {
  subject: Omit<ReportSearch, "month" | "view" | "maintenance">;
}) {
  const { organization, atLeast } = useSignedInPerson();
  const [isOpen, setOpen] = useState(false);
  if (!atLeast("admin")) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("Send by mail")}</Button>
      {isOpen && (
        <Suspense>
          <ReportMails
            organizationId={organization.id}
            subject={subject}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}

/** Steps to the month or year before and after. The current year ends with the current month. */
function PeriodSwitch({
  search: { month, view },
  current,
  onChange,
}: {
  search: ReportSearch & { month: string };
  current: string;
  onChange: (month: string) => void;
}) {
  const isYear = view === "year";
  const step = (count: number) => {
    const next = addMonths(month, isYear ? 12 * count : count);
    onChange(next > current ? current : next);
  };
  const isLast = isYear ? month.slice(0, 4) >= current.slice(0, 4) : month >= current;
  return (
    <div className="report-month flex items-center gap-6 text-s">
      <ActionIcon
        className="report-back"
        aria-label={isYear ? t("Previous year") : t("Previous month")}
        onClick={() => step(-1)}
      >
        <Icon name="right" />
      </ActionIcon>
      <b aria-live="polite">{isYear ? month.slice(0, 4) : describeMonth(month)}</b>
      <ActionIcon
        aria-label={isYear ? t("Next year") : t("Next month")}
        disabled={isLast}
        onClick={() => step(1)}
      >
        <Icon name="right" />
      </ActionIcon>
    </div>
  );
}

const values = {
  groupId: (id: string) => `groupId ${id}`,
  monitorId: (id: string) => `monitorId ${id}`,
  statusPageId: (id: string) => `statusPageId ${id}`,
};

const buildSubjectOptions = (
  name: keyof typeof values,
  all: readonly { id: string; label: string }[],
) => all.map(({ id, label }) => ({ value: values[name](id), label }));

function SubjectSelect({
  search: { monitorId, groupId, statusPageId },
  onChange,
}: {
  search: ReportSearch;
  onChange: (next: ReportSearch) => void;
}) {
  const { organization } = useSignedInPerson();
  const { data: overview } = useQuery(overviewQuery);
  const { data: pages = [] } = useStatusPages();
  const [isOpened, setIsOpened] = useState(false);
  const chosenSubject = Object.entries({ groupId, monitorId, statusPageId }).find(([, id]) => id);
  return (
    <>
      {isOpened && <AllMonitors />}
      <Select
        aria-label={t("Report of")}
        searchable
        allowDeselect={false}
        limit={200}
        maxDropdownHeight={360}
        nothingFoundMessage={t("Nothing found")}
        value={chosenSubject === undefined ? "organization" : chosenSubject.join(" ")}
        onDropdownOpen={() => setIsOpened(true)}
        data={[
          {
            group: t("Organization"),
            items: [{ value: "organization", label: organization.name }],
          },
          {
            group: t("Status pages"),
            items: buildSubjectOptions(
              "statusPageId",
              pages.map(({ id, title }) => ({ id, label: title })),
            ),
          },
          {
            group: t("Groups"),
            items: buildSubjectOptions(
              "groupId",
              (overview?.groups ?? []).map(({ id, name }) => ({ id, label: name })),
            ),
          },
          {
            group: t("Monitors"),
            items: buildSubjectOptions(
              "monitorId",
              (overview?.monitors ?? []).map(({ id, name }) => ({ id, label: name })),
            ),
          },
        ]}
        onChange={(value) => {
          const [name = "", id = ""] = value?.split(" ") ?? [];
          onChange(name in values ? { [name]: id } : {});
        }}
      />
    </>
  );
}

/** Loads all monitors of the overview, for the choice of a subject. */
function AllMonitors() {
  useOverview();
  return null;
}
