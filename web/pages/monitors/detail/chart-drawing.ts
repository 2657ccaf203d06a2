/** Draws times of trouble and labels onto the latency chart. */
import type uPlot from "uplot";
import { dayMs } from "../../../../src/core/time/clock.ts";
import { getFormatter, minuteFormat } from "../../../../src/core/time/times.ts";
import { formatLatency } from "../../../components/display/format.ts";
import { stateLabels } from "../../../components/display/state-icon.tsx";
import { formatUnbrokenDuration } from "../../../components/display/time.tsx";
import type { Columns, Run, Scale } from "./chart-data.ts";
import type { Span } from "../data.ts";
import { t } from "../../../language/text.ts";

const softColors = {
  down: "--down-soft",
  degraded: "--degraded-soft",
  maintenance: "--maint-soft",
};
const strongColors = { down: "--down", degraded: "--degraded", maintenance: "--maint" };
const stripColors = {
  up: "--up-calm",
  down: "--down-bar",
  degraded: "--degraded-bar",
  maintenance: "--maint-bar",
};

/** Current data of the drawing. It is read on each draw, so that new data needs no new chart. */
export type ChartState = { span: Span; columns: Columns; scale: Scale; runs: Run[]; zone: string };

/**
 * Resolves CSS custom properties to colors of the current theme, because a canvas cannot read them.
 */
export function createColorReader(element: HTMLElement) {
  const probe = document.createElement("i");
  // With forced colors, every color of the page would be the one of text.
  probe.style.setProperty("forced-color-adjust", "none");
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

/** Left edge and width of a run in pixels, in proportion to its seconds, but at least `least`. */
function computeEdges(chart: uPlot, { columns }: ChartState, run: Run, least: number) {
  const { step } = columns;
  const { bbox } = chart;
  const begin = (columns.times[run.first] ?? 0) - step / 2;
  const runSeconds = (run.last - run.first + 1) * step;
  const from = chart.valToPos(begin, "x", true);
  // The current slot ends now: its rest is in the future.
  const end = Math.min(begin + Math.min(runSeconds, run.seconds), Date.now() / 1_000);
  const to = chart.valToPos(end, "x", true);
  const left = Math.max(bbox.left, from);
  return { left, width: Math.max(least, Math.min(bbox.left + bbox.width, to) - left) };
}

export function drawTroubles(chart: uPlot, drawn: ChartState, color: ColorOf) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.textAlign = "left";
  ctx.font = `500 ${11 * ratio}px Inter Variable, sans-serif`;
  let free = 0;
  for (const run of drawn.runs) {
    const { state } = run;
    if (state === "up") continue;
    const { left, width } = computeEdges(chart, drawn, run, 2 * ratio);
    ctx.fillStyle = color(softColors[state]);
    ctx.fillRect(left, bbox.top, width, bbox.height);
    const words = `${stateLabels[state]} ${formatUnbrokenDuration(run.seconds)}`;
    const length = ctx.measureText(words).width;
    const at = Math.min(left, bbox.left + bbox.width - length);
    if (at < free || width < 3 * ratio) continue;
    ctx.fillStyle = color(strongColors[state]);
    ctx.fillText(words, at, bbox.top - 8 * ratio);
    free = at + length + 12 * ratio;
  }
  drawDays(chart, drawn, color);
  ctx.restore();
}

/** Draws a stronger line at each midnight, for up to eight days. */
function drawDays(chart: uPlot, { span, zone }: ChartState, color: ColorOf) {
  if (span.to - span.from > 8 * dayMs) return;
  const { ctx, bbox } = chart;
  ctx.fillStyle = color("--line-strong");
  for (const at of listMidnights(span, zone)) {
    const x = Math.round(chart.valToPos(at / 1_000, "x", true));
    ctx.fillRect(x, bbox.top, devicePixelRatio, bbox.height);
  }
}

function listMidnights({ from, to }: Span, zone: string): number[] {
  const clock = getFormatter(zone, minuteFormat);
  const quarter = 900_000;
  const found: number[] = [];
  for (let at = Math.ceil(from / quarter) * quarter; at < to; at += quarter)
    if (clock.format(at) === "00:00") found.push(at);
  return found;
}

const rankRun = ({ state }: Run) => (state === "up" ? 0 : 1);

/** Draws the strip of states below the plot, and the value of a peak that is cut off. */
export function drawEdges(chart: uPlot, drawn: ChartState, color: ColorOf) {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const top = bbox.top + bbox.height + 5 * ratio;
  ctx.save();
  ctx.textAlign = "left";
  // Short times of trouble are widened, so they are drawn last, on top of “up”.
  for (const run of drawn.runs.toSorted((one, other) => rankRun(one) - rankRun(other))) {
    const wholeRun = { ...run, seconds: Number.MAX_SAFE_INTEGER };
    const { left, width } = computeEdges(
      chart,
      drawn,
      wholeRun,
      run.state === "up" ? 0 : 3 * ratio,
    );
    ctx.fillStyle = color(stripColors[run.state]);
    ctx.fillRect(left, top, width, 4 * ratio);
  }
  const { peak } = drawn.scale;
  if (peak !== null) {
    const words = t("▲ up to {latency}", { latency: formatLatency(peak.ms) });
    ctx.font = `500 ${11 * ratio}px Inter Variable, sans-serif`;
    const x = chart.valToPos(drawn.columns.times[peak.index] ?? 0, "x", true);
    const length = ctx.measureText(words).width;
    const isRight = x + length + 8 * ratio > bbox.left + bbox.width;
    ctx.fillStyle = color("--ink-2");
    ctx.fillText(words, isRight ? x - length - 6 * ratio : x + 6 * ratio, bbox.top + 12 * ratio);
  }
  ctx.restore();
}

/**
 * Labels of the time axis: clock times, with the date at midnight. Ranges of more than two days show only
 * dates.
 */
export function formatTicks(
  { span, zone }: Pick<ChartState, "span" | "zone">,
  ticks: readonly number[],
): string[] {
  const isLong = span.to - span.from > 2 * dayMs;
  const clock = getFormatter(zone, minuteFormat);
  const day = getFormatter(zone, {
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
