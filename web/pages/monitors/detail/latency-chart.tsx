/** The latency chart: drawing with uPlot, and reading or zooming it by mouse, keys and touch. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import { useComputedColorScheme } from "@mantine/core";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import uPlot from "uplot";
import { formatCount } from "../../../components/display/format.ts";
import { useZone } from "../../../components/display/time.tsx";
import {
  type Columns,
  type Figures,
  type LineName,
  lineNames,
  listLonelyPoints,
  findRuns,
  chooseScale,
} from "./chart-data.ts";
import {
  createColorReader,
  drawEdges,
  type ChartState,
  drawTroubles,
  formatTicks,
} from "./chart-drawing.ts";
import type { Span } from "../data.ts";
import { t } from "../../../language/text.ts";

const height = 300;
/** Limits of the zoomed range. */
const minRangeMs = 10_000;
const maxRangeMs = 90 * dayMs;

type Props = {
  span: Span;
  columns: Columns;
  shown: readonly LineName[];
  onZoom: (span: Span | null) => void;
  /** Renders the tooltip of a slot. */
  children: (index: number) => ReactNode;
};

type Cursor = { index: number; left: number } | null;

/** Latency over time, in front of the times of trouble. Dragging over a part zooms in. */
export default function LatencyChart({ span, columns, shown, onZoom, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<Cursor>(null);
  const chart = usePlot(box, { span, columns, shown, onZoom }, setCursor);
  const last = columns.times.length - 1;
  const index = cursor === null ? null : Math.min(cursor.index, last);

  function zoomTo(middle: number, wanted: number) {
    const length = Math.min(wanted, maxRangeMs);
    if (length < minRangeMs) return;
    const to = Math.min(Date.now(), middle + length / 2);
    onZoom({ from: to - length, to });
  }
  const onTouch = useTouch(chart, zoomTo);

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const zoomBy = (factor: number) => {
      const middle =
        index === null ? (span.from + span.to) / 2 : (columns.times[index] ?? 0) * 1_000;
      zoomTo(middle, (span.to - span.from) * factor);
    };
    const target = moveIndexByKey(event.key, index, columns);
    if (target !== null) moveCursor(chart.current, columns, target);
    else if (event.key === "+") zoomBy(0.5);
    else if (event.key === "-") zoomBy(2);
    else if (event.key !== "Escape") return;
    else if (index === null) onZoom(null);
    else chart.current?.setCursor({ left: -10, top: -10 });
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      className="chart"
      role="group"
      tabIndex={0}
      aria-label={t(
        "Latency chart. Arrow keys read it, plus and minus zoom; as a table, see the button above.",
      )}
      onKeyDown={onKeyDown}
      onDoubleClick={() => onZoom(null)}
      onPointerDown={onTouch}
      onPointerMove={onTouch}
      onPointerUp={onTouch}
      onPointerCancel={onTouch}
    >
      <div ref={box} aria-hidden="true" style={{ height }} />
      {index !== null && cursor !== null && (
        <Tooltip left={cursor.left} width={box.current?.clientWidth ?? 0}>
          {children(index)}
        </Tooltip>
      )}
    </div>
  );
}

/** A tooltip on the side of the cursor that has more space. */
const Tooltip = ({
  left,
  width,
  children,
}: {
  left: number;
  width: number;
  children: ReactNode;
}) => (
  <div
    className="chart-tip"
    aria-live="polite"
    style={left > width / 2 ? { right: width - left + 16 } : { left: left + 16 }}
  >
    {children}
  </div>
);

/** The slot to which a key moves the cursor; null for other keys. */
function moveIndexByKey(key: string, index: number | null, { points }: Columns): number | null {
  const latest = points.findLastIndex((point) => point !== undefined);
  const current = index ?? latest + 1;
  if (key === "ArrowLeft") return current - 1;
  if (key === "ArrowRight") return index === null ? 0 : current + 1;
  if (key === "Home") return 0;
  return key === "End" ? latest : null;
}

function moveCursor(chart: uPlot | null, { times }: Columns, index: number) {
  const time = times[Math.max(0, Math.min(times.length - 1, index))] ?? 0;
  chart?.setCursor({ left: chart.valToPos(time, "x"), top: 0 });
}

/** Creates the chart in `box`, and updates it with data, size and color scheme. */
function usePlot(
  box: RefObject<HTMLDivElement | null>,
  { span, columns, shown, onZoom }: Omit<Props, "children">,
  onCursor: (cursor: Cursor) => void,
) {
  const chart = useRef<uPlot>(null);
  const zone = useZone();
  const scheme = useComputedColorScheme();
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const lines = lineNames.filter((name) => shown.includes(name)).join(" ");
  const drawn = useRef<ChartState>(null as never);
  drawn.current = useMemo(() => {
    const visible = lineNames.filter((name) => lines.includes(name));
    const scale = chooseScale(visible.map((name) => columns.lines[name]));
    return { span, columns, scale, runs: findRuns(columns.points), zone };
  }, [span, columns, lines, zone]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const plot = createPlot(element, drawn, {
      onZoom: (part) => zoom.current(part),
      onCursor,
    });
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [scheme]);

  useEffect(() => {
    const plot = chart.current;
    if (plot === null) return;
    for (const [index, name] of lineNames.entries())
      plot.setSeries(index + 1, { show: lines.includes(name) });
    plot.setData([columns.times, ...lineNames.map((name) => columns.lines[name])], true);
  }, [columns, lines, scheme, span, zone]);
  return chart;
}

