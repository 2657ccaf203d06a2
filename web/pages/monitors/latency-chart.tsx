import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import type { PastState } from "../../../src/dashboard/schema.ts";
import type { LatencyPoint } from "../../../src/monitoring/uptime/schema.ts";
import { latencyInWords } from "../../components/format.ts";
import { formatIn } from "../../../src/core/times.ts";
import { absolute, useZone } from "../../components/time.tsx";
import type { Span } from "./data.ts";
import { seriesOf } from "./statistics.ts";

const height = 260;
/** Between the lines of the chart, in milliseconds. */
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
const shaded: Partial<Record<PastState["status"], string>> = {
  down: "--down-soft",
  degraded: "--degraded-soft",
  maintenance: "--maint-soft",
};

/** The latency over time with its troubles behind it; dragging over a span looks into it. */
export default function LatencyChart({
  span,
  points,
  states,
  onZoom,
}: {
  span: Span;
  points: readonly LatencyPoint[];
  states: readonly PastState[];
  onZoom: (span: Span) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const zone = useZone();
  const scheme = useComputedColorScheme();
  const zoom = useRef(onZoom);
  zoom.current = onZoom;

  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const { color, forget } = colorsAt(place);
    const axis = {
      stroke: color("--ink-3"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
      font: "11px Inter Variable, sans-serif",
    };
    const chart = new uPlot(
      {
        width: place.clientWidth,
        height,
        padding: [8, 8, 0, 0],
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: true, y: false, setScale: false },
          points: { size: 7, fill: color("--accent") },
        },
        scales: {
          x: { time: true, range: [span.from / 1000, span.to / 1000] },
          y: { range: (_, __, max) => [0, Math.max(10, (max ?? 0) * 1.15)] },
        },
        axes: [
          { ...axis, size: 30, grid: { show: false }, values: timesOf(zone, span) },
          {
            ...axis,
            size: 52,
            incrs: steps,
            values: (_, ticks) => ticks.map((ms) => latencyInWords(ms)),
          },
        ],
        series: [
          {},
          {
            stroke: color("--accent"),
            fill: color("--accent-soft"),
            width: 1.6,
            points: { show: points.length < 3 },
            spanGaps: false,
          },
        ],
        hooks: {
          drawClear: [(chart) => shade(chart, states, color)],
          setCursor: [
            (chart) => {
              const at = chart.cursor.idx;
              const point = at == null ? null : chart.data[1]?.[at];
              const time = at == null ? null : chart.data[0]?.[at];
              if (legend.current === null) return;
              legend.current.textContent =
                point == null || time == null
                  ? ""
                  : `${latencyInWords(point)} · ${absolute(time * 1000, zone)}`;
            },
          ],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select;
              if (width < 8) return;
              const from = chart.posToVal(left, "x") * 1000;
              const to = chart.posToVal(left + width, "x") * 1000;
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              if (to - from >= 60_000) zoom.current({ from, to });
            },
          ],
        },
      },
      seriesOf(points),
      place,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      chart.destroy();
      forget();
    };
  }, [points, states, span, zone, scheme]);

  const values = points.map(({ averageMs }) => averageMs);
  return (
    <>
      <div
        ref={box}
        role="img"
        aria-label={`Latency from ${latencyInWords(Math.min(...values))} to ${latencyInWords(Math.max(...values))}`}
      />
      <div ref={legend} className="chart-legend num" aria-hidden="true" />
    </>
  );
}

/** A canvas knows no custom properties: this reads what they come to in the theme of the moment. */
function colorsAt(element: HTMLElement) {
  const probe = document.createElement("i");
  element.append(probe);
  return {
    color: (token: string): string => {
      probe.style.color = `var(${token})`;
      return getComputedStyle(probe).color;
    },
    forget: () => probe.remove(),
  };
}

function shade(chart: uPlot, states: readonly PastState[], color: (token: string) => string) {
  const { ctx, bbox } = chart;
  for (const { status, since, until } of states) {
    const token = shaded[status];
    if (token === undefined) continue;
    const from = chart.valToPos(Date.parse(since) / 1000, "x", true);
    const end = until === null ? Date.now() : Date.parse(until);
    const to = chart.valToPos(end / 1000, "x", true);
    const left = Math.max(bbox.left, from);
    const width = Math.max(2, Math.min(bbox.left + bbox.width, to) - left);
    if (to < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.fillStyle = color(token);
    ctx.fillRect(left, bbox.top, width, bbox.height);
  }
}

function timesOf(zone: string, { from, to }: Span): uPlot.Axis.Values {
  const long = to - from > 2 * 86_400_000;
  const labels = formatIn(
    zone,
    long ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" },
  );
  return (_, ticks) => {
    let last = "";
    return ticks.map((seconds) => {
      const text = labels.format(seconds * 1000);
      if (text === last) return "";
      last = text;
      return text;
    });
  };
}
