import type { LatencyPoint } from "../../../src/monitoring/uptime/schema.ts";

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
