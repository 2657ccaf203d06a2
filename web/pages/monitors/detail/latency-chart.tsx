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
import { countInWords } from "../../../components/display/format.ts";
import { useZone } from "../../../components/display/time.tsx";
import {
  type Columns,
  dayMs,
  type Figures,
  type LineName,
  lineNames,
  lonelyIn,
  runsOf,
  scaleOf,
} from "./chart-data.ts";
import { colorsAt, drawEdges, type Drawn, drawTroubles, timesOf } from "./chart-drawing.ts";
import type { Span } from "../data.ts";

const height = 300;
/** Nobody looks closer than this, … */
const leastMs = 10_000;
/** … or at more at once. */
const mostMs = 90 * dayMs;

type Props = {
  span: Span;
  columns: Columns;
  shown: readonly LineName[];
  onZoom: (span: Span | null) => void;
  /** What is said of the slot under the cursor. */
  children: (index: number) => ReactNode;
};

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
