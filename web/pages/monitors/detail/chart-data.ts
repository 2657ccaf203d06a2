/** Computes the data of the latency chart: its columns, scale, step, and periods of trouble. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import type { Timeline, TimelinePoint } from "../../../../src/dashboard/timeline-schema.ts";
import type { Span } from "../data.ts";

const closeSteps = [10, 30, 60, 300, 900];
const wideSteps = [1, 3, 6, 12, 24].map((hours) => hours * 3_600);
const maxPoints = 300;
const closeMs = 3 * dayMs;

/**
 * Seconds per point, at least the check interval. Ranges of more than three days have whole hours.
 */
export function chooseStep({ from, to }: Span, interval: number): number {
  const steps = to - from <= closeMs ? [...closeSteps, ...wideSteps] : wideSteps;
  const step = steps.find((step) => (to - from) / (step * 1_000) <= maxPoints) ?? 86_400;
  if (step >= interval) return step;
  return interval < 3_600 ? interval : (wideSteps.find((step) => step >= interval) ?? 86_400);
}

export const lineNames = ["p50", "p95", "p99", "previous"] as const;
export type LineName = (typeof lineNames)[number];

/** Values of a line. `null` interrupts the line; `undefined` connects its neighbors. */
export type Figures = (number | null | undefined)[];

export type Columns = {
  /** Seconds per slot. */
  step: number;
  times: number[];
  points: (TimelinePoint | undefined)[];
  lines: Record<LineName, Figures>;
};

/** A gap starts at three times the median distance between checks. */
const gapFactor = 3;

/** Divides the time range into slots of one step. `times` are their middles in Unix seconds. */
export function buildColumns(timeline: Timeline, previous: Timeline | undefined): Columns {
  const stepMs = timeline.step * 1_000;
  const from = Date.parse(timeline.from);
  const count = Math.max(1, Math.ceil((Date.parse(timeline.to) - from) / stepMs));
  const points = arrangeSlots(timeline, count);
  // The slots of the previous period are longer if its single results are no longer stored.
  const before = previous?.step === timeline.step ? arrangeSlots(previous, count) : [];
  const buildLine = (all: typeof points, figure: (point: TimelinePoint) => number | null) =>
    breakLine(all, figure);
  return {
    step: timeline.step,
    times: Array.from({ length: count }, (_, index) => (from + (index + 0.5) * stepMs) / 1_000),
    points,
    lines: {
      p50: buildLine(points, ({ p50Ms, averageMs }) => p50Ms ?? averageMs),
      p95: buildLine(points, ({ p95Ms }) => p95Ms),
      p99: buildLine(points, ({ p99Ms }) => p99Ms),
      previous:
        before.length === 0
          ? Array.from({ length: count }, () => null)
          : buildLine(before, ({ p50Ms, averageMs }) => p50Ms ?? averageMs),
    },
  };
}

function arrangeSlots({ from, step, points }: Timeline, count: number) {
  const slots = Array.from({ length: count }, (): TimelinePoint | undefined => undefined);
  for (const point of points) {
    const slot = Math.floor((Date.parse(point.at) - Date.parse(from)) / (step * 1_000));
    if (slot < count) slots[slot] = point;
  }
  return slots;
}

/** Interrupts the line at failed checks, and where checks are missing for unusually long. */
function breakLine(
  slots: readonly (TimelinePoint | undefined)[],
  figure: (point: TimelinePoint) => number | null,
): Figures {
  const figures: Figures = slots.map((point) => (point === undefined ? undefined : figure(point)));
  const known = listIndexes(figures);
  const maxGap = findMaxGap(known);
  for (const [position, index] of known.entries()) {
    const next = known[position + 1] ?? figures.length;
    // Fills the entire gap, because the chart connects values across `undefined`.
    if (next - index > maxGap || figures.slice(index, next).includes(null))
      figures.fill(null, index + 1, next);
  }
  return figures;
}

const listIndexes = (all: readonly unknown[]) =>
  all.flatMap((one, index) => (one == null ? [] : [index]));

/** Maximum distance between two checks without a gap. */
function findMaxGap(indexes: readonly number[]): number {
  const distances = indexes.slice(1).map((index, number) => index - (indexes[number] ?? 0));
  const medianDistance =
    distances.toSorted((one, other) => one - other)[(distances.length - 1) >> 1] ?? 1;
  return medianDistance * gapFactor;
}

/** Values between two gaps, which need a dot because no line connects them. */
export function listLonelyPoints(figures: Figures): number[] {
  const stretches: number[][] = [[]];
  for (const [index, one] of figures.entries())
    if (one === null) stretches.push([]);
    else if (one !== undefined) stretches.at(-1)?.push(index);
  return stretches.filter(({ length }) => length === 1).flat();
}

const niceSteps = [1, 2, 5].flatMap((digit) =>
  [1, 10, 100, 1_000, 10_000].map((ten) => digit * ten),
);

export type Scale = { top: number; step: number; peak: { index: number; ms: number } | null };

/**
 * Share of values that the scale must fit. One slow hour per day is slightly less than the rest.
 */
const usualShare = 0.95;

/**
 * Scale from zero to slightly above nearly all values. `peak` is the highest value that is cut off,
 * if any.
 */
export function chooseScale(lines: readonly Figures[]): Scale {
  const all = lines.flatMap((figures) => figures.flatMap((one) => (one == null ? [] : [one])));
  const sorted = all.toSorted((one, other) => one - other);
  const highest = sorted.at(-1) ?? 0;
  const usualHighest = sorted[Math.ceil(sorted.length * usualShare) - 1] ?? 0;
  const wantedTop = highest > usualHighest * 2 ? usualHighest * 1.25 : highest * 1.05;
  const step =
    niceSteps.toSorted((one, other) => one - other).find((one) => one * 4 >= wantedTop) ?? 50_000;
  const top = Math.max(1, Math.ceil(wantedTop / step)) * step;
  if (highest <= top) return { top, step, peak: null };
  for (const figures of lines) {
    const index = figures.indexOf(highest);
    if (index !== -1) return { top, step, peak: { index, ms: highest } };
  }
  return { top, step, peak: null };
}

type TroubleState = "down" | "degraded" | "maintenance";

/** Consecutive slots of the same state. `seconds` is the total time in that state. */
export type Run = { state: TroubleState | "up"; first: number; last: number; seconds: number };

/** The worst trouble of a slot; null for none. */
export function worstTroubleOf(point: TimelinePoint | undefined): TroubleState | null {
  if (point === undefined) return null;
  if (point.downSeconds > 0) return "down";
  if (point.degradedSeconds > 0) return "degraded";
  return point.maintenanceSeconds > 0 ? "maintenance" : null;
}

/**
 * Groups slots into runs of the same state. Checks that were not judged end a run; slots between
 * checks do not.
 */
export function findRuns(points: readonly (TimelinePoint | undefined)[]): Run[] {
  const runs: Run[] = [];
  const maxGap = findMaxGap(listIndexes(points));
  let open: Run | null = null;
  for (const [index, point] of points.entries()) {
    if (point === undefined) continue;
    const state: Run["state"] | null = worstTroubleOf(point) ?? (point.upSeconds > 0 ? "up" : null);
    if (state === null) open = null;
    else if (open !== null && open.state === state && index - open.last <= maxGap) {
      open.last = index;
      open.seconds += point[`${state}Seconds`];
    } else {
      open = { state, first: index, last: index, seconds: point[`${state}Seconds`] };
      runs.push(open);
    }
  }
  return runs;
}
