/** The maintenance page: windows in progress and upcoming, the calendar, and past windows. */
import { Button, SegmentedControl } from "@mantine/core";
import { useNavigate, useSearch, Link } from "@tanstack/react-router";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { v1 } from "../../data/client.ts";
import { useOverview } from "../../data/overview.ts";
import { useMayChange } from "../../components/display/partial-record.tsx";
import { useSignedInPerson } from "../../data/session.ts";
import { dot } from "../../components/display/format.ts";
import { CurlButton } from "../../components/copy.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { Icon } from "../../components/display/icons.tsx";
import { isFirstLoad } from "../../data/query.ts";
import { CreateButton, EmptyState, LoadFailed, PageHeader } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { useShortcuts } from "../../components/shortcuts.ts";
import { useNow, useZone, formatUnbrokenDuration } from "../../components/display/time.tsx";
import { useDeleting } from "../../components/deletion.ts";
import { notifyError } from "../../components/toasts.tsx";
import { useWindows } from "./current-windows.ts";
import { usePastWindows, endWindow } from "./data.ts";
import { describeAffected, describeRecurrence, formatSpan, WindowIcon } from "./labels.tsx";
import { MonthCalendar } from "./month-calendar.tsx";
import { type MaintenanceSearch, parseMaintenanceSearch } from "./search.ts";
import { t } from "../../language/text.ts";

const planMaintenance = () => openDialog({ kind: "plan-maintenance" });

