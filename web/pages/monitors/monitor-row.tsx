import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { v1 } from "../../data/client.ts";
import type { OverviewMonitor } from "../../data/overview.ts";
import { openDialog } from "../../components/dialogs.ts";
import { latencyInWords, percent } from "../../components/format.ts";
import { Icon } from "../../components/icons.tsx";
import { MenuItem, RecordItems, RowMenu } from "../../components/menus.tsx";
import { StateIcon, type State } from "../../components/state-icon.tsx";
import { notifyError, notify } from "../../components/toasts.tsx";
import { checkNow, deleteMonitors, muteMonitor, pauseMonitor } from "./actions.ts";
import { endDrag, startDrag } from "./dragging.ts";
import { typeLabels } from "./labels.ts";
import { selection } from "./list-state.ts";

type Props = {
  monitor: OverviewMonitor;
  active: boolean;
  selected: boolean;
  onFocus: (key: string) => void;
  /** The ids of all rows on the page, for choosing a range. */
  order: readonly string[];
  mayWrite: boolean;
  mayMove: boolean;
};

const measured = (status: string) => status === "up" || status === "degraded";

/** One monitor; painted anew only when something in it changes. */
export const MonitorRow = memo(
  function MonitorRow({ monitor, active, selected, onFocus, order, mayWrite, mayMove }: Props) {
    const { id, name, status, target, type, lastMessage, muted, day } = monitor;
    const where =
      target === null ? typeLabels[type] : type === "http" ? target : `${type} ${target}`;
    const message = !measured(status) && status !== "paused" ? lastMessage : null;
    return (
      <div className="row" data-item>
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
          onFocus={() => onFocus(id)}
        >
          <b>
            {name}
            {muted && (
              <span className="row-muted" title="Muted">
                <Icon name="mute" size={12} />
                <span className="visually-hidden">, muted</span>
              </span>
            )}
          </b>
          <span>
            {message !== null && <em className={status}>{message} · </em>}
            {where}
          </span>
        </Link>
        <DayBar day={day} />
        <span className="row-latency num">
          {latencyInWords(measured(status) ? monitor.latencyMs : null)}
        </span>
        <span className="row-uptime num">{percent(monitor.uptime24h)}</span>
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

/** What can be done to a monitor, wherever it stands on the page. */
export function MonitorMenu({
  monitor,
  mayWrite,
  tabbed,
}: {
  monitor: OverviewMonitor;
  mayWrite: boolean;
  tabbed: boolean;
}) {
  const { id, name, paused, muted } = monitor;
  return (
    <RowMenu label={`Actions for ${name}`} tabbed={tabbed}>
      {() => (
        <>
          {mayWrite && (
            <>
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
          <RecordItems
            curl={() => ({ method: "GET", route: v1.monitors({ id }) })}
            onDelete={mayWrite && (() => deleteMonitors([{ id, name }]))}
          />
        </>
      )}
    </RowMenu>
  );
}

const states: Record<string, State> = { u: "up", g: "degraded", d: "down", m: "maintenance" };
const words: [letter: string, word: string][] = [
  ["d", "down"],
  ["g", "degraded"],
  ["m", "in maintenance"],
];

/** The last 24 hours as bars; `day` has one letter a span, oldest first. */
const DayBar = memo(function DayBar({ day }: { day: string }) {
  const spans = day.split("");
  const spanMinutes = 1440 / Math.max(1, spans.length);
  const problems = words.flatMap(([letter, word]) => {
    const count = spans.filter((span) => span === letter).length;
    return count === 0 ? [] : [`${word} in ${count} of ${spans.length}`];
  });
  return (
    <div
      className="day-bar"
      role="img"
      aria-label={`Last 24 hours, ${spanMinutes} minutes per bar: ${problems.join(", ") || "no problems"}`}
    >
      {spans.map((span, index) => (
        <i key={index} className={`bar-${states[span] ?? "none"}`} />
      ))}
    </div>
  );
});
