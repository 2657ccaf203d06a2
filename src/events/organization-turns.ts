import { AppError } from "../core/errors.ts";
import { createFairQueue } from "../core/collections/fair-queue.ts";
import { requestBounds, scheduleBounds, searchBounds } from "../core/limits.ts";
import type { Scope } from "./scope.ts";

type Caller = Pick<Scope, "organizationId"> & Partial<Pick<Scope, "signal">>;

/** Runs searches by `q`, one at a time per organization. */
export const runInSearchTurn = createOrganizationTurns(searchBounds.waiting.value);

/** Reads schedules, policies and whom alerts notify, for one request per organization at a time. Must not be nested. */
export const runInOnCallTurn = createOrganizationTurns(scheduleBounds.waiting.value);

/**
 * Creates a queue for work that reads a whole organization, one at a time per organization. Skips work whose caller
 * has disconnected. Throws RATE_LIMITED if too much work waits.
 */
export function createOrganizationTurns(maxWaiting = requestBounds.waitingFullReads.value) {
  const turns = createFairQueue({ atOnce: 4, mostWaiting: maxWaiting });
  return <T>({ organizationId, signal }: Caller, work: () => Promise<T>): Promise<T> =>
    turns.run(organizationId, () => {
      if (signal?.aborted) throw new AppError("UNAVAILABLE", "The client disconnected.");
      return work();
    });
}
