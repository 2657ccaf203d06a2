/** The tiles of the wall: monitors in trouble and all others. */
import {
  type CSSProperties,
  Fragment,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useNavigate } from "@tanstack/react-router";
import type { Overview, OverviewMonitor } from "../../data/overview.ts";
import { type Attention, useAttention } from "../../data/problems.ts";
import { BarDetails, Bars, type BarTone } from "../../components/display/bars.tsx";
import { dot, formatCount, formatPercent, formatReason } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon, stateLabels } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { describeNotified } from "../monitors/attention-rules.ts";
import { IncidentLine } from "../monitors/point-details.tsx";
import { chooseColumns, splitFirst, plannedId, type Tile } from "./wall-rules.ts";
import { t, tNode } from "../../language/text.ts";

/** A grid of `count` boxes that fills the available space, with boxes as large as possible. */
function FittedGrid({
  className,
  label,
  count,
  ratio,
  weight,
  children,
}: {
  className: string;
  label: string;
  count: number;
  /** Preferred ratio of a box's width to its height. */
  ratio: number;
  /** Share of the height, relative to other grids (`flex-grow`). */
  weight: number;
  children: ReactNode;
}) {
  const room = useRef<HTMLElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = room.current;
    if (element === null) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const columns = chooseColumns(count, size.width, size.height, ratio);
  return (
    <section
      ref={room}
      className={`wall-grid ${className}`}
      aria-label={label}
      style={
        {
          "--columns": columns,
          "--rows": Math.max(1, Math.ceil(count / columns)),
          flexGrow: weight,
        } as CSSProperties
      }
    >
      {children}
    </section>
  );
}

const maxTrouble = 12;
/** Maximum number of cards with space for the alerted channels. */
const maxWithNotified = 4;
const maxTiles = 60;

/** Large cards of monitors that are down or degraded. */
export function TroubleTiles({
  monitors,
  groups,
  isPast,
}: {
  monitors: readonly OverviewMonitor[];
  groups: Overview["groups"];
  /** A past time does not show the channels that are alerted now. */
  isPast: boolean;
}) {
  const { shown, more } = splitFirst(monitors, maxTrouble);
  const { data: attention } = useAttention();
  return (
    <FittedGrid
      className="wall-trouble"
      label={t("Problems")}
      count={shown.length + Math.min(more, 1)}
      ratio={2.4}
      weight={4}
    >
      {shown.map(({ id, name, status, statusSince, lastMessage, target, muted, groupId }) => (
        <article key={id} className={`wall-card wall-${status}`}>
          <div>
            <h2>
              <StateIcon state={status} />
              <span title={name}>{name}</span>
            </h2>
            <p className="wall-since">
              {tNode("{state} for {time}", {
                state: stateLabels[status],
                time: <Time at={statusSince} as="for" />,
              })}
              {!isPast && <Owners names={attention?.get(id)?.acknowledgedBy ?? []} />}
            </p>
            <p className="wall-message">{formatReason(lastMessage ?? target ?? "")}</p>
            {!isPast && monitors.length <= maxWithNotified && (
              <NotifiedChannels
                attention={attention?.get(id)}
                isMuted={muted || groups.some((group) => group.id === groupId && group.muted)}
              />
            )}
          </div>
        </article>
      ))}
      {more > 0 && (
        <article className="wall-card">
          <div>
            <h2>{t("and {count} more", { count: formatCount(more) })}</h2>
          </div>
        </article>
      )}
    </FittedGrid>
  );
}

/** The people who acknowledged the alert. */
const Owners = ({ names }: { names: readonly string[] }) =>
  names.length > 0 && (
    <>
      {dot}
      {t("acknowledged by {names}", { names: names.join(", ") })}
    </>
  );

/** Channels that were alerted about the monitor. */
function NotifiedChannels({
  attention,
  isMuted,
}: {
  attention: Attention | undefined;
  isMuted: boolean;
}) {
  if (attention === undefined) return null;
  const { words, names: all, detail, isBad } = describeNotified(attention, isMuted);
  const names = all.length === 0 ? [] : [all.join(", ")];
  const detailText = isBad && detail !== null ? `: ${detail}` : "";
  const text = `${[...names, words].join(" ")}${detailText}`;
  return (
    <p className="wall-told">
      <Icon name="bell" size={20} />
      <span title={text}>{text}</span>
    </p>
  );
}

