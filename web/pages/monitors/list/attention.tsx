/** The list of monitors that need attention, with the channels that were alerted. */
import { nameIncident } from "../../../language/server-text.ts";
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { createChunk } from "../../../data/chunks.ts";
import { hiddenItems } from "../../../components/stored-set.ts";
import {
  countAllStates,
  listKnownMonitors,
  type Overview,
  type OverviewMonitor,
} from "../../../data/overview.ts";
import { type Attention, isTroubled, useAttention } from "../../../data/problems.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { formatCount, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import {
  formatUnbrokenDuration,
  Time,
  useNow,
  useZone,
} from "../../../components/display/time.tsx";
import { useMaintenanceEnd } from "../../maintenance/current-windows.ts";
import { createTroubledOrder, describeNotified, keepOrder } from "../attention-rules.ts";
import { getMonitorActions } from "../record-actions.ts";
import { MonitorMenu } from "./monitor-row.tsx";
import { t, tCount, tNode } from "../../../language/text.ts";

const loadAlerts = createChunk(() => import("../../alerts/data.ts"));

/** More than `maxRows` are cut to `foldedRows`, with a button for the rest. */
const [maxRows, foldedRows] = [6, 5];
/** Recovered monitors stay visible for 10 s, so that people notice the recovery. */
const farewellMs = 10_000;

const hiddenKey = "needs-attention";

/** Lists monitors that are down or degraded. The browser remembers whether it is collapsed. */
export function NeedsAttention({ overview }: { overview: Overview }) {
  const isFolded = hiddenItems.use().has(hiddenKey);
  const { data: attention } = useAttention();
  const { rows, hold } = useRows(listKnownMonitors(overview), attention);
  const states = countAllStates(overview);
  const [all, setAll] = useState(false);
  const groups = new Map(overview.groups.map((group) => [group.id, group]));
  const known = rows.filter(({ monitor }) => isTroubled(monitor)).length;
  // If there are many monitors, the server sends only the worst ones.
  const count = Math.max(known, (states.down ?? 0) + (states.degraded ?? 0));
  if (rows.length === 0) return null;
  const shownRows = all || rows.length <= maxRows ? rows : rows.slice(0, foldedRows);
  return (
    <section className="panel panel-flush attention" aria-labelledby="attention-title">
      <Head count={count} states={states} isFolded={isFolded} />
      {!isFolded && (
        <>
          <ul {...hold}>
            {shownRows.map(({ monitor, downSeconds }) => (
              <AttentionRow
                key={monitor.id}
                monitor={monitor}
                downSeconds={downSeconds}
                attention={attention?.get(monitor.id)}
                isMuted={
                  monitor.muted ||
                  (monitor.groupId !== null && groups.get(monitor.groupId)?.muted === true)
                }
              />
            ))}
          </ul>
          {rows.length > maxRows && (
            <button type="button" className="attention-more link" onClick={() => setAll(!all)}>
              {all ? t("Show less") : t("Show {count} more", { count: rows.length - foldedRows })}
            </button>
          )}
          {all && count > known && (
            <Link
              className="attention-more link"
              to="/monitors"
              search={{ status: (states.down ?? 0) > 0 ? "down" : "degraded" }}
            >
              {t("{count} more", { count: formatCount(count - known) })}
            </Link>
          )}
        </>
      )}
    </section>
  );
}

function Head({
  count,
  states,
  isFolded,
}: {
  count: number;
  states: ReturnType<typeof countAllStates>;
  isFolded: boolean;
}) {
  return (
    <header className="attention-head">
      <h2 id="attention-title">
        <button
          type="button"
          aria-expanded={!isFolded}
          onClick={() => (isFolded ? hiddenItems.forget(hiddenKey) : hiddenItems.add(hiddenKey))}
        >
          <Icon name={isFolded ? "right" : "down"} size={14} />
          {tNode("Needs attention {count}", {
            count: <span className="num">{formatCount(count)}</span>,
          })}
        </button>
      </h2>
      <QuietCounts states={states} />
    </header>
  );
}

