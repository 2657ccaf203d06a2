/** Finds the states of monitors at a past time in the event log. */
import { formatTimestamp } from "../../core/time/clock.ts";
import type { MonitorStatus } from "../../core/statuses.ts";
import type { Tenant } from "../../database/rows.ts";
import type { StateType } from "../../events/catalog.ts";
import { findSeqAt, isLogCompleteSince } from "../../events/log.ts";
import { findTraces, type Trace } from "./past-store.ts";

/** The state of a monitor at a past time. `unknown` if no stored data shows it. */
export type PastState = {
  status: MonitorStatus | "unknown";
  since: string;
  message: string | null;
};

/** State that starts with an event of a monitor. */
export const statusAfterEvent = {
  "monitor.pending": "pending",
  "monitor.up": "up",
  "monitor.degraded": "degraded",
  "monitor.down": "down",
  "monitor.maintenance": "maintenance",
  "monitor.paused": "paused",
  "monitor.resumed": "pending",
} as const satisfies Record<StateType, MonitorStatus>;

/** Finds the states of monitors at a time. Monitors that did not exist yet have none. */
export async function findPastStates(tenant: Tenant, ids: readonly string[], at: number) {
  const { store } = tenant;
  const traces = await findTraces(tenant, ids, await findSeqAt(store, formatTimestamp(at)));
  const states = new Map<string, PastState>();
  for (const trace of traces) {
    if (Date.parse(trace.createdAt) > at) continue;
    states.set(trace.id, findState(trace, at) ?? (await findFirstState(tenant, trace)));
  }
  return states;
}

function findState(trace: Trace, at: number): PastState | null {
  const { type, message, before, since, hasEnded, status, statusSince } = trace;
  if (type !== null && trace.at !== null)
    return { status: statusAfterEvent[type], since: trace.at, message };
  // The start was removed from the log. The event that ended the state, or the record, still contains it.
  const [known, start] = hasEnded ? [before, since] : [status, statusSince];
  if (known === null || start === null || Date.parse(start) > at) return null;
  return { status: known, since: start, message: null };
}

async function findFirstState(
  { store }: Tenant,
  { createdAt }: Pick<Trace, "createdAt">,
): Promise<PastState> {
  const isLogComplete = await isLogCompleteSince(store, createdAt);
  return { status: isLogComplete ? "pending" : "unknown", since: createdAt, message: null };
}
