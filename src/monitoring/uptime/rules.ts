/** Computes uptime and latency figures from heartbeats and from hourly or daily sums. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { addCounts, type LatencyCounts } from "../../core/collections/percentiles.ts";
import { heartbeatStatuses } from "../../core/statuses.ts";
import type { HeartbeatStatus, LatencyQuery } from "./schema.ts";

/** Seconds of a period in each heartbeat status. */
export type Seconds = Record<`${HeartbeatStatus}Seconds`, number>;

/** Sums over the heartbeats of a period. Latencies are in milliseconds. */
export type Sums = Seconds & {
  latencyCount: number;
  latencySum: number;
  latencyMin: number | null;
  latencyMax: number | null;
  latencyCounts: LatencyCounts | null;
};

/** Returns the database code of a status. */
export function codeOf(status: HeartbeatStatus): number {
  return heartbeatStatuses.indexOf(status);
}

export function getStatus(code: number): HeartbeatStatus {
  const status = heartbeatStatuses[code];
  if (status === undefined) throw new Error(`There is no heartbeat status ${code}.`);
  return status;
}

const pickMin = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);
const pickMax = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

/** Adds up the sums of several periods. */
export function addSums(all: readonly Sums[]): Sums & { latencyCounts: LatencyCounts } {
  const sumField = (name: keyof Seconds | "latencyCount" | "latencySum") =>
    all.reduce((total, sums) => total + sums[name], 0);
  return {
    upSeconds: sumField("upSeconds"),
    degradedSeconds: sumField("degradedSeconds"),
    downSeconds: sumField("downSeconds"),
    unknownSeconds: sumField("unknownSeconds"),
    maintenanceSeconds: sumField("maintenanceSeconds"),
    latencyCount: sumField("latencyCount"),
    latencySum: sumField("latencySum"),
    latencyMin: all.reduce<number | null>((lowest, one) => pickMin(lowest, one.latencyMin), null),
    latencyMax: all.reduce<number | null>((highest, one) => pickMax(highest, one.latencyMax), null),
    latencyCounts: addCounts(all.map(({ latencyCounts }) => latencyCounts)),
  };
}

export type Measured = Pick<Seconds, "upSeconds" | "degradedSeconds" | "downSeconds">;

/**
 * Returns the uptime of a period, from 0 to 1; null if nothing was measured. Unknown and maintenance seconds
 * are excluded. The ratio is never rounded, so 1 means no failure at all.
 */
export function computeRatio({ upSeconds, degradedSeconds, downSeconds }: Measured): number | null {
  const succeeded = upSeconds + degradedSeconds;
  const measured = succeeded + downSeconds;
  return measured === 0 ? null : succeeded / measured;
}

/** Whether the period has any result other than unknown. */
export function isMeasured(sums: Measured & Pick<Seconds, "maintenanceSeconds">): boolean {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  return upSeconds + degradedSeconds + downSeconds + maintenanceSeconds > 0;
}

/** Returns the worst status of a period, for its bar in charts. Maintenance counts only if nothing was measured. */
export function determineTone(
  sums: Measured & Pick<Seconds, "maintenanceSeconds">,
): "up" | "degraded" | "down" | "maintenance" | "none" {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  const measured = upSeconds + degradedSeconds + downSeconds;
  if (measured === 0) return maintenanceSeconds > 0 ? "maintenance" : "none";
  if (downSeconds > 0) return "down";
  return degradedSeconds > 0 ? "degraded" : "up";
}

/** Lists the last `count` hours or days, including the current one, as their numbers since 1970 in UTC. */
export function listLastPeriods(nowMs: number, periodMs: number, count: number): number[] {
  const current = Math.floor(nowMs / periodMs);
  return Array.from({ length: count }, (_, index) => current - count + 1 + index);
}

/** Spans of uptime figures, in whole hours or days in UTC, including the current one. */
export const spans = {
  "24h": { unit: "hours", count: 24 },
  "7d": { unit: "hours", count: 7 * 24 },
  "30d": { unit: "days", count: 30 },
  "90d": { unit: "days", count: 90 },
  "365d": { unit: "days", count: 365 },
} as const;
export type SpanName = keyof typeof spans;

/**
 * Returns when the data of a span starts: at `spanMs`, or at the monitor's creation if that is later. Imported results
 * from before the creation count, too. `firstMs` is the start of the first measured period, `periodMs` the length of a
 * period.
 */
export function computeSpanStart(
  spanMs: number,
  createdMs: number,
  firstMs: number | null,
  periodMs: number,
): number {
  const isOlder = firstMs !== null && firstMs + periodMs <= createdMs;
  return Math.max(spanMs, isOlder ? firstMs : createdMs);
}

export type LatencySpan = {
  from: number;
  to: number;
  /** Milliseconds from one point to the next. */
  width: number;
  source: "heartbeats" | "hours" | "days";
};

/** Maximum days per query, about 27 years. */
const maxDays = 10_000;

/**
 * Chooses the data for a latency chart. Uses heartbeats for points closer than an hour in spans of up to three days:
 * at most about 50,000 rows. Otherwise uses hourly or daily sums, and extends the span to whole hours or days.
 */
export function chooseLatencySpan({ points, ...query }: LatencyQuery, nowMs: number): LatencySpan {
  const to = query.to ?? nowMs;
  const from = query.from ?? to - dayMs;
  const width = Math.max(1, Math.ceil((to - from) / points));
  if (width < hourMs && to - from <= 3 * dayMs) return { from, to, width, source: "heartbeats" };
  const source = width < dayMs && to - from <= 90 * dayMs ? "hours" : "days";
  const periodMs = source === "hours" ? hourMs : dayMs;
  // The future has no sums. The span ends no later than the current period.
  const last = Math.min(Math.ceil(to / periodMs), Math.floor(nowMs / periodMs) + 1);
  const first = Math.min(last, Math.max(Math.floor(from / periodMs), last - maxDays));
  return {
    from: first * periodMs,
    to: last * periodMs,
    width: Math.max(1, Math.ceil((last - first) / points)) * periodMs,
    source,
  };
}