type Row = {
  monitor: OverviewMonitor;
  /** Duration of the trouble in seconds; null while it lasts. */
  downSeconds: number | null;
};

/** Rows of troubled and recently recovered monitors. They don't move while hovered or focused. */
function useRows(
  monitors: readonly OverviewMonitor[],
  attention: ReadonlyMap<string, Attention> | undefined,
) {
  const now = useNow();
  const seen = useRef(new Map<string, { since: string; overAt: number | null }>());
  const order = useRef<string[]>([]);
  const isHeld = useRef(false);
  const byId = new Map<string, OverviewMonitor>();
  for (const monitor of monitors)
    if (isTroubled(monitor) || seen.current.has(monitor.id)) byId.set(monitor.id, monitor);
  for (const [id, monitor] of byId) {
    const { statusSince } = monitor;
    const before = seen.current.get(id);
    if (isTroubled(monitor)) {
      if (before === undefined || before.overAt !== null)
        seen.current.set(id, { since: statusSince, overAt: null });
    } else if (before !== undefined && before.overAt === null) {
      if (monitor.status === "up") before.overAt = Date.now();
      else seen.current.delete(id);
    }
  }
  for (const [id, { overAt }] of seen.current)
    if (!byId.has(id) || (overAt !== null && now - overAt > farewellMs)) seen.current.delete(id);
  const presentMonitors = [...seen.current.keys()].flatMap((id) => byId.get(id) ?? []);
  // Recovered monitors stay at their position.
  const orderedIds = presentMonitors.toSorted(createTroubledOrder(attention)).map(({ id }) => id);
  const recovering = presentMonitors.some((monitor) => !isTroubled(monitor));
  order.current = isHeld.current || recovering ? keepOrder(order.current, orderedIds) : orderedIds;
  const rows = order.current.flatMap((id): Row[] => {
    const monitor = byId.get(id);
    const one = seen.current.get(id);
    if (monitor === undefined || one === undefined) return [];
    const downSeconds =
      one.overAt === null
        ? null
        : Math.round((Date.parse(monitor.statusSince) - Date.parse(one.since)) / 1000);
    return [{ monitor, downSeconds }];
  });
  const setHeld = (isOn: boolean) => () => void (isHeld.current = isOn);
  const hold = {
    onPointerEnter: setHeld(true),
    onPointerLeave: setHeld(false),
    onFocus: setHeld(true),
    onBlur: setHeld(false),
  };
  return { rows, hold };
}

function AttentionRow({
  monitor,
  downSeconds,
  attention,
  isMuted,
}: {
  monitor: OverviewMonitor;
  downSeconds: number | null;
  attention: Attention | undefined;
  isMuted: boolean;
}) {
  const { id, name, status, statusSince, lastMessage } = monitor;
  const isOver = downSeconds !== null;
  const incident = isOver ? null : attention?.incident;
  const reason = formatReason(lastMessage ?? "");
  return (
    <li className={`attention-row ${isOver ? "attention-over" : ""}`}>
      <span className={`attention-state ${status}`}>
        <StateIcon state={status} />
        <span>{stateLabels[status]}</span>
      </span>
      <div className="attention-name min-w-0">
        <Link to="/monitors/$id" params={{ id }} title={name}>
          {name}
        </Link>
        <span title={reason}>
          {isOver
            ? t("Up after {duration}", { duration: formatUnbrokenDuration(downSeconds) })
            : reason}
        </span>
      </div>
      <span className="attention-since">
        <Time at={statusSince} as="short" />
        {!isOver && (
          <small>{tNode("for {time}", { time: <Time at={statusSince} as="for" /> })}</small>
        )}
      </span>
      <span className="attention-who min-w-0">
        {!isOver && attention !== undefined && (
          <NotifiedNames attention={attention} isMuted={isMuted} />
        )}
      </span>
      <RowActions monitor={monitor} isOver={isOver} incident={incident} attention={attention} />
    </li>
  );
}

