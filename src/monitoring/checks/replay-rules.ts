/** Derives the states of a monitor from stored check results, with the saved settings or others. */
import type { HeartbeatStatus } from "../uptime/schema.ts";
import { computeSecondsToNext, type CheckResult, type MonitorState, stateAfter } from "./rules.ts";

/** A stored result. `isSlow`: degraded only because of its latency. */
export type StoredResult = {
  at: number;
  status: HeartbeatStatus;
  latencyMs: number | null;
  isSlow: boolean;
};

/** The settings that decide the state of a monitor. */
export type Thresholds = {
  retries: number;
  successThreshold: number;
  degradedAfterMs: number | null;
  /** Seconds between the checks if some results are left out; null if all are used. */
  pace: { intervalSeconds: number; retryIntervalSeconds: number } | null;
};

/** Share of an interval by which a check can be early. */
const earlyShare = 0.1;

/** Feeds stored results, oldest first, to the rules of checks. */
export class StateReplay {
  readonly #thresholds: Thresholds;
  #state: MonitorState = { status: "pending", since: "", failures: 0, successes: 0 };
  /** Time of the next check that counts, if checks are rarer than the stored ones. */
  #nextAt = -Infinity;

  constructor(thresholds: Thresholds) {
    this.#thresholds = thresholds;
  }

  /** Returns the state after a result; null if no check would have run then. */
  add(result: StoredResult): MonitorState | null {
    if (result.at < this.#nextAt) return null;
    const { pace, degradedAfterMs } = this.#thresholds;
    const inMaintenance = result.status === "maintenance";
    const found = judgeResult(result, degradedAfterMs);
    this.#state = stateAfter(this.#state, found, { ...this.#thresholds, inMaintenance }, "");
    if (pace !== null) {
      const seconds = computeSecondsToNext(this.#state, found, pace);
      this.#nextAt = result.at + seconds * 1_000 * (1 - earlyShare);
    }
    return this.#state;
  }
}

/** Returns the status of a result with another latency threshold. */
function judgeResult(
  { status, latencyMs, isSlow }: StoredResult,
  degradedAfterMs: number | null,
): CheckResult {
  if (status === "maintenance") return { status: "unknown" };
  if (status !== "up" && !isSlow) return { status };
  const isAbove = degradedAfterMs !== null && latencyMs !== null && latencyMs > degradedAfterMs;
  return { status: isAbove ? "degraded" : "up" };
}
