import { AppError } from "../core/errors.ts";
import { fairQueue } from "../core/collections/fair-queue.ts";
import { requestBounds, searchBounds } from "../core/limits.ts";
import type { Scope } from "./scope.ts";

type Caller = Pick<Scope, "organizationId"> & Partial<Pick<Scope, "signal">>;

/** Runs searches by `q`, one at a time per organization. */
export const inSearchTurn = perOrganization(searchBounds.waiting.value);

/**
 * Creates a queue for work that reads a whole organization, one at a time per organization. Skips work whose caller
 * has disconnected. Throws RATE_LIMITED if too much work waits.
 */
export function perOrganization(mostWaiting = requestBounds.waitingFullReads.value) {
  const turns = fairQueue({ atOnce: 4, mostWaiting });
  return <T>({ organizationId, signal }: Caller, work: () => Promise<T>): Promise<T> =>
    turns.run(organizationId, () => {
      if (signal?.aborted) throw new AppError("UNAVAILABLE", "The client disconnected.");
      return work();
    });
}
