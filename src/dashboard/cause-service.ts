import type { Scope } from "../events/scope.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import { changesBeforeMs, findExpiry, neighborsWithinMs, rankNeighbors } from "./cause-rules.ts";
import type { Causes } from "./cause-schema.ts";
import { findChangesBetween, findFailingSince, findResolvedChange } from "./cause-store.ts";

/** Maximum changes and neighbors in a response, and maximum failing monitors that are read to find the neighbors. */
const limits = { changes: 10, neighbors: 10, failing: 1_000 };

/** Returns known facts from before the current failure of a monitor. Throws NOT_FOUND. */
export async function findCauses(scope: Scope, monitorId: string): Promise<Causes> {
  const monitor = await getMonitor(scope, monitorId);
  const { status, statusSince, groupId, certificateExpiresAt } = monitor;
  if (status !== "down" && status !== "degraded")
    return {
      since: null,
      certificateExpiredAt: null,
      resolved: null,
      changes: [],
      neighbors: [],
      neighborCount: 0,
    };
  const since = Date.parse(statusSince);
  // Changes to alert channels can't cause a failure.
  const subjects = [monitorId, ...(groupId === null ? [] : [groupId])];
  const [resolved, changes, failing] = await Promise.all([
    findResolvedChange(scope, monitorId),
    findChangesBetween(scope, subjects, {
      from: since - changesBeforeMs,
      to: since,
      limit: limits.changes,
    }),
    findFailingSince(scope, {
      from: since - neighborsWithinMs,
      to: since + neighborsWithinMs,
      limit: limits.failing,
    }),
  ]);
  const ownFailure = failing.find(({ id }) => id === monitorId);
  const others = failing.filter(({ id }) => id !== monitorId);
  return {
    since: statusSince,
    certificateExpiredAt: findExpiry(certificateExpiresAt, scope.clock()),
    resolved,
    changes,
    neighbors: rankNeighbors(ownFailure ?? { groupId, checked: monitor, causes: [] }, others).slice(
      0,
      limits.neighbors,
    ),
    neighborCount: others.length,
  };
}
