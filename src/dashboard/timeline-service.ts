/** Builds the timeline of a monitor from results or sums. */
import { dayMs, hourMs, formatTimestamp } from "../core/time/clock.ts";
import type { Scope } from "../events/scope.ts";
import { getMeasured } from "../monitoring/uptime/service.ts";
import {
  findFinestSource,
  listPoints,
  type Point,
  findReasons,
} from "../monitoring/uptime/store.ts";
import { statusAfterEvent } from "../monitoring/monitors/past-service.ts";
import type { Timeline, TimelineQuery } from "./timeline-schema.ts";
import { findIncidentsBetween, findStateEventsBetween } from "./timeline-store.ts";

/** Returns the states of a monitor over a span of time, point by point. Throws NOT_FOUND. */
export async function buildTimeline(
  scope: Scope,
  monitorId: string,
  { from, to, step }: TimelineQuery,
): Promise<Timeline> {
  const { key } = await getMeasured(scope, monitorId);
  const source =
    step < 3_600
      ? await findFinestSource(scope.store, key, { from, to })
      : step < 86_400
        ? "hours"
        : "days";
  // Sums are per hour or day, so the span is extended to whole hours or days.
  const pointMs = { heartbeats: step * 1_000, hours: hourMs, days: dayMs }[source];
  const width = Math.max(step * 1_000, pointMs);
  const span = {
    from: Math.floor(from / pointMs) * pointMs,
    to: Math.ceil(to / pointMs) * pointMs,
    width,
    source,
  } as const;
  const [points, incidents] = await Promise.all([
    listPoints(scope.store, key, span),
    findIncidentsBetween(scope, monitorId, from, to),
  ]);
  const reasonOf = await createReasonLookup(scope, monitorId, key, { ...span, points });
  return {
    from: formatTimestamp(span.from),
    to: formatTimestamp(span.to),
    step: width / 1_000,
    points: points.map((point) => ({
      at: formatTimestamp(point.at),
      upSeconds: point.upSeconds,
      degradedSeconds: point.degradedSeconds,
      downSeconds: point.downSeconds,
      unknownSeconds: point.unknownSeconds,
      maintenanceSeconds: point.maintenanceSeconds,
      checks: point.latencyCount,
      averageMs: point.latencyCount === 0 ? null : point.latencySum / point.latencyCount,
      p50Ms: point.p50Ms,
      p95Ms: point.p95Ms,
      p99Ms: point.p99Ms,
      maxMs: point.latencyMax,
      reason: isTrouble(point) ? reasonOf(point.at) : null,
    })),
    incidents,
  };
}

const isTrouble = ({ downSeconds, degradedSeconds }: Point) =>
  downSeconds > 0 || degradedSeconds > 0;

/** Reads the reasons of trouble: from heartbeats for up to three days, else from state changes. */
async function createReasonLookup(
  scope: Scope,
  monitorId: string,
  key: number,
  { from, to, width, points }: { from: number; to: number; width: number; points: Point[] },
): Promise<(at: number) => string | null> {
  if (!points.some(isTrouble)) return () => null;
  if (to - from <= 3 * dayMs) {
    const reasons = await findReasons(scope.store, key, { from, to, width });
    return (at) => reasons.get(at) ?? null;
  }
  const events = await findStateEventsBetween(scope, monitorId, from, to);
  const states = events.map(({ type, at, message }, index) => ({
    status: statusAfterEvent[type],
    from: Date.parse(at),
    to: Date.parse(events[index + 1]?.at ?? formatTimestamp(to)),
    message,
  }));
  return (at) => {
    const inCell = states.filter((one) => one.from < at + width && one.to > at);
    const found = (["down", "degraded"] as const).flatMap((status) =>
      inCell.filter((one) => one.status === status),
    );
    return found[0]?.message ?? null;
  };
}
