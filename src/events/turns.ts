import { AppError } from "../core/errors.ts";
import { fairQueue } from "../core/collections/fair-queue.ts";
import { requestBounds, searchBounds } from "../core/limits.ts";
import type { Scope } from "./scope.ts";

type Caller = Pick<Scope, "organizationId"> & Partial<Pick<Scope, "signal">>;

/** Searches by `q`: one at a time for an organization. */
export const inSearchTurn = organizationTurns(searchBounds.waiting.value);

/**
 * Has what reads all of an organization done one at a time for it, and not at all for a caller who has gone
 * meanwhile. Throws RATE_LIMITED where too many wait.
 */
export function organizationTurns(mostWaiting = requestBounds.waitingFullReads.value) {
  const turns = fairQueue({ atOnce: 4, mostWaiting });
  return <T>({ organizationId, signal }: Caller, work: () => Promise<T>): Promise<T> =>
    turns.run(organizationId, () => {
      if (signal?.aborted) throw new AppError("UNAVAILABLE", "The client disconnected.");
      return work();
    });
}
