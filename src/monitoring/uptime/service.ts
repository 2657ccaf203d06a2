/** Returns the heartbeats, uptime, latency and screenshots of a monitor to API clients. */
import { formatTimestamp, dayMs, hourMs } from "../../core/time/clock.ts";
import { assertFound } from "../../database/rows.ts";
import type { Scope } from "../../events/scope.ts";
import { computePercentiles } from "../../core/collections/percentiles.ts";
import {
  addSums,
  computeSpanStart,
  isMeasured,
  listLastPeriods,
  chooseLatencySpan,
  computeRatio,
  type SpanName,
  spans,
  type Sums,
} from "./rules.ts";
import type {
  HeartbeatQuery,
  LatencyPoint,
  LatencyQuery,
  NumberPoint,
  PeriodFigures,
  PeriodQuery,
  SpanFigures,
  Uptime,
} from "./schema.ts";
import {
  findFinestSource,
  findMeasured,
  findScreenshot,
  listHeartbeats,
  listNumberSums,
  listPoints,
  listSums,
} from "./store.ts";

/** Finds the key of a monitor's results and its creation time. Throws NOT_FOUND. */
export async function getMeasured({ store, organizationId }: Scope, monitorId: string) {
  return assertFound(await findMeasured(store, organizationId, monitorId), "monitor");
}

/** Lists heartbeats, newest first. Throws NOT_FOUND. */
export async function listMonitorHeartbeats(
  scope: Scope,
  monitorId: string,
  query: HeartbeatQuery,
) {
  return listHeartbeats(scope.store, (await getMeasured(scope, monitorId)).key, query);
}

/**
 * Returns the screenshot of the last failed check. If `at` is given, the check must be of that time. Throws NOT_FOUND.
 */
export async function getScreenshot(
  scope: Scope,
  monitorId: string,
  at: number | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const { store, organizationId } = scope;
  await getMeasured(scope, monitorId);
  return assertFound(await findScreenshot(store, organizationId, monitorId, at), "screenshot");
}

/** Lists at most `points` points, oldest first. Omits points without measurements. Throws NOT_FOUND. */
export async function listLatencies(
  scope: Scope,
  monitorId: string,
  query: LatencyQuery,
): Promise<LatencyPoint[]> {
  const { key } = await getMeasured(scope, monitorId);
  const points = await listPoints(scope.store, key, chooseLatencySpan(query, scope.clock()));
  return points
    .filter(({ latencyCount }) => latencyCount > 0)
    .map(({ at, latencySum, latencyCount, latencyMin, latencyMax, p50Ms, p95Ms, p99Ms }) => ({
      at: formatTimestamp(at),
      averageMs: latencySum / latencyCount,
      minMs: latencyMin ?? 0,
      maxMs: latencyMax ?? 0,
      checks: latencyCount,
      p50Ms,
      p95Ms,
      p99Ms,
    }));
}

/** Lists at most `points` points of the monitor's number, oldest first. Throws NOT_FOUND. */
export async function listNumbers(
  scope: Scope,
  monitorId: string,
  query: LatencyQuery,
): Promise<NumberPoint[]> {
  const { key } = await getMeasured(scope, monitorId);
  const points = await listNumberSums(scope.store, key, chooseLatencySpan(query, scope.clock()));
  return points.map(({ at, count, sum, min, max }) => ({
    at: formatTimestamp(at),
    average: sum / count,
    min,
    max,
    checks: count,
  }));
}

/** Returns the points of the monitor's number as CSV. Throws NOT_FOUND. */
export async function downloadNumbers(scope: Scope, monitorId: string, query: LatencyQuery) {
  const rows = (await listNumbers(scope, monitorId, query)).map(
    ({ at, average, min, max, checks }) => [at, average, min, max, checks].join(","),
  );
  const text = ["at,average,min,max,checks", ...rows, ""].join("\r\n");
  return new File([text], "numbers.csv", { type: "text/csv" });
}

type Periods = readonly (Sums & { period: number })[];