export default function MaintenancePage() {
  const { mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const pageSearch = parseMaintenanceSearch(useSearch({ strict: false }));
  const view = pageSearch.view ?? "planned";
  const running = useWindows("running");
  const scheduled = useWindows("scheduled", view === "planned");
  const pastWindows = usePastWindows(pageSearch.page ?? 1, view === "over");
  const deleting = useDeleting();
  const show = (next: MaintenanceSearch) =>
    void navigate({ to: "/maintenance", search: next, replace: true, resetScroll: false });
  useRowKeys();
  useShortcuts(mayWrite ? { n: planMaintenance } : {});
  // Rows wait for the names of monitors. Otherwise they would grow when the names arrive.
  const areNamesLoading = isFirstLoad([useOverview()]);
  const omitDeleting = (windows: readonly MaintenanceWindow[] | undefined) =>
    areNamesLoading ? undefined : windows?.filter(({ id }) => !deleting.has(id));
  const runningWindows = omitDeleting(running.data);
  const next = omitDeleting(scheduled.data)?.toSorted((one, other) =>
    (one.next?.startsAt ?? "") < (other.next?.startsAt ?? "") ? -1 : 1,
  );
  const error = running.error ?? scheduled.error ?? pastWindows.error;
  const isEmpty = view === "planned" && runningWindows?.length === 0 && next?.length === 0;
  return (
    <>
      <PageHeader title={t("Maintenance")}>
        <CurlButton action={() => ({ method: "GET", route: v1["maintenance-windows"] })} />
        {mayWrite && (
          <CreateButton onClick={planMaintenance}>{t("Schedule maintenance")}</CreateButton>
        )}
      </PageHeader>
      <Views
        view={view}
        onChange={(value) =>
          show(value === "planned" ? {} : { view: value as "calendar" | "over" })
        }
      />
      {error !== null && runningWindows === undefined && (
        <LoadFailed subject={t("The maintenance")} error={error} />
      )}
      {view !== "over" && <Rows title={t("In progress")} windows={runningWindows ?? []} />}
      {view === "planned" && <Rows title={t("Upcoming")} windows={next ?? []} />}
      {isEmpty && <NothingScheduled />}
      {view === "calendar" && (
        <MonthCalendar
          month={pageSearch.month}
          onMonthChange={(month) =>
            show({ view: "calendar", ...(month !== undefined && { month }) })
          }
        />
      )}
      {view === "over" && (
        <PastWindows
          windows={omitDeleting(pastWindows.data?.data)}
          meta={pastWindows.data?.meta}
          onPage={(page) => show({ view: "over", page })}
        />
      )}
    </>
  );
}

function NothingScheduled() {
  return (
    <EmptyState icon={<Icon name="calendar" size={28} />} title={t("No maintenance scheduled")}>
      {t(
        "During maintenance, its monitors send no alerts and the time does not count as downtime. Status pages announce it in advance. Schedule it once, or repeat it, such as every Sunday night.",
      )}
    </EmptyState>
  );
}

function Views({ view, onChange }: { view: string; onChange: (view: string) => void }) {
  return (
    <SegmentedControl
      className="views"
      aria-label={t("View")}
      value={view}
      onChange={onChange}
      data={[
        { value: "planned", label: t("Scheduled") },
        { value: "calendar", label: t("Calendar") },
        { value: "over", label: t("Past") },
      ]}
    />
  );
}

type PastProps = {
  windows: readonly MaintenanceWindow[] | undefined;
  meta: Parameters<typeof Pager>[0]["meta"] | undefined;
  onPage: (page: number) => void;
};

function PastWindows({ windows = [], meta, onPage }: PastProps) {
  if (meta === undefined) return null;
  return (
    <>
      <Rows title={t("Past")} windows={windows} />
      {meta.total === 0 && (
        <EmptyState icon={<Icon name="calendar" size={28} />} title={t("No past maintenance")}>
          {t("Maintenance that has ended is listed here.")}
        </EmptyState>
      )}
      <Pager meta={meta} onPage={onPage} />
    </>
  );
}

function Rows({ title, windows }: { title: string; windows: readonly MaintenanceWindow[] }) {
  if (windows.length === 0) return null;
  return (
    <section className="records" aria-label={title}>
      <div className="records-head">
        <h2>
          {title} <span className="num">{windows.length}</span>
        </h2>
      </div>
      <ul className="panel panel-flush">
        {windows.map((window) => (
          <WindowRow key={window.id} window={window} />
        ))}
      </ul>
    </section>
  );
}

function WindowRow({ window }: { window: MaintenanceWindow }) {
  const { id, title, state, current, next, startsAt, endsAt, rrule } = window;
  const { data: overview } = useOverview();
  const mayChange = useMayChange(window);
  const zone = useZone();
  const shownTimes = current ?? next ?? { startsAt, endsAt };
  const about = [
    ...(rrule === null ? [] : [describeRecurrence(window)]),
    describeAffected(window, overview),
    ...(window.public ? [] : [t("not public")]),
  ];
  return (
    <li className="list-row record window-record" data-item>
      <WindowIcon state={state} />
      <Link to="/maintenance/$id" params={{ id }} className="row-link row-cut" data-item-focus={id}>
        <b title={title}>{title}</b>
        <span title={about.join(dot)}>{about.join(dot)}</span>
      </Link>
      <span className="window-when">
        <span className="num">
          {formatSpan(Date.parse(shownTimes.startsAt), Date.parse(shownTimes.endsAt), zone)}
        </span>
        {state !== "over" && <TimeUntil window={window} />}
      </span>
      {state === "running" && rrule === null && mayChange && (
        <Button
          size="xs"
          className="record-action"
          onClick={() => endWindow(window).catch(notifyError)}
        >
          {t("End now")}
        </Button>
      )}
    </li>
  );
}

/** Time until the window ends or starts, such as `ends in 34 min` or `in 2 d 3 h`. */
function TimeUntil({ window: { current, next } }: { window: MaintenanceWindow }) {
  const now = useNow();
  const at = current?.endsAt ?? next?.startsAt;
  if (at === undefined) return null;
  const seconds = Math.floor((Date.parse(at) - now) / 1000);
  if (seconds <= 0) return <small>{t("now")}</small>;
  const duration =
    seconds < 60 ? `${seconds}\u00a0s` : formatUnbrokenDuration(seconds - (seconds % 60));
  return (
    <small className="num">
      {current ? t("ends in {duration}", { duration }) : t("in {duration}", { duration })}
    </small>
  );
}
