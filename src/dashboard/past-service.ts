/** Builds the Monitors page of a past time from the event log and the stored sums. */
import { formatTimestamp } from "../core/time/clock.ts";
import { invalidFieldError } from "../core/validation.ts";
import { findLastSeqOfOrganization, findSeqAt, isLogCompleteSince } from "../events/log.ts";
import { runInSearchTurn } from "../events/organization-turns.ts";
import type { Scope } from "../events/scope.ts";
import { findAllMatchingIds } from "./matches-store.ts";
import { findTraces, type Trace } from "./past-store.ts";
import { readRecentAt } from "./recent-sums.ts";
import { compactOverview, hasMessage, sealPosition, statusBegun } from "./rules.ts";
import type { CompactOverview, OverviewFilters, OverviewMonitor, PastState } from "./schema.ts";
import { maxRowsAtOnce } from "./service.ts";
import { findOverviewGroups, findOverviewMonitors } from "./store.ts";

/** The state of a monitor at a past time. `unknown` if nothing stored tells it. */
type StateThen = Omit<PastState, "status"> & { status: OverviewMonitor["status"] };

/**
 * Returns the Monitors page with the states of a past time, for the monitors of today that existed then. Throws
 * VALIDATION_FAILED for a time in the future, and for too many monitors.
 */
export async function getPastOverview(
  scope: Scope,
  { status, ...filters }: OverviewFilters,
  at: number,
): Promise<CompactOverview> {
  const { store, vault, clock, organizationId } = scope;
  if (at > clock()) throw invalidFieldError("at", "must be a time in the past");
  const seq = await findLastSeqOfOrganization(store, organizationId);
  const groups = await findOverviewGroups(scope);
  const groupIds = groups.map(({ id }) => id);
  const readIds = () => findAllMatchingIds(scope, filters, groupIds);
  const ids = await (filters.q === undefined ? readIds() : runInSearchTurn(scope, readIds));
  if (ids.length > maxRowsAtOnce)
    throw invalidFieldError(
      "at",
      `shows at most ${maxRowsAtOnce} monitors: filter them by name, type or tag`,
    );
  const states = await findStates(scope, ids, at);
  const shown = ids.filter((id) => {
    const state = states.get(id);
    return state !== undefined && (status === undefined || state.status === status);
  });
  const rows = await findOverviewMonitors(scope, shown, (keys) => readRecentAt(store, keys, at));
  const monitors = rows.map((row) => showState(row, states.get(row.id) as StateThen));
  return compactOverview({ groups, monitors, position: sealPosition(vault, scope, seq) });
}

/** Finds the states of monitors at a time. Monitors that did not exist yet have none. */
async function findStates(scope: Scope, ids: readonly string[], at: number) {
  const traces = await findTraces(scope, ids, await findSeqAt(scope.store, formatTimestamp(at)));
  const states = new Map<string, StateThen>();
  for (const trace of traces) {
    if (Date.parse(trace.createdAt) > at) continue;
    states.set(trace.id, findState(trace, at) ?? (await findFirstState(scope, trace)));
  }
  return states;
}

function findState(trace: Trace, at: number): StateThen | null {
  const { type, message, before, since, hasEnded, status, statusSince } = trace;
  if (type !== null && trace.at !== null)
    return { status: statusBegun[type], since: trace.at, message };
  // The start was removed from the log. The event that ended the state, or the record, still tells it.
  const [known, start] = hasEnded ? [before, since] : [status, statusSince];
  if (known === null || start === null || Date.parse(start) > at) return null;
  return { status: known, since: start, message: null };
}

async function findFirstState(
  { store }: Scope,
  { createdAt }: Pick<Trace, "createdAt">,
): Promise<StateThen> {
  const isNew = await isLogCompleteSince(store, createdAt);
  return { status: isNew ? "pending" : "unknown", since: createdAt, message: null };
}

const showState = (
  row: OverviewMonitor,
  { status, since, message }: StateThen,
): OverviewMonitor => ({
  ...row,
  status,
  statusSince: since,
  lastMessage: hasMessage(status) ? message : null,
  latencyMs: null,
  paused: status === "paused",
  pausedUntil: null,
});
