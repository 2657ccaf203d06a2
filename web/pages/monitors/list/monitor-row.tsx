/** The row of a monitor in the list, and the menu of a monitor. */
import { Link, useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { formatSince } from "../../../../src/core/time/times.ts";
import { v1 } from "../../../data/client.ts";
import type { OverviewMonitor } from "../../../data/overview.ts";
import {
  formatLatency,
  formatPercent,
  formatReason,
  getReasonTone,
} from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { ActionItem, MenuItem, RecordItems, RowMenu } from "../../../components/menus.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { deleteMonitors } from "../actions.ts";
import { getMonitorActions } from "../record-actions.ts";
import { endDrag, startDrag } from "./drag-and-drop.ts";
import { getTypeName } from "../type-names.ts";
import { RecentBars, Spark } from "./day-bar.tsx";
import { selection } from "./list-state.ts";
import { Time, useZone } from "../../../components/display/time.tsx";
import { t, tNode } from "../../../language/text.ts";

type Props = {
  monitor: OverviewMonitor;
  isActive: boolean;
  selected: boolean;
  /** IDs of all rows on the page, to select ranges. */
  order: readonly string[];
  mayWrite: boolean;
  mayMove: boolean;
  /** Whether the window has space for bars of 30 days. */
  hasMonthBars: boolean;
};

const isMeasured = (status: string) => status === "up" || status === "degraded";

/** Whether the row shows a reason for the state. */
export const hasReason = ({ status, lastMessage }: OverviewMonitor): boolean =>
  status !== "up" && status !== "paused" && lastMessage !== null;

/** The row of a monitor. Renders again only when something in it changes. */
export const MonitorRow = memo(
  function MonitorRow({
    monitor,
    isActive,
    selected,
    order,
    mayWrite,
    mayMove,
    hasMonthBars,
  }: Props) {
    const { id, name, status, day, month } = monitor;
    return (
      <div className={hasReason(monitor) ? "row row-reasoned" : "row"} data-item>
        {mayMove && <Grip id={id} order={order} />}
        {mayWrite ? (
          <input
            type="checkbox"
            className="row-check"
            aria-label={t("Select {name}", { name })}
            tabIndex={isActive ? 0 : -1}
            checked={selected}
            onChange={() => {}}
            onClick={(event) =>
              event.shiftKey ? selection.extendTo(id, order) : selection.toggle(id)
            }
          />
        ) : (
          <span />
        )}
        <StateIcon state={status} label />
        <NameLink monitor={monitor} isActive={isActive} />
        <RecentBars id={id} name={name} span="day" letters={day} tabbed={isActive} />
        <Spark course={monitor.spark} />
        <span className="row-latency quiet text-right text-s nowrap num">
          {formatLatency(isMeasured(status) ? monitor.latencyMs : null)}
        </span>
        <span className="row-uptime text-right text-s nowrap num">
          {formatPercent(monitor.uptime24h)}
        </span>
        {hasMonthBars && (
          <RecentBars id={id} name={name} span="month" letters={month} tabbed={isActive} />
        )}
        <MonthUptime monitor={monitor} />
        <MonitorMenu monitor={monitor} mayWrite={mayWrite} tabbed={isActive} />
      </div>
    );
  },
  (one, other) =>
    one.monitor === other.monitor &&
    one.isActive === other.isActive &&
    one.selected === other.selected &&
    one.mayMove === other.mayMove &&
    one.hasMonthBars === other.hasMonthBars &&
    one.mayWrite === other.mayWrite,
);

/** Drags the monitor, together with all selected ones if it is selected. */
const Grip = ({ id, order }: { id: string; order: readonly string[] }) => (
  <span
    className="grip"
    draggable
    aria-hidden="true"
    onDragStart={(event) => {
      const chosen = selection.get();
      const ids = chosen.has(id) ? order.filter((one) => chosen.has(one)) : [id];
      startDrag(event, { kind: "monitors", ids });
    }}
    onDragEnd={endDrag}
  >
    <Icon name="grip" size={14} />
  </span>
);

function NameLink({ monitor, isActive }: { monitor: OverviewMonitor; isActive: boolean }) {
  const { id, name, status, target, type, lastMessage, muted, pausedUntil } = monitor;
  const address =
    target === null ? getTypeName(type) : type === "http" ? target : `${type} ${target}`;
  const message = hasReason(monitor) ? lastMessage : null;
  const reason = message === null ? undefined : formatReason(message);
  return (
    <Link
      to="/monitors/$id"
      params={{ id }}
      className="row-link row-cut row-name"
      data-item-focus={id}
      tabIndex={isActive ? 0 : -1}
    >
      <b title={name}>
        {name}
        {muted && (
          <span className="row-muted" title={t("Muted")}>
            <Icon name="mute" size={12} />
            <span className="visually-hidden">{t(", muted")}</span>
          </span>
        )}
      </b>
      <span title={reason}>
        {pausedUntil !== null && (
          <>{tNode("Paused until {time}", { time: <Time at={pausedUntil} as="short" /> })} · </>
        )}
        {message !== null && <em className={getReasonTone(status, message)}>{reason} · </em>}
        {address}
      </span>
    </Link>
  );
}

/** Uptime of 30 days, or since the monitor was created. */
function MonthUptime({ monitor: { uptime30d, since } }: { monitor: OverviewMonitor }) {
  const zone = useZone();
  return (
    <span
      className={`row-uptime text-right text-s nowrap row-month num ${since === null ? "" : "faint"}`}
      // Not before someone looks at it: the first date to format takes 5 ms.
      onPointerEnter={({ currentTarget }) => {
        if (since !== null)
          currentTarget.title = capitalize(formatSince(zone, Date.parse(since), Date.now()));
      }}
    >
      {formatPercent(uptime30d)}
    </span>
  );
}

/** The menu of a monitor in lists. */
export function MonitorMenu({
  monitor,
  mayWrite,
  tabbed,
  incidentId,
}: {
  monitor: OverviewMonitor;
  mayWrite: boolean;
  tabbed: boolean;
  /** Its open incident, if the row names one. */
  incidentId?: string | undefined;
}) {
  const { id, name } = monitor;
  const navigate = useNavigate();
  return (
    <RowMenu label={t("Actions for {name}", { name })} tabbed={tabbed}>
      {() => (
        <>
          {incidentId !== undefined && (
            <MenuItem
              icon="warning"
              onClick={() => void navigate({ to: "/incidents/$id", params: { id: incidentId } })}
            >
              {t("Incident")}
            </MenuItem>
          )}
          {mayWrite && <ChangeItems monitor={monitor} />}
          <MenuItem
            icon="chart"
            onClick={() => void navigate({ to: "/reports", search: { monitorId: id } })}
          >
            {t("Report")}
          </MenuItem>
          <RecordItems
            id={id}
            curl={() => ({ method: "GET", route: v1.monitors({ id }) })}
            onDelete={mayWrite && (() => deleteMonitors([monitor]))}
          />
        </>
      )}
    </RowMenu>
  );
}

function ChangeItems({ monitor }: { monitor: OverviewMonitor }) {
  const { check, pause, pauseUntil, mute, edit, duplicate } = getMonitorActions(monitor);
  return (
    <>
      {check !== null && <ActionItem action={check} />}
      <ActionItem action={pause} />
      <ActionItem action={pauseUntil} />
      <ActionItem action={mute} />
      <ActionItem action={edit} />
      <ActionItem action={duplicate} />
      <MenuItem icon="check" onClick={() => selection.toggle(monitor.id)}>
        {t("Select")}
      </MenuItem>
    </>
  );
}
