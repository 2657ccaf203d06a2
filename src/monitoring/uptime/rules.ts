import { dayMs, hourMs } from "../../core/time/clock.ts";
import { addCounts, bucketOf, type LatencyCounts } from "../../core/collections/percentiles.ts";
import { HeartbeatStatus, type LatencyQuery } from "./schema.ts";

export { dayMs, hourMs };

/** Seconds of a period by what heartbeats found in it. */
export type Seconds = Record<`${HeartbeatStatus}Seconds`, number>;

/** What heartbeats of a period add up to; latencies are in milliseconds. */
export type Sums = Seconds & {
  latencyCount: number;
  latencySum: number;
  latencyMin: number | null;
  latencyMax: number | null;
  latencyCounts: LatencyCounts | null;
};

/** The number that stands for a status in the database. */
export function codeOf(status: HeartbeatStatus): number {
  return HeartbeatStatus.options.indexOf(status);
}

export function statusOfCode(code: number): HeartbeatStatus {
  const status = HeartbeatStatus.options[code];
  if (status === undefined) throw new Error(`There is no heartbeat status ${code}.`);
  return status;
}

type HeartbeatFound = { status: HeartbeatStatus; seconds: number; latencyMs: number | null };

/** What one heartbeat adds to its hour and its day. */
export function sumsOf({ status, seconds, latencyMs }: HeartbeatFound): Sums {
  const of = (wanted: HeartbeatStatus) => (status === wanted ? seconds : 0);
  return {
    upSeconds: of("up"),
    degradedSeconds: of("degraded"),
    downSeconds: of("down"),
    unknownSeconds: of("unknown"),
    maintenanceSeconds: of("maintenance"),
    latencyCount: latencyMs === null ? 0 : 1,
    latencySum: latencyMs ?? 0,
    latencyMin: latencyMs,
    latencyMax: latencyMs,
    latencyCounts: latencyMs === null ? null : { [bucketOf(latencyMs)]: 1 },
  };
}

const least = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);
const most = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

/** What several periods add up to. */
export function addSums(all: readonly Sums[]): Sums & { latencyCounts: LatencyCounts } {
  const sum = (name: keyof Seconds | "latencyCount" | "latencySum") =>
    all.reduce((total, sums) => total + sums[name], 0);
  return {
    upSeconds: sum("upSeconds"),
    degradedSeconds: sum("degradedSeconds"),
    downSeconds: sum("downSeconds"),
    unknownSeconds: sum("unknownSeconds"),
    maintenanceSeconds: sum("maintenanceSeconds"),
    latencyCount: sum("latencyCount"),
    latencySum: sum("latencySum"),
    latencyMin: all.reduce<number | null>((lowest, one) => least(lowest, one.latencyMin), null),
    latencyMax: all.reduce<number | null>((highest, one) => most(highest, one.latencyMax), null),
    latencyCounts: addCounts(all.map(({ latencyCounts }) => latencyCounts)),
  };
}

export type Measured = Pick<Seconds, "upSeconds" | "degradedSeconds" | "downSeconds">;

/**
 * Uptime of a period in 0…1; null when nothing was measured. Unknown and maintenance seconds count on
 * neither side. It is never rounded, so it is 1 only where nothing failed.
 */
export function ratioOf({ upSeconds, degradedSeconds, downSeconds }: Measured): number | null {
  const succeeded = upSeconds + degradedSeconds;
  const measured = succeeded + downSeconds;
  return measured === 0 ? null : succeeded / measured;
}

/** Whether the target was judged in it at all. */
export function isMeasured(sums: Measured & Pick<Seconds, "maintenanceSeconds">): boolean {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  return upSeconds + degradedSeconds + downSeconds + maintenanceSeconds > 0;
}

/** What a period was, in one word for a bar: the worst that any of it was; maintenance if it was nothing else. */
export function toneOf(
  sums: Measured & Pick<Seconds, "maintenanceSeconds">,
): "up" | "degraded" | "down" | "maintenance" | "none" {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  const measured = upSeconds + degradedSeconds + downSeconds;
  if (measured === 0) return maintenanceSeconds > 0 ? "maintenance" : "none";
  if (downSeconds > 0) return "down";
  return degradedSeconds > 0 ? "degraded" : "up";
}

/** Whole hours or days since 1970 in UTC: the current one and those before it, `count` in all. */
export function lastPeriods(nowMs: number, periodMs: number, count: number): number[] {
  const current = Math.floor(nowMs / periodMs);
  return Array.from({ length: count }, (_, index) => current - count + 1 + index);
}

/** The spans that figures are told of: whole hours or days of UTC, the current one included. */
export const spans = {
  "24h": { unit: "hours", count: 24 },
  "7d": { unit: "hours", count: 7 * 24 },
  "30d": { unit: "days", count: 30 },
  "90d": { unit: "days", count: 90 },
  "365d": { unit: "days", count: 365 },
} as const;
export type SpanName = keyof typeof spans;

/**
 * When a span of a monitor begins: the monitor itself where that is younger, unless results were brought
 * along from before. `firstMs` is where the first period begins that was measured, `periodMs` its length.
 */
export function beginOfSpan(
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

/** Days that are looked up at most: from 1999 on, today. */
const maxDays = 10_000;

/**
 * Which sums answer a question about latencies: the heartbeats themselves while points are closer than
 * an hour and the span is at most three days, so that no question reads more than some 50,000 rows.
 * Sums are of whole hours or days, so the span then begins and ends with one.
 */
export function latencySpan({ points, ...query }: LatencyQuery, nowMs: number): LatencySpan {
  const to = query.to ?? nowMs;
  const from = query.from ?? to - dayMs;
  const width = Math.max(1, Math.ceil((to - from) / points));
  if (width < hourMs && to - from <= 3 * dayMs) return { from, to, width, source: "heartbeats" };
  const source = width < dayMs && to - from <= 90 * dayMs ? "hours" : "days";
  const periodMs = source === "hours" ? hourMs : dayMs;
  // What is to come has no sums: the days that are looked up lie behind, however far ahead the span ends.
  const last = Math.min(Math.ceil(to / periodMs), Math.floor(nowMs / periodMs) + 1);
  const first = Math.min(last, Math.max(Math.floor(from / periodMs), last - maxDays));
  return {
    from: first * periodMs,
    to: last * periodMs,
    width: Math.max(1, Math.ceil((last - first) / points)) * periodMs,
    source,
  };
}
