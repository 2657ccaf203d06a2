import { useComputedColorScheme } from "@mantine/core";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import uPlot from "uplot";
import { formatIn, minuteFormat } from "../../../src/core/times.ts";
import { countInWords, latencyInWords } from "../../components/format.ts";
import { durationInWords, useZone } from "../../components/time.tsx";
import {
  type Columns,
  type Figures,
  type LineName,
  lineNames,
  lonelyIn,
  type Run,
  runsOf,
  type Scale,
  scaleOf,
} from "./chart-data.ts";
import type { Span } from "./data.ts";
import { stateLabels } from "../../components/state-icon.tsx";

const height = 300;
const dayMs = 86_400_000;
/** Nobody looks closer than this, … */
const leastMs = 10_000;
/** … or at more at once. */
const mostMs = 90 * dayMs;
const soft = { down: "--down-soft", degraded: "--degraded-soft", maintenance: "--maint-soft" };
const strong = { down: "--down", degraded: "--degraded", maintenance: "--maint" };
const strip = {
  up: "--up-calm",
  down: "--down-bar",
  degraded: "--degraded-bar",
  maintenance: "--maint-bar",
};

type Props = {
  span: Span;
  columns: Columns;
  shown: readonly LineName[];
  onZoom: (span: Span | null) => void;
  /** What is said of the slot under the cursor. */
  children: (index: number) => ReactNode;
};

/** What the drawing reads: as it is now, so that new data need no new chart. */
type Drawn = { span: Span; columns: Columns; scale: Scale; runs: Run[]; zone: string };

