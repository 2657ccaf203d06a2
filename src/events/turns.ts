import { AppError } from "../core/errors.ts";
import { fairQueue } from "../core/fair-queue.ts";
import { requestBounds } from "../core/limits.ts";
import type { Scope } from "./scope.ts";

type Caller = Pick<Scope, "organizationId"> & Partial<Pick<Scope, "signal">>;

/**
 * Has what reads all of an organization done one at a time for it, and not at all for a caller who has gone
 * meanwhile. Throws RATE_LIMITED where too many wait.
 */
export function organizationTurns() {
  const turns = fairQueue({ atOnce: 4, mostWaiting: requestBounds.readingWholeOrganization.value });
  return <T>({ organizationId, signal }: Caller, work: () => Promise<T>): Promise<T> =>
    turns.run(organizationId, () => {
      if (signal?.aborted) throw new AppError("UNAVAILABLE", "Whoever asked has gone.");
      return work();
    });
}
