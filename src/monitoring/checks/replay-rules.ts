/** Replays stored check results with other thresholds. */
import { formatTimestamp } from "../../core/time/clock.ts";
import type { HeartbeatStatus } from "../uptime/schema.ts";
import { type Found, type MonitorState, stateAfter } from "./rules.ts";
import type { Replay } from "./replay-schema.ts";

/** A stored result. `isSlow`: degraded only because of its latency. */
export type StoredResult = {
  at: number;
  status: HeartbeatStatus;
  latencyMs: number | null;
  isSlow: boolean;
};

export type Thresholds = {
  retries: number;
  successThreshold: number;
  degradedAfterMs: number | null;
};

type Period = { from: number; to: number };
type Run = { outages: Period[]; slowPeriods: number };

/** Compares what saved and requested thresholds would have reported. `results` must be sorted, oldest first. */
export function replayThresholds(
  results: readonly StoredResult[],
  saved: Thresholds,
  requested: Thresholds,
): Replay {
  const before = runThresholds(results, saved);
  const after = runThresholds(results, requested);
  const missed = before.outages.filter(
    (outage) => !after.outages.some(({ from, to }) => from <= outage.to && to >= outage.from),
  );
  const count = ({ outages, slowPeriods }: Run) => ({ outages: outages.length, slowPeriods });
  return {
    from: results[0] === undefined ? null : formatTimestamp(results[0].at),
    checks: results.length,
    saved: count(before),
    requested: count(after),
    missed: missed.length,
    longestMissedSeconds: Math.round(
      Math.max(0, ...missed.map(({ from, to }) => to - from)) / 1_000,
    ),
  };
}

function runThresholds(results: readonly StoredResult[], thresholds: Thresholds): Run {
  const outages: Period[] = [];
  let slowPeriods = 0;
  let state: MonitorState = { status: "pending", since: "", failures: 0, successes: 0 };
  for (const result of results) {
    const inMaintenance = result.status === "maintenance";
    const after = stateAfter(
      state,
      judge(result, thresholds),
      { ...thresholds, inMaintenance },
      "",
    );
    const open = state.status === "down" ? outages.at(-1) : undefined;
    if (open !== undefined) open.to = result.at;
    if (after.status === "down" && state.status !== "down")
      outages.push({ from: result.at, to: result.at });
    if (after.status === "degraded" && state.status !== "degraded") slowPeriods++;
    state = after;
  }
  return { outages, slowPeriods };
}

/** The status of a result with another latency threshold. */
function judge(
  { status, latencyMs, isSlow }: StoredResult,
  { degradedAfterMs }: Thresholds,
): Found {
  if (status === "maintenance") return { status: "unknown" };
  if (status !== "up" && !isSlow) return { status };
  const isAbove = degradedAfterMs !== null && latencyMs !== null && latencyMs > degradedAfterMs;
  return { status: isAbove ? "degraded" : "up" };
}