/** The latency over the time with its troubles behind it; dragging over a part looks into it. */
export default function LatencyChart({ span, columns, shown, onZoom, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const zone = useZone();
  const scheme = useComputedColorScheme();
  const [cursor, setCursor] = useState<{ index: number; left: number } | null>(null);
  const fingers = useRef(new Map<number, { x: number; at: number }>());
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const lines = lineNames.filter((name) => shown.includes(name)).join(" ");
  const drawn = useRef<Drawn>(null as never);
  drawn.current = useMemo(() => {
    const visible = lineNames.filter((name) => lines.includes(name));
    const scale = scaleOf(visible.map((name) => columns.lines[name]));
    return { span, columns, scale, runs: runsOf(columns.points), zone };
  }, [span, columns, lines, zone]);

  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const made = makeChart(place, drawn, {
      onZoom: (part) => zoom.current(part),
      onCursor: setCursor,
    });
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [scheme]);

  useEffect(() => {
    const made = chart.current;
    if (made === null) return;
    for (const [index, name] of lineNames.entries())
      made.setSeries(index + 1, { show: lines.includes(name) });
    made.setData([columns.times, ...lineNames.map((name) => columns.lines[name])], true);
  }, [columns, lines, scheme, span, zone]);

  const last = columns.times.length - 1;
  const index = cursor === null ? null : Math.min(cursor.index, last);

  function moveTo(next: number) {
    const time = columns.times[Math.max(0, Math.min(last, next))] ?? 0;
    const left = chart.current?.valToPos(time, "x") ?? 0;
    chart.current?.setCursor({ left, top: 0 });
  }

  function zoomTo(middle: number, wanted: number) {
    const length = Math.min(wanted, mostMs);
    if (length < leastMs) return;
    const to = Math.min(Date.now(), middle + length / 2);
    onZoom({ from: to - length, to });
  }

  function zoomBy(factor: number) {
    const middle = index === null ? (span.from + span.to) / 2 : (columns.times[index] ?? 0) * 1_000;
    zoomTo(middle, (span.to - span.from) * factor);
  }

  /** One finger reads; two have the times that they were put on under them where they are lifted. */
  function onTouch({ type, pointerType, pointerId, clientX }: PointerEvent) {
    const made = chart.current;
    if (pointerType !== "touch" || made === null) return;
    const held = fingers.current;
    const x = clientX - made.over.getBoundingClientRect().left;
    const at = held.get(pointerId)?.at ?? made.posToVal(x, "x") * 1_000;
    if (type === "pointerdown" || held.has(pointerId)) held.set(pointerId, { x, at });
    if (held.size === 1) made.setCursor({ left: x, top: 0 });
    if (type !== "pointerup" && type !== "pointercancel") return;
    const [one, other] = held.values();
    held.delete(pointerId);
    if (type === "pointercancel" || one === undefined || other === undefined) return;
    held.clear();
    const perPixel = (other.at - one.at) / (other.x - one.x);
    const length = perPixel * made.over.clientWidth;
    if (length > 0) zoomTo(one.at - one.x * perPixel + length / 2, length);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const latest = columns.points.findLastIndex((point) => point !== undefined);
    const at = index ?? latest + 1;
    if (event.key === "ArrowLeft") moveTo(at - 1);
    else if (event.key === "ArrowRight") moveTo(index === null ? 0 : at + 1);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(latest);
    else if (event.key === "+") zoomBy(0.5);
    else if (event.key === "-") zoomBy(2);
    else if (event.key === "Escape") {
      if (index === null) onZoom(null);
      else chart.current?.setCursor({ left: -10, top: -10 });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const width = box.current?.clientWidth ?? 0;
  const isRight = cursor !== null && cursor.left > width / 2;
  return (
    <div
      className="chart"
      role="group"
      tabIndex={0}
      aria-label="Latency chart. Arrow keys read it, plus and minus zoom; as a table, see the button above."
      onKeyDown={onKeyDown}
      onDoubleClick={() => onZoom(null)}
      onPointerDown={onTouch}
      onPointerMove={onTouch}
      onPointerUp={onTouch}
      onPointerCancel={onTouch}
    >
      <div ref={box} aria-hidden="true" style={{ height }} />
      {index !== null && cursor !== null && (
        <div
          className="chart-tip"
          aria-live="polite"
          style={isRight ? { right: width - cursor.left + 16 } : { left: cursor.left + 16 }}
        >
          {children(index)}
        </div>
      )}
    </div>
  );
}

function makeChart(
  place: HTMLElement,
  drawn: { readonly current: Drawn },
  on: {
    onZoom: (span: Span) => void;
    onCursor: (cursor: { index: number; left: number } | null) => void;
  },
): uPlot {
  const color = colorsAt(place);
  const axis = {
    stroke: color("--ink-3"),
    ticks: { show: false },
    font: "11px Inter Variable, sans-serif",
  };
  const line = (stroke: string, more: Partial<uPlot.Series> = {}): uPlot.Series => ({
    stroke,
    width: 1.4,
    spanGaps: false,
    points: {
      show: true,
      size: 5,
      fill: stroke,
      filter: (chart, index) => lonelyIn(chart.data[index] as Figures),
    },
    ...more,
  });
  const accent = color("--accent");
  const made: uPlot = new uPlot(
    {
      width: place.clientWidth,
      height,
      // A label in the middle of the last tick, such as `Wed 30 Sept`, ends within the chart.
      padding: [26, 36, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), drawn.current.zone),
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
      },
      scales: {
        x: {
          time: true,
          range: () => [drawn.current.span.from / 1_000, drawn.current.span.to / 1_000],
        },
        y: { range: () => [0, drawn.current.scale.top] },
      },
      axes: [
        {
          ...axis,
          size: 34,
          gap: 10,
          grid: { show: false },
          values: (_, ticks) => timesOf(drawn.current, ticks),
        },
        {
          ...axis,
          // As wide as its longest label, which may be `60,000 ms`.
          size: (_, labels) =>
            12 + 6.4 * Math.max(5, ...(labels ?? []).map(({ length }) => length)),
          grid: { stroke: color("--line"), width: 1 },
          splits: () => {
            const { top, step } = drawn.current.scale;
            return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
          },
          // The unit stands on the top label alone.
          values: (_, ticks) =>
            ticks.map((ms, index) =>
              index === ticks.length - 1 ? `${countInWords(ms)} ms` : countInWords(ms),
            ),
        },
      ],
      series: [
        {},
        line(accent, { width: 1.8, fill: color("--accent-soft") }),
        line(accent, { alpha: 0.55 }),
        line(accent, { alpha: 0.8, dash: [1, 3] }),
        line(color("--ink-3"), { dash: [4, 4], width: 1.2 }),
      ],
      hooks: {
        drawClear: [(chart) => drawTroubles(chart, drawn.current, color)],
        draw: [(chart) => drawEdges(chart, drawn.current, color)],
        setCursor: [
          ({ cursor: { idx, left = -1 }, over }) => {
            const at = left + over.offsetLeft;
            on.onCursor(idx == null || left < 0 ? null : { index: idx, left: at });
          },
        ],
        setSelect: [
          (chart) => {
            const { left, width } = chart.select;
            if (width < 8) return;
            const from = chart.posToVal(left, "x") * 1_000;
            const to = chart.posToVal(left + width, "x") * 1_000;
            chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            if (to - from >= leastMs) on.onZoom({ from, to });
          },
        ],
      },
    },
    [[0], [null], [null], [null], [null]],
    place,
  );
  return made;
}

/** A canvas knows no custom properties: this reads what they come to in the theme of the moment. */
function colorsAt(element: HTMLElement) {
  const probe = document.createElement("i");
  element.append(probe);
  const known = new Map<string, string>();
  return (token: string): string => {
    const found = known.get(token);
    if (found !== undefined) return found;
    if (!probe.isConnected) element.append(probe);
    probe.style.color = `var(${token})`;
    const color = getComputedStyle(probe).color;
    probe.remove();
    known.set(token, color);
    return color;
  };
}