function RowActions({
  monitor,
  isOver,
  incident,
  attention,
}: {
  monitor: OverviewMonitor;
  isOver: boolean;
  incident: Attention["incident"] | undefined;
  attention: Attention | undefined;
}) {
  const { id, name } = monitor;
  const { mayWrite } = useSignedInPerson();
  const { check } = getMonitorActions(monitor);
  const alertId =
    mayWrite && !isOver && attention?.acknowledgedBy.length === 0 ? attention.alertId : null;
  return (
    <span className="attention-actions">
      {alertId !== null && (
        <Button
          size="xs"
          className="attention-first"
          aria-label={t("Acknowledge: {name}", { name })}
          onClick={() =>
            void loadAlerts().then((alerts) =>
              alerts.acknowledgeAlert({ id: alertId, title: name }),
            )
          }
        >
          {t("Acknowledge")}
        </Button>
      )}
      {mayWrite && !isOver && check !== null && (
        <Button size="xs" aria-label={t("Check now: {name}", { name })} onClick={check.run}>
          {t("Check now")}
        </Button>
      )}
      <Button
        size="xs"
        className="only-phone"
        component={Link}
        to={`/monitors/${id}`}
        aria-label={t("Open: {name}", { name })}
      >
        {t("Open")}
      </Button>
      {incident != null && (
        <Link
          to="/incidents/$id"
          params={{ id: incident.id }}
          className="link"
          title={nameIncident(incident)}
        >
          {t("Incident")}
        </Link>
      )}
      <MonitorMenu monitor={monitor} mayWrite={mayWrite} tabbed incidentId={incident?.id} />
    </span>
  );
}

function NotifiedNames({ attention, isMuted }: { attention: Attention; isMuted: boolean }) {
  const { words, names, at, detail, hint, isBad } = describeNotified(attention, isMuted);
  const [first, ...others] = names;
  const owners = attention.acknowledgedBy.join(", ");
  const ownerParts = owners === "" ? [] : [t("Acknowledged by {owners}", { owners })];
  const details = detail === null ? ownerParts : [...ownerParts, detail];
  const hints = detail === null ? ownerParts : [...ownerParts, hint ?? detail];
  return (
    <>
      <span className={isBad ? "attention-bad down" : ""}>
        {isBad && <Icon name="bell" size={14} />}
        {first !== undefined && (
          <b title={names.join(", ")}>
            {first}
            {others.length > 0 && ` +${others.length}`}
          </b>
        )}{" "}
        {words} {at !== null && <Time at={at} as="short" />}
      </span>
      {details.length > 0 && <small title={hints.join(" · ")}>{details.join(" · ")}</small>}
    </>
  );
}

const quietStates = [
  {
    state: "maintenance",
    words: (count: number, end: string) =>
      t("{count} in maintenance{end}", { count: formatCount(count), end }),
  },
  {
    state: "pending",
    words: (count: number) =>
      t("{count} waiting for the first result", { count: formatCount(count) }),
  },
  { state: "paused", words: (count: number) => t("{count} paused", { count: formatCount(count) }) },
  {
    state: "unknown",
    words: (count: number) =>
      tCount(count, "{count} monitor not judged", "{count} monitors not judged"),
  },
] as const;

/** Counts of monitors that are neither up nor in trouble, such as paused ones, in one line. */
function QuietCounts({ states }: { states: ReturnType<typeof countAllStates> }) {
  const end = useMaintenanceEnd(useZone(), (states.maintenance ?? 0) > 0);
  const presentStates = quietStates.flatMap(({ state, words }) => {
    const count = states[state] ?? 0;
    return count === 0 ? [] : [{ state, text: words(count, end) }];
  });
  if (presentStates.length === 0) return null;
  return (
    <p className="attention-quiet">
      {presentStates.map(({ state, text }) => (
        <Link key={state} to="/monitors" search={{ status: state }}>
          <StateIcon state={state} size={13} />
          {text}
        </Link>
      ))}
    </p>
  );
}
