/** Returns the heartbeats, uptime, latency and screenshots of a monitor to API clients. */
import { timestamp } from "../../core/time/clock.ts";
import { found } from "../../database/rows.ts";
import type { Scope } from "../../events/scope.ts";
import { percentilesOf } from "../../core/collections/percentiles.ts";
import {
  addSums,
  beginOfSpan,
  dayMs,
  hourMs,
  isMeasured,
  lastPeriods,
  latencySpan,
  ratioOf,
  type SpanName,
  spans,
  type Sums,
} from "./rules.ts";
import type { HeartbeatQuery, LatencyPoint, LatencyQuery, SpanFigures, Uptime } from "./schema.ts";
import { findMeasured, findScreenshot, listHeartbeats, listPoints, listSums } from "./store.ts";

/** Finds the key of a monitor's results and its creation time. Throws NOT_FOUND. */
export async function measuredOf({ store, organizationId }: Scope, monitorId: string) {
  return found(await findMeasured(store, organizationId, monitorId), "monitor");
}

/** Lists heartbeats, newest first. Throws NOT_FOUND. */
export async function heartbeatsOf(scope: Scope, monitorId: string, query: HeartbeatQuery) {
  return listHeartbeats(scope.store, (await measuredOf(scope, monitorId)).key, query);
}

/**
 * Returns the screenshot of the last failed check. If `at` is given, the check must be of that time. Throws NOT_FOUND.
 */
export async function screenshotOf(
  scope: Scope,
  monitorId: string,
  at: number | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const { store, organizationId } = scope;
  await measuredOf(scope, monitorId);
  return found(await findScreenshot(store, organizationId, monitorId, at), "screenshot");
}

/** Lists at most `points` points, oldest first. Omits points without measurements. Throws NOT_FOUND. */
export async function latenciesOf(
  scope: Scope,
  monitorId: string,
  query: LatencyQuery,
): Promise<LatencyPoint[]> {
  const { key } = await measuredOf(scope, monitorId);
  const points = await listPoints(scope.store, key, latencySpan(query, scope.clock()));
  return points
    .filter(({ latencyCount }) => latencyCount > 0)
    .map(({ at, latencySum, latencyCount, latencyMin, latencyMax, p50Ms, p95Ms, p99Ms }) => ({
      at: timestamp(at),
      averageMs: latencySum / latencyCount,
      minMs: latencyMin ?? 0,
      maxMs: latencyMax ?? 0,
      checks: latencyCount,
      p50Ms,
      p95Ms,
      p99Ms,
    }));
}

type Periods = readonly (Sums & { period: number })[];

/** Returns the uptime figures of all spans and days. Throws NOT_FOUND. */
export async function uptimeOf(scope: Scope, monitorId: string): Promise<Uptime> {
  const { store } = scope;
  const { key, createdAt } = await measuredOf(scope, monitorId);
  const now = scope.clock();
  const lastOf = (name: SpanName) =>
    lastPeriods(now, spans[name].unit === "hours" ? hourMs : dayMs, spans[name].count);
  const [hours, days] = await Promise.all([
    listSums(store, key, "hours", lastOf("7d")),
    listSums(store, key, "days", lastOf("365d")),
  ]);
  const figuresOf = (name: SpanName) => {
    const [all, periodMs] = spans[name].unit === "hours" ? [hours, hourMs] : [days, dayMs];
    return spanFigures(all, periodMs, lastOf(name)[0] ?? 0, Date.parse(createdAt));
  };
  const figures = {
    "24h": figuresOf("24h"),
    "7d": figuresOf("7d"),
    "30d": figuresOf("30d"),
    "90d": figuresOf("90d"),
    "365d": figuresOf("365d"),
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
      date: timestamp(period * dayMs).slice(0, 10),
      ratio: ratioOf(sums),
      upSeconds: sums.upSeconds,
      degradedSeconds: sums.degradedSeconds,
      downSeconds: sums.downSeconds,
      unknownSeconds: sums.unknownSeconds,
      maintenanceSeconds: sums.maintenanceSeconds,
    })),
  };
}

/** Computes the figures of a span that starts with the period `first`. */
function spanFigures(
  all: Periods,
  periodMs: number,
  first: number,
  createdMs: number,
): SpanFigures {
  const its = all.filter(({ period }) => period >= first);
  const { latencyCount, latencySum, latencyMin, latencyMax, latencyCounts, ...seconds } =
    addSums(its);
  const measured = its.find(isMeasured);
  const begin = measured === undefined ? null : measured.period * periodMs;
  const from = beginOfSpan(first * periodMs, createdMs, begin, periodMs);
  return {
    from: timestamp(from),
    isPartial: from > first * periodMs,
    ratio: ratioOf(seconds),
    ...seconds,
    checks: latencyCount,
    averageMs: latencyCount === 0 ? null : latencySum / latencyCount,
    ...percentilesOf({ latencyCount, latencyMin, latencyMax, latencyCounts }),
  };
}
