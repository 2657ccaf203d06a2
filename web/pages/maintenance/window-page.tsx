/** The page of one maintenance window: its next times and the monitors that it affects. */
import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { v1 } from "../../data/client.ts";
import { useManagedRecords } from "../../data/managed.ts";
import { useOverview } from "../../data/overview.ts";
import { PartialNote, useMayChange } from "../../components/display/partial-record.tsx";
import { useSignedInPerson } from "../../data/session.ts";
import { openDialog } from "../../components/open-dialog.ts";
import { dot } from "../../components/display/format.ts";
import { Markdown } from "../../components/display/markdown.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { StateIcon, stateLabels, findWorst } from "../../components/display/state-icon.tsx";
import { useZone } from "../../components/display/time.tsx";
import { notifyError } from "../../components/toasts.tsx";
import { Receipt } from "../incidents/detail/receipt.tsx";
import { deleteWindow, endWindow, usePreview, useWindow, useWindowReceipt } from "./data.ts";
import { NextTimes, describeRecurrence, formatSpan, WindowIcon, WindowPill } from "./labels.tsx";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t, tCount } from "../../language/text.ts";

const shownTimes = 6;
const crumbs = [{ to: "/maintenance", label: t("Maintenance") }];

export default function WindowPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useWindow(id);
  const mayChange = useMayChange(query.data ?? {});
  useShortcuts(mayChange ? { e: () => openDialog({ kind: "edit-maintenance", id }) } : {});
  const preview = usePreview(query.data ?? null, shownTimes);
  return (
    <Loaded
      query={query}
      otherQueries={[useManagedRecords("maintenanceWindows"), useOverview(), preview]}
      subject={t("The maintenance")}
      crumbs={crumbs}
    >
      {(window) => (
        <>
          <PageHeader
            title={window.title}
            icon={<WindowIcon state={window.state} size={22} />}
            crumbs={crumbs}
            facts={<Line window={window} />}
            managed={{ section: "maintenanceWindows", id: window.id }}
          >
            <Actions window={window} />
          </PageHeader>
          <PartialNote subject={t("The maintenance")} partial={window.partial} />
          {window.description !== "" && (
            <div className="window-description">
              <Markdown text={window.description} />
            </div>
          )}
          <div className="columns">
            <Members window={window} />
            <div>
              <Times window={window} />
              <Announcement window={window} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Line({ window }: { window: MaintenanceWindow }) {
  const zone = useZone();
  const { state, current, next, startsAt, endsAt } = window;
  const { startsAt: start, endsAt: end } = current ?? next ?? { startsAt, endsAt };
  return (
    <p>
      <WindowPill state={state} />{" "}
      <span className="incident-line">
        <b className="num">{formatSpan(Date.parse(start), Date.parse(end), zone)}</b>
        {dot}
        {describeRecurrence(window)}
        {dot}
        {window.public ? t("announced on status pages") : t("not public")}
        {dot}
        {window.countsUptime ? t("counted in uptime") : t("not counted in uptime")}
      </span>
    </p>
  );
}

function Actions({ window }: { window: MaintenanceWindow }) {
  const { id, state, rrule } = window;
  const { mayWrite } = useSignedInPerson();
  const mayChange = useMayChange(window);
  const navigate = useNavigate();
  return (
    <>
      {mayChange && state === "running" && rrule === null && (
        <Button onClick={() => endWindow(window).catch(notifyError)}>{t("End now")}</Button>
      )}
      {mayChange && (
        <Button onClick={() => openDialog({ kind: "edit-maintenance", id })}>{t("Edit")}</Button>
      )}
      <MoreActions>
        {mayWrite && (
          <MenuItem icon="copy" onClick={() => openDialog({ kind: "plan-maintenance", like: id })}>
            {t("Duplicate")}
          </MenuItem>
        )}
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: v1["maintenance-windows"]({ id }) })}
          onDelete={
            mayChange &&
            (() => {
              deleteWindow(window);
              void navigate({ to: "/maintenance" });
            })
          }
        />
      </MoreActions>
    </>
  );
}

/** Affected groups and monitors with their current states. */
function Members({ window: { monitorIds, groupIds } }: { window: MaintenanceWindow }) {
  const { data: overview } = useOverview();
  const groups = overview?.groups.filter(({ id }) => groupIds.includes(id)) ?? [];
  const monitors = overview?.monitors.filter(({ id }) => monitorIds.includes(id)) ?? [];
  const listMonitorsInGroup = (id: string) =>
    overview?.monitors.filter(({ groupId }) => groupId === id) ?? [];
  return (
    <Panel title={t("Affects")}>
      {groups.length + monitors.length === 0 && (
        <p className="quiet panel-none">
          {t("No monitors. It is announced on status pages and mutes no alerts.")}
        </p>
      )}
      <ul className="lines">
        {groups.map(({ id, name, color }) => (
          <li key={id}>
            <StateIcon
              state={findWorst(listMonitorsInGroup(id).map(({ status }) => status))}
              size={14}
              label
            />
            <Link to="/monitors" search={{ q: name }} className="line-words page-link">
              <i className={`dot dot-${color}`} /> <b>{name}</b>
            </Link>
            <span className="faint">
              {tCount(listMonitorsInGroup(id).length, "{count} monitor", "{count} monitors")}
            </span>
          </li>
        ))}
        {monitors.map(({ id, name, status, target }) => (
          <li key={id}>
            <StateIcon state={status} size={14} />
            <Link to="/monitors/$id" params={{ id }} className="line-words page-link">
              <b>{name}</b> {target}
            </Link>
            <span className={status}>{stateLabels[status]}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** When subscribers are notified, and the receipt of the announcement. */
function Announcement({ window }: { window: MaintenanceWindow }) {
  const { id, reminderHours, progressNotices } = window;
  const { receivers = [] } = useWindowReceipt(id).data ?? {};
  if (!window.public) return null;
  const times = [
    t("when it is announced"),
    ...(reminderHours === null ? [] : [t("{hours} h before it starts", { hours: reminderHours })]),
    ...(progressNotices ? [t("when it starts"), t("when it ends")] : []),
  ];
  return (
    <Panel title={t("Announcement")}>
      <p className="quiet text-s">
        {t("Subscribers of status pages are notified {times}.", {
          times: new Intl.ListFormat(getLocale()).format(times),
        })}
      </p>
      {receivers.length > 0 && <Receipt receivers={receivers} />}
    </Panel>
  );
}

function Times({ window }: { window: MaintenanceWindow }) {
  const zone = useZone();
  const preview = usePreview(window, shownTimes);
  return (
    <Panel title={window.rrule === null ? t("When") : t("Next times")}>
      {window.state === "over" ? (
        <p className="quiet panel-none num">
          {formatSpan(Date.parse(window.startsAt), Date.parse(window.endsAt), zone)}
        </p>
      ) : (
        <NextTimes occurrences={preview.data?.occurrences} count={shownTimes} />
      )}
      {window.rrule !== null && window.timeZone !== zone && (
        <p className="field-note">
          {t("Repeats in the time zone {timeZone}.", { timeZone: window.timeZone })}
        </p>
      )}
    </Panel>
  );
}
