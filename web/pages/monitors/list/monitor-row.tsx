import { Link, useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { capitalized } from "../../../../src/core/text/words.ts";
import { sinceIn } from "../../../../src/core/time/times.ts";
import { v1 } from "../../../data/client.ts";
import type { OverviewMonitor } from "../../../data/overview.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import {
  latencyInWords,
  percent,
  reasonInWords,
  reasonTone,
} from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../../components/menus.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { notifyError, notify } from "../../../components/toasts.tsx";
import { checkNow, deleteMonitors, muteMonitor, pauseMonitor } from "../actions.ts";
import { endDrag, startDrag } from "./dragging.ts";
import { typeName } from "../type-names.ts";
import { DayBar, Spark } from "./day-bar.tsx";
import { selection } from "./list-state.ts";
import { useZone } from "../../../components/display/time.tsx";

type Props = {
  monitor: OverviewMonitor;
  active: boolean;
  selected: boolean;
  /** The ids of all rows on the page, for choosing a range. */
  order: readonly string[];
  mayWrite: boolean;
  mayMove: boolean;
};

const measured = (status: string) => status === "up" || status === "degraded";

/** Whether its row says why it is as it is. */
export const hasReason = ({ status, lastMessage }: OverviewMonitor): boolean =>
  status !== "up" && status !== "paused" && lastMessage !== null;

/** One monitor; painted anew only when something in it changes. */
export const MonitorRow = memo(
  function MonitorRow({ monitor, active, selected, order, mayWrite, mayMove }: Props) {
    const { id, name, status, target, type, lastMessage, muted, day } = monitor;
    const where = target === null ? typeName(type) : type === "http" ? target : `${type} ${target}`;
    const message = hasReason(monitor) ? lastMessage : null;
    const reason = message === null ? undefined : reasonInWords(message);
    return (
      <div className={message === null ? "row" : "row row-reasoned"} data-item>
        {mayMove && (
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
        )}
        {mayWrite ? (
          <input
            type="checkbox"
            className="row-check"
            aria-label={`Select ${name}`}
            tabIndex={active ? 0 : -1}
            checked={selected}
            onChange={() => {}}
            onClick={(event) =>
              event.shiftKey ? selection.reach(id, order) : selection.toggle(id)
            }
          />
        ) : (
          <span />
        )}
        <StateIcon state={status} label />
        <Link
          to="/monitors/$id"
          params={{ id }}
          className="row-link row-cut row-name"
          data-item-focus={id}
          tabIndex={active ? 0 : -1}
        >
          <b title={name}>
            {name}
            {muted && (
              <span className="row-muted" title="Muted">
                <Icon name="mute" size={12} />
                <span className="visually-hidden">, muted</span>
              </span>
            )}
          </b>
          <span title={reason}>
            {message !== null && <em className={reasonTone(status, message)}>{reason} · </em>}
            {where}
          </span>
        </Link>
        <DayBar id={id} name={name} day={day} tabbed={active} />
        <Spark course={monitor.spark} />
        <span className="row-latency quiet text-right text-s nowrap num">
          {latencyInWords(measured(status) ? monitor.latencyMs : null)}
        </span>
        <span className="row-uptime text-right text-s nowrap num">
          {percent(monitor.uptime24h)}
        </span>
        <MonthUptime monitor={monitor} />
        <MonitorMenu monitor={monitor} mayWrite={mayWrite} tabbed={active} />
      </div>
    );
  },
  (one, other) =>
    one.monitor === other.monitor &&
    one.active === other.active &&
    one.selected === other.selected &&
    one.mayMove === other.mayMove &&
    one.mayWrite === other.mayWrite,
);

/** Since it began, where that is less than 30 days ago. */
function MonthUptime({ monitor: { uptime30d, since } }: { monitor: OverviewMonitor }) {
  const zone = useZone();
  const title =
    since === null ? undefined : capitalized(sinceIn(zone, Date.parse(since), Date.now()));
  return (
    <span
      className={`row-uptime text-right text-s nowrap row-month num ${since === null ? "" : "faint"}`}
      title={title}
    >
      {percent(uptime30d)}
    </span>
  );
}

/** What can be done to a monitor, wherever it stands on the page. */
export function MonitorMenu({
  monitor,
  mayWrite,
  tabbed,
  incidentId,
}: {
  monitor: OverviewMonitor;
  mayWrite: boolean;
  tabbed: boolean;
  /** The one that it is in, where the row names it. */
  incidentId?: string | undefined;
}) {
  const { id, name, type, status, paused, muted } = monitor;
  const navigate = useNavigate();
  return (
    <RowMenu label={`Actions for ${name}`} tabbed={tabbed}>
      {() => (
        <>
          {incidentId !== undefined && (
            <MenuItem
              icon="warning"
              onClick={() => void navigate({ to: "/incidents/$id", params: { id: incidentId } })}
            >
              Incident
            </MenuItem>
          )}
          {mayWrite && (
            <>
              {status !== "paused" && type !== "push" && (
                <MenuItem
                  icon="refresh"
                  onClick={() =>
                    void checkNow(id)
                      .then(() => notify(`Checked ${name}`))
                      .catch(notifyError)
                  }
                >
                  Check now
                </MenuItem>
              )}
              <MenuItem icon={paused ? "play" : "pause"} onClick={() => void pauseMonitor(monitor)}>
                {paused ? "Resume" : "Pause"}
              </MenuItem>
              <MenuItem icon={muted ? "sound" : "mute"} onClick={() => void muteMonitor(monitor)}>
                {muted ? "Unmute" : "Mute"}
              </MenuItem>
              <MenuItem icon="edit" onClick={() => openDialog({ kind: "edit-monitor", id })}>
                Edit
              </MenuItem>
              <MenuItem
                icon="copy"
                onClick={() => openDialog({ kind: "create-monitor", like: id })}
              >
                Duplicate
              </MenuItem>
              <MenuItem icon="check" onClick={() => selection.toggle(id)}>
                Select
              </MenuItem>
            </>
          )}
          <MenuItem
            icon="chart"
            onClick={() => void navigate({ to: "/reports", search: { monitorId: id } })}
          >
            Report
          </MenuItem>
          <RecordItems
            curl={() => ({ method: "GET", route: v1.monitors({ id }) })}
            onDelete={mayWrite && (() => deleteMonitors([{ id, name }]))}
          />
        </>
      )}
    </RowMenu>
  );
}
