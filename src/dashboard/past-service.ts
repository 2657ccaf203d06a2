/** Builds the Monitors page of a past time from the event log and the stored sums. */
import { invalidFieldError } from "../core/validation.ts";
import { findLastSeqOfOrganization } from "../events/log.ts";
import { runInSearchTurn } from "../events/organization-turns.ts";
import type { Scope } from "../events/scope.ts";
import { findOpenIncidentsAt } from "../incidents/past-store.ts";
import { findPastStates, type PastState } from "../monitoring/monitors/past-service.ts";
import { findAllMatchingIds } from "./matches-store.ts";
import { readRecentAt } from "./recent-sums.ts";
import { compactOverview, hasMessage, sealPosition } from "./rules.ts";
import type { CompactOverview, OverviewFilters, OverviewMonitor } from "./schema.ts";
import { maxRowsAtOnce } from "./service.ts";
import { findOverviewGroups, findOverviewMonitors } from "./store.ts";

/**
 * Returns the Monitors page as of a past time: the states of the current monitors that existed then, and the incidents
 * that were open. Throws VALIDATION_ERROR for a time in the future, and for too many monitors.
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
  const states = await findPastStates(scope, ids, at);
  const matchingIds = ids.filter((id) => {
    const state = states.get(id);
    return state !== undefined && (status === undefined || state.status === status);
  });
  const rows = await findOverviewMonitors(scope, matchingIds, (keys) =>
    readRecentAt(store, keys, at),
  );
  const monitors = rows.map((row) => applyPastState(row, states.get(row.id) as PastState));
  return compactOverview({
    groups,
    monitors,
    openIncidents: await findOpenIncidentsAt(scope, at),
    position: sealPosition(vault, scope, seq),
  });
}

const applyPastState = (
  row: OverviewMonitor,
  { status, since, message }: PastState,
): OverviewMonitor => ({
  ...row,
  status,
  statusSince: since,
  lastMessage: hasMessage(status) ? message : null,
  latencyMs: null,
  paused: status === "paused",
  pausedUntil: null,
});
