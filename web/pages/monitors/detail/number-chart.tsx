/** The chart of a monitor's number: its average, the range from lowest to highest, and its limits. */
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { formatNumber } from "../../../../src/monitoring/checks/number-rules.ts";
import type { NumberRule } from "../../../../src/monitoring/monitors/numbers-schema.ts";
import type { NumberPoint } from "../../../../src/monitoring/uptime/schema.ts";
import { formatAbsolute, useZone } from "../../../components/display/time.tsx";
import { createColorReader, formatTicks } from "./chart-drawing.ts";
import { t } from "../../../language/text.ts";

const height = 220;

type Props = { points: readonly NumberPoint[]; rule: NumberRule; from: number; to: number };

export default function NumberChart({ points, rule, from, to }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [read, setRead] = useState<NumberPoint | null>(null);
  const zone = useZone();
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const shownPoints = breakAtGaps(points);
    const options = buildOptions(element, { points, rule, from, to, zone });
    options.hooks = {
      ...options.hooks,
      setCursor: [({ cursor: { idx } }) => setRead(shownPoints[idx ?? -1]?.point ?? null)],
    };
    const columns = (["max", "min", "average"] as const).map((name) =>
      shownPoints.map(({ point }) => point?.[name] ?? null),
    );
    const plot = new uPlot(options, [shownPoints.map(({ time }) => time), ...columns], element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [points, rule, from, to, zone, scheme]);
  return (
    <>
      <div ref={box} aria-hidden="true" style={{ height }} />
      <p className="chart-keys" aria-hidden="true">
        {read === null ? (
          <span>{describeLimits(rule)}</span>
        ) : (
          <span>
            {formatAbsolute(read.at, zone)}:{" "}
            {formatNumber(rule, Number(read.average.toPrecision(6)))}
            {read.min < read.max &&
              ` (${t("{lowest} to {highest}", {
                lowest: formatNumber(rule, read.min),
                highest: formatNumber(rule, read.max),
              })})`}
          </span>
        )}
      </p>
    </>
  );
}

const limitWords = {
  above: {
    degraded: (limit: string) => t("Degraded above {limit}", { limit }),
    down: (limit: string) => t("Down above {limit}", { limit }),
  },
  below: {
    degraded: (limit: string) => t("Degraded below {limit}", { limit }),
    down: (limit: string) => t("Down below {limit}", { limit }),
  },
};

function describeLimits(rule: NumberRule): string {
  const { degraded, down } = limitWords[rule.direction];
  const limits = [
    [degraded, rule.degradedLimit],
    [down, rule.downLimit],
  ] as const;
  return limits
    .flatMap(([describe, limit]) => (limit === null ? [] : [describe(formatNumber(rule, limit))]))
    .join(" · ");
}

/** Distance between two points, in multiples of the median, from which the line is interrupted. */
const gapFactor = 3;

type ShownPoint = { time: number; point: NumberPoint | null };

function breakAtGaps(points: readonly NumberPoint[]): ShownPoint[] {
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const distances = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const medianDistance =
    distances.toSorted((one, other) => one - other)[distances.length >> 1] ?? 0;
  return points.flatMap((point, index): ShownPoint[] => {
    const time = times[index] ?? 0;
    const isGap = (distances[index - 1] ?? 0) > medianDistance * gapFactor;
    return [...(isGap ? [{ time: time - medianDistance / 2, point: null }] : []), { time, point }];
  });
}

function buildOptions(
  element: HTMLElement,
  { points, rule, from, to, zone }: Props & { zone: string },
): uPlot.Options {
  const color = createColorReader(element);
  const limits = [
    [rule.degradedLimit, color("--degraded")],
    [rule.downLimit, color("--down")],
  ] as const;
  const values = [
    ...points.flatMap(({ min, max }) => [min, max]),
    ...limits.flatMap(([limit]) => (limit === null ? [] : [limit])),
  ];
  const axis = {
    stroke: color("--ink-3"),
    ticks: { show: false },
    font: "11px Inter Variable, sans-serif",
  };
  const accent = color("--accent");
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: true, range: () => [from / 1_000, to / 1_000] },
      y: { range: () => uPlot.rangeNum(Math.min(...values), Math.max(...values), 0.1, true) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, ticks) => formatTicks({ span: { from, to }, zone }, ticks),
      },
      {
        ...axis,
        size: (_, labels) => 12 + 6.4 * Math.max(5, ...(labels ?? []).map(({ length }) => length)),
        grid: { stroke: color("--line"), width: 1 },
        values: (_, ticks) => ticks.map((tick) => formatNumber({ unit: null }, tick)),
      },
    ],
    series: [
      {},
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: accent, width: 1.8, points: { show: points.length < 40, size: 5, fill: accent } },
    ],
    bands: [{ series: [1, 2], fill: color("--accent-soft") }],
    hooks: { draw: [(chart) => drawLimits(chart, limits)] },
  };
}

function drawLimits(
  chart: uPlot,
  limits: readonly (readonly [limit: number | null, color: string])[],
) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.lineWidth = devicePixelRatio;
  for (const [limit, color] of limits) {
    if (limit === null) continue;
    const y = chart.valToPos(limit, "y", true);
    ctx.strokeStyle = color;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}
