/** Estimates latency percentiles from counts per bucket. Each doubling of the latency has eight buckets. */

export type LatencyCounts = Readonly<Record<string, number>>;

const bucketsPerDoubling = 8;

/** Returns the bucket of a latency in milliseconds: 0 below 1 ms, and 1 from 1 ms. */
export function bucketOf(latencyMs: number): number {
  return latencyMs < 1 ? 0 : 1 + Math.floor(Math.log2(latencyMs) * bucketsPerDoubling);
}

/** Lower bound of a bucket, in milliseconds. */
const lowerBoundOf = (bucket: number) =>
  bucket < 1 ? 0 : 2 ** ((bucket - 1) / bucketsPerDoubling);

export function addCounts(all: readonly (LatencyCounts | null)[]): LatencyCounts {
  const sum: Record<string, number> = {};
  for (const counts of all)
    for (const [bucket, count] of Object.entries(counts ?? {}))
      sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

type Latencies = {
  latencyCount: number;
  latencyMin: number | null;
  latencyMax: number | null;
  latencyCounts: LatencyCounts;
};

export type Percentiles = { p50Ms: number | null; p95Ms: number | null; p99Ms: number | null };

const noPercentiles: Percentiles = { p50Ms: null, p95Ms: null, p99Ms: null };

/**
 * Returns percentiles in whole milliseconds, with an error of at most 10 %. They are null if some latencies are not
 * in buckets: older releases stored none.
 */
export function computePercentiles(latencies: Latencies): Percentiles {
  const { latencyCount, latencyMin, latencyMax, latencyCounts } = latencies;
  const buckets = Object.entries(latencyCounts)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .sort((one, other) => one.bucket - other.bucket);
  const counted = buckets.reduce((sum, { count }) => sum + count, 0);
  if (counted === 0 || counted !== latencyCount) return noPercentiles;
  const getPercentile = (share: number) => {
    let rank = Math.ceil(share * counted);
    for (const { bucket, count } of buckets) {
      if (rank > count) {
        rank -= count;
        continue;
      }
      const [begin, end] = [lowerBoundOf(bucket), lowerBoundOf(bucket + 1)];
      const ms = begin === 0 ? 0 : begin * (end / begin) ** ((rank - 0.5) / count);
      return Math.round(Math.min(latencyMax ?? ms, Math.max(latencyMin ?? ms, ms)));
    }
    return null;
  };
  return { p50Ms: getPercentile(0.5), p95Ms: getPercentile(0.95), p99Ms: getPercentile(0.99) };
}

/** Exact percentile by nearest rank. */
export function computeExactPercentiles(latencies: readonly number[]): Percentiles {
  const sorted = latencies.toSorted((one, other) => one - other);
  const pickPercentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
  return { p50Ms: pickPercentile(0.5), p95Ms: pickPercentile(0.95), p99Ms: pickPercentile(0.99) };
}
