import type { Scope } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { dayMs } from "../../core/time/clock.ts";
import { getMonitor } from "../monitors/service.ts";
import { getMeasured } from "../uptime/service.ts";
import { listResultsToReplay } from "../uptime/store.ts";
import { replayThresholds } from "./replay-rules.ts";
import type { Replay, ReplayQuery } from "./replay-schema.ts";

/** Newest results that are replayed: at most 90 days of a monitor, and 50,000 rows. */
const bounds = { days: 90, results: 50_000 };

/** Replays a monitor's stored results with other thresholds. Throws NOT_FOUND, CONFLICT for a push monitor. */
export async function replayMonitor(scope: Scope, id: string, query: ReplayQuery): Promise<Replay> {
  const { type, retries, successThreshold, degradedAfterMs: saved } = await getMonitor(scope, id);
  if (type === "push")
    throw new AppError("CONFLICT", "A push monitor is down without retries. It has no thresholds.");
  const { key } = await getMeasured(scope, id);
  const from = scope.clock() - bounds.days * dayMs;
  const results = await listResultsToReplay(scope.store, key, from, bounds.results);
  return replayThresholds(
    results,
    { retries, successThreshold, degradedAfterMs: saved },
    { ...query, degradedAfterMs: query.degradedAfterMs ?? null },
  );
}