type ColorOf = (token: string) => string;

/** Where a run of slots begins and ends on the canvas, as wide as its share of them, at least `least`. */
function edgesOf(chart: uPlot, { columns }: Drawn, run: Run, least: number) {
  const { step } = columns;
  const { bbox } = chart;
  const begin = (columns.times[run.first] ?? 0) - step / 2;
  const whole = (run.last - run.first + 1) * step;
  const from = chart.valToPos(begin, "x", true);
  // Of the slot that goes on, what is ahead is nothing yet.
  const end = Math.min(begin + Math.min(whole, run.seconds), Date.now() / 1_000);
  const to = chart.valToPos(end, "x", true);
  const left = Math.max(bbox.left, from);
  return { left, width: Math.max(least, Math.min(bbox.left + bbox.width, to) - left) };
}

function drawTroubles(chart: uPlot, drawn: Drawn, color: ColorOf) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.textAlign = "left";
  ctx.font = `500 ${11 * ratio}px Inter Variable, sans-serif`;
  let free = 0;
  for (const run of drawn.runs) {
    const { state } = run;
    if (state === "up") continue;
    const { left, width } = edgesOf(chart, drawn, run, 2 * ratio);
    ctx.fillStyle = color(soft[state]);
    ctx.fillRect(left, bbox.top, width, bbox.height);
    const words = `${stateLabels[state]} ${durationInWords(run.seconds)}`;
    const length = ctx.measureText(words).width;
    const at = Math.min(left, bbox.left + bbox.width - length);
    if (at < free || width < 3 * ratio) continue;
    ctx.fillStyle = color(strong[state]);
    ctx.fillText(words, at, bbox.top - 8 * ratio);
    free = at + length + 12 * ratio;
  }
  drawDays(chart, drawn, color);
  ctx.restore();
}

/** A stronger line where a day begins. */
function drawDays(chart: uPlot, { span, zone }: Drawn, color: ColorOf) {
  if (span.to - span.from > 8 * dayMs) return;
  const { ctx, bbox } = chart;
  ctx.fillStyle = color("--line-strong");
  for (const at of midnightsOf(span, zone)) {
    const x = Math.round(chart.valToPos(at / 1_000, "x", true));
    ctx.fillRect(x, bbox.top, devicePixelRatio, bbox.height);
  }
}

function midnightsOf({ from, to }: Span, zone: string): number[] {
  const clock = formatIn(zone, minuteFormat);
  const quarter = 900_000;
  const found: number[] = [];
  for (let at = Math.ceil(from / quarter) * quarter; at < to; at += quarter)
    if (clock.format(at) === "00:00") found.push(at);
  return found;
}

const rank = ({ state }: Run) => (state === "up" ? 0 : 1);

/** The strip of states below the plot, and how high the line goes that is cut off at its top. */
function drawEdges(chart: uPlot, drawn: Drawn, color: ColorOf) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const top = bbox.top + bbox.height + 5 * ratio;
  ctx.save();
  ctx.textAlign = "left";
  // What is widened, because there is little of it, covers what is not.
  for (const run of drawn.runs.toSorted((one, other) => rank(one) - rank(other))) {
    const whole = { ...run, seconds: Number.MAX_SAFE_INTEGER };
    const { left, width } = edgesOf(chart, drawn, whole, run.state === "up" ? 0 : 3 * ratio);
    ctx.fillStyle = color(strip[run.state]);
    ctx.fillRect(left, top, width, 4 * ratio);
  }
  const { peak } = drawn.scale;
  if (peak !== null) {
    const words = `▲ up to ${latencyInWords(peak.ms)}`;
    ctx.font = `500 ${11 * ratio}px Inter Variable, sans-serif`;
    const x = chart.valToPos(drawn.columns.times[peak.index] ?? 0, "x", true);
    const length = ctx.measureText(words).width;
    const isRight = x + length + 8 * ratio > bbox.left + bbox.width;
    ctx.fillStyle = color("--ink-2");
    ctx.fillText(words, isRight ? x - length - 6 * ratio : x + 6 * ratio, bbox.top + 12 * ratio);
  }
  ctx.restore();
}

/** Clocks, with the day where one begins; days alone for more than two of them. */
function timesOf({ span, zone }: Drawn, ticks: readonly number[]): string[] {
  const isLong = span.to - span.from > 2 * dayMs;
  const clock = formatIn(zone, minuteFormat);
  const day = formatIn(zone, {
    ...(!isLong && { weekday: "short" }),
    day: "numeric",
    month: "short",
  });
  let last = "";
  return ticks.map((seconds) => {
    const time = clock.format(seconds * 1_000);
    const text = isLong || time === "00:00" ? day.format(seconds * 1_000).replace(",", "") : time;
    if (text === last) return "";
    last = text;
    return text;
  });
}
