import type { PastState } from "../../../src/dashboard/schema.ts";
import type { LatencyPoint, Uptime } from "../../../src/monitoring/uptime/schema.ts";

/** Seconds down in the last so many UTC days, today included. */
export function downSecondsOf(days: Uptime["days"], count: number, now: number): number {
  const first = new Date(now - (count - 1) * 86_400_000).toISOString().slice(0, 10);
  let sum = 0;
  for (const { date, downSeconds } of days) if (date >= first) sum += downSeconds;
  return sum;
}

/** Seconds in state down since then. */
export function downSince(states: readonly PastState[], from: number, now: number): number {
  let sum = 0;
  for (const { status, since, until } of states) {
    if (status !== "down") continue;
    const end = until === null ? now : Date.parse(until);
    sum += Math.max(0, end - Math.max(from, Date.parse(since)));
  }
  return Math.floor(sum / 1000);
}

/** Null for no values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

type Series = [times: number[], averages: (number | null)[]];

/** Points as a chart takes them, in seconds; a time in which nothing was measured is a gap in the line. */
export function seriesOf(points: readonly LatencyPoint[]): Series {
  const times = points.map(({ at }) => Date.parse(at) / 1000);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  const usual = percentile(steps, 0.5) ?? 0;
  const series: Series = [[], []];
  points.forEach(({ averageMs }, index) => {
    const time = times[index] ?? 0;
    const before = times[index - 1];
    if (before !== undefined && time - before > usual * 3) {
      series[0].push(before + usual);
      series[1].push(null);
    }
    series[0].push(time);
    series[1].push(averageMs);
  });
  return series;
}