/** One finger moves the cursor. Two fingers zoom: each stays on the time that it first touched. */
function useTouch(
  chart: RefObject<uPlot | null>,
  zoomTo: (middle: number, length: number) => void,
): (event: PointerEvent) => void {
  const fingers = useRef(new Map<number, { x: number; time: number }>());
  return ({ type, pointerType, pointerId, clientX }) => {
    const plot = chart.current;
    if (pointerType !== "touch" || plot === null) return;
    const down = fingers.current;
    const x = clientX - plot.over.getBoundingClientRect().left;
    const time = down.get(pointerId)?.time ?? plot.posToVal(x, "x") * 1_000;
    if (type === "pointerdown" || down.has(pointerId)) down.set(pointerId, { x, time });
    if (down.size === 1) plot.setCursor({ left: x, top: 0 });
    if (type !== "pointerup" && type !== "pointercancel") return;
    const [first, second] = down.values();
    down.delete(pointerId);
    if (type === "pointercancel" || first === undefined || second === undefined) return;
    down.clear();
    const perPixel = (second.time - first.time) / (second.x - first.x);
    const length = perPixel * plot.over.clientWidth;
    if (length > 0) zoomTo(first.time - first.x * perPixel + length / 2, length);
  };
}

type Color = (token: string) => string;
type Current = { readonly current: ChartState };
type Listeners = { onZoom: (span: Span) => void; onCursor: (cursor: Cursor) => void };

function createPlot(element: HTMLElement, drawn: Current, listeners: Listeners): uPlot {
  const color = createColorReader(element);
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    // Leaves room for a label in the middle of the last tick, such as `Wed 30 Sept`.
    padding: [26, 36, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), drawn.current.zone),
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    scales: {
      x: {
        time: true,
        range: () => [drawn.current.span.from / 1_000, drawn.current.span.to / 1_000],
      },
      y: { range: () => [0, drawn.current.scale.top] },
    },
    axes: buildAxes(color, drawn),
    series: buildSeries(color),
    hooks: {
      drawClear: [(chart) => drawTroubles(chart, drawn.current, color)],
      draw: [(chart) => drawEdges(chart, drawn.current, color)],
      setCursor: [
        ({ cursor: { idx, left = -1 }, over }) =>
          listeners.onCursor(
            idx == null || left < 0 ? null : { index: idx, left: left + over.offsetLeft },
          ),
      ],
      setSelect: [(chart) => zoomToSelection(chart, listeners.onZoom)],
    },
  };
  return new uPlot(options, [[0], [null], [null], [null], [null]], element);
}

function zoomToSelection(chart: uPlot, onZoom: (span: Span) => void) {
  const { left, width } = chart.select;
  if (width < 8) return;
  const from = chart.posToVal(left, "x") * 1_000;
  const to = chart.posToVal(left + width, "x") * 1_000;
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (to - from >= minRangeMs) onZoom({ from, to });
}

function buildAxes(color: Color, drawn: Current): uPlot.Axis[] {
  const axis = {
    stroke: color("--ink-3"),
    ticks: { show: false },
    font: "11px Inter Variable, sans-serif",
  };
  return [
    {
      ...axis,
      size: 34,
      gap: 10,
      grid: { show: false },
      values: (_, ticks) => formatTicks(drawn.current, ticks),
    },
    {
      ...axis,
      // As wide as its longest label, for example `60,000 ms`.
      size: (_, labels) => 12 + 6.4 * Math.max(5, ...(labels ?? []).map(({ length }) => length)),
      grid: { stroke: color("--line"), width: 1 },
      splits: () => {
        const { top, step } = drawn.current.scale;
        return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
      },
      // Only the top label has the unit.
      values: (_, ticks) =>
        ticks.map((ms, index) =>
          index === ticks.length - 1 ? `${formatCount(ms)} ms` : formatCount(ms),
        ),
    },
  ];
}

function buildSeries(color: Color): uPlot.Series[] {
  const buildLineSeries = (stroke: string, more: Partial<uPlot.Series>): uPlot.Series => ({
    stroke,
    width: 1.4,
    spanGaps: false,
    points: {
      show: true,
      size: 5,
      fill: stroke,
      filter: (chart, index) => listLonelyPoints(chart.data[index] as Figures),
    },
    ...more,
  });
  const accent = color("--accent");
  return [
    {},
    buildLineSeries(accent, { width: 1.8, fill: color("--accent-soft") }),
    buildLineSeries(accent, { alpha: 0.55 }),
    buildLineSeries(accent, { alpha: 0.8, dash: [1, 3] }),
    buildLineSeries(color("--ink-3"), { dash: [4, 4], width: 1.2 }),
  ];
}