/** Returns the uptime figures of all spans and days. Throws NOT_FOUND. */
export async function getUptime(scope: Scope, monitorId: string): Promise<Uptime> {
  const { store } = scope;
  const { key, createdAt } = await getMeasured(scope, monitorId);
  const now = scope.clock();
  const listLast = (name: SpanName) =>
    listLastPeriods(now, spans[name].unit === "hours" ? hourMs : dayMs, spans[name].count);
  const [hours, days] = await Promise.all([
    listSums(store, key, "hours", listLast("7d")),
    listSums(store, key, "days", listLast("365d")),
  ]);
  const computeFigures = (name: SpanName) => {
    const [all, periodMs] = spans[name].unit === "hours" ? [hours, hourMs] : [days, dayMs];
    return computeSpanFigures(all, periodMs, listLast(name)[0] ?? 0, Date.parse(createdAt));
  };
  const figures = {
    "24h": computeFigures("24h"),
    "7d": computeFigures("7d"),
    "30d": computeFigures("30d"),
    "90d": computeFigures("90d"),
    "365d": computeFigures("365d"),
  };
  return {
    ratios: {
      "24h": figures["24h"].ratio,
      "7d": figures["7d"].ratio,
      "30d": figures["30d"].ratio,
      "90d": figures["90d"].ratio,
      "365d": figures["365d"].ratio,
    },
    spans: figures,
    days: days.map(({ period, ...sums }) => ({
      date: formatTimestamp(period * dayMs).slice(0, 10),
      ratio: computeRatio(sums),
      upSeconds: sums.upSeconds,
      degradedSeconds: sums.degradedSeconds,
      downSeconds: sums.downSeconds,
      unknownSeconds: sums.unknownSeconds,
      maintenanceSeconds: sums.maintenanceSeconds,
    })),
  };
}

/**
 * Returns the figures of any span. They are exact for up to three days of stored results. Otherwise they cover whole
 * hours, or whole days for more than 90 days. Throws NOT_FOUND.
 */
export async function getPeriodFigures(
  scope: Scope,
  monitorId: string,
  period: PeriodQuery,
): Promise<PeriodFigures> {
  const { store } = scope;
  const { key } = await getMeasured(scope, monitorId);
  const length = period.to - period.from;
  const source =
    length <= 3 * dayMs
      ? await findFinestSource(store, key, period)
      : length <= 90 * dayMs
        ? "hours"
        : "days";
  const unitMs = { heartbeats: 1, hours: hourMs, days: dayMs }[source];
  const from = Math.floor(period.from / unitMs) * unitMs;
  const to = Math.ceil(period.to / unitMs) * unitMs;
  const [point] = await listPoints(store, key, { from, to, width: to - from, source });
  const seconds = point ?? addSums([]);
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    ratio: computeRatio(seconds),
    upSeconds: seconds.upSeconds,
    degradedSeconds: seconds.degradedSeconds,
    downSeconds: seconds.downSeconds,
    unknownSeconds: seconds.unknownSeconds,
    maintenanceSeconds: seconds.maintenanceSeconds,
    checks: seconds.latencyCount,
    averageMs: seconds.latencyCount === 0 ? null : seconds.latencySum / seconds.latencyCount,
    p50Ms: point?.p50Ms ?? null,
    p95Ms: point?.p95Ms ?? null,
    p99Ms: point?.p99Ms ?? null,
  };
}

/** Computes the figures of a span that starts with the period `first`. */
function computeSpanFigures(
  all: Periods,
  periodMs: number,
  first: number,
  createdMs: number,
): SpanFigures {
  const periods = all.filter(({ period }) => period >= first);
  const { latencyCount, latencySum, latencyMin, latencyMax, latencyCounts, ...seconds } =
    addSums(periods);
  const measured = periods.find(isMeasured);
  const startMs = measured === undefined ? null : measured.period * periodMs;
  const from = computeSpanStart(first * periodMs, createdMs, startMs, periodMs);
  return {
    from: formatTimestamp(from),
    isPartial: from > first * periodMs,
    ratio: computeRatio(seconds),
    ...seconds,
    checks: latencyCount,
    averageMs: latencyCount === 0 ? null : latencySum / latencyCount,
    ...computePercentiles({ latencyCount, latencyMin, latencyMax, latencyCounts }),
  };
}