/** Tiles of groups with their states. They are smaller while there are problems. */
export function Tiles({
  tiles,
  isBeside,
  isPast,
}: {
  tiles: readonly Tile[];
  isBeside: boolean;
  isPast: boolean;
}) {
  const { shown, more } = splitFirst(tiles, maxTiles);
  return (
    <FittedGrid
      className="wall-tiles"
      label={t("Groups")}
      count={shown.length + Math.min(more, 1)}
      ratio={2.2}
      weight={isBeside ? Math.min(3, 0.6 + shown.length / 7) : 4}
    >
      {shown.map(({ id, name, state, words, monitors }) => (
        <article
          key={id}
          className={`wall-tile wall-${state} ${id === plannedId ? "wall-planned" : ""}`}
          style={{ "--letters": name.length } as CSSProperties}
        >
          <div>
            <h2>
              <StateIcon state={state} />
              <span title={name}>{name}</span>
            </h2>
            <Counts words={words} />
            <Segments name={name} monitors={monitors} isPast={isPast} />
          </div>
        </article>
      ))}
      {more > 0 && (
        <article className="wall-tile">
          <div>
            <h2>{t("and {count} more", { count: formatCount(more) })}</h2>
          </div>
        </article>
      )}
    </FittedGrid>
  );
}

/** Counts per state. Only the worst state is colored. */
function Counts({ words }: Pick<Tile, "words">) {
  const [worst = "", ...others] = words.split(", ");
  return (
    <p style={{ "--count-letters": words.length } as CSSProperties}>
      <b>{worst}</b>
      {others.map((other) => (
        <Fragment key={other}>
          , <span>{other}</span>
        </Fragment>
      ))}
    </p>
  );
}

const tones: Record<Tile["state"], BarTone> = {
  up: "up",
  degraded: "degraded",
  down: "down",
  maintenance: "maintenance",
  paused: "none",
  pending: "none",
  unknown: "none",
};

/** Monitors of a group, one bar per monitor, the worst state first. */
function Segments({
  name,
  monitors,
  isPast,
}: Pick<Tile, "name" | "monitors"> & { isPast: boolean }) {
  const shownMonitors = monitors.slice(0, 60);
  const navigate = useNavigate();
  if (shownMonitors.length === 0) return null;
  return (
    <Bars
      className="wall-segments"
      label={t("Monitors of {name}, one bar each", { name })}
      tones={shownMonitors.map(({ status }) => tones[status])}
      onPick={(index) =>
        void navigate({ to: "/monitors/$id", params: { id: shownMonitors[index]?.id ?? "" } })
      }
    >
      {(index) => <Segment monitor={shownMonitors[index]} isPast={isPast} />}
    </Bars>
  );
}

function Segment({ monitor, isPast }: { monitor: OverviewMonitor | undefined; isPast: boolean }) {
  const { data: attention } = useAttention();
  if (monitor === undefined) return null;
  const { id, name, status, statusSince, lastMessage, uptime24h } = monitor;
  const incident = isPast ? null : (attention?.get(id)?.incident ?? null);
  return (
    <BarDetails
      title={name}
      keys={[
        [["←", "→"], t("move")],
        [["↵"], incident === null ? t("open monitor") : t("open incident")],
        [["Esc"], t("close")],
      ]}
      lines={[
        [t("State"), stateLabels[status]],
        [t("Since"), <Time key="since" at={statusSince} as="short" />],
        [t("For"), <Time key="for" at={statusSince} as="for" />],
        [t("Reason"), lastMessage === null ? null : formatReason(lastMessage)],
        [t("24 hours"), uptime24h === null ? null : formatPercent(uptime24h)],
      ]}
    >
      {incident !== null && <IncidentLine incident={incident} />}
    </BarDetails>
  );
}
