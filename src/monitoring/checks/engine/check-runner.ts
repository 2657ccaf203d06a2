/** Runs checks with the certificate authorities of their organization and its share of memory and processor time. */
import type { CheckResult } from "../check.ts";
import type { Clock } from "../../../core/time/clock.ts";
import { createFairQueue } from "../../../core/collections/fair-queue.ts";
import type { Log } from "../../../core/log.ts";
import { createAccessTokenCache } from "../../../core/outgoing/access-tokens.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalog.ts";
import { createAuthoritiesCache } from "../protocols/authorities.ts";
import { createByteBudget } from "../protocols/byte-budget.ts";
import { listMembers } from "../../dependencies/store.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import { runCheck, createUnknownResult } from "./run-check.ts";
import type { CheckTarget } from "../check.ts";

type Dependencies = {
  store: Store;
  targets: TargetGuard;
  clock: Clock;
  log: Log;
  dockerSocket?: string;
  browser?: string | undefined;
};

export function createCheckRunner(
  dependencies: Dependencies,
  watch: { monotonic: Clock; trouble: TroubleWatch },
  /** Number of organizations with checks. */
  organizations: () => number,
) {
  const budget = createByteBudget(organizations);
  const tokens = createAccessTokenCache();
  const searches = createFairQueue({ atOnce: 1, mostWaiting: Infinity });
  const pages = createFairQueue({ atOnce: 1, mostWaiting: Infinity });
  /** Browsers that have not exited yet. */
  const runningWork = new Set<Promise<unknown>>();
  const authorities = createAuthoritiesCache(dependencies.store);

  async function trackUntilEnded<T>(work: Promise<T>): Promise<T> {
    runningWork.add(work);
    try {
      return await work;
    } finally {
      runningWork.delete(work);
    }
  }

  return {
    /** Runs one check. Never throws. */
    async run(
      organizationId: string,
      monitor: CheckTarget,
      signal: AbortSignal,
    ): Promise<CheckResult> {
      let trusted: string | null;
      try {
        trusted = await authorities.of(organizationId);
      } catch {
        return createUnknownResult("the settings of the organization can't be read");
      }
      return runCheck(
        monitor,
        {
          ...dependencies,
          ...watch,
          organizationId,
          memory: budget.of(organizationId),
          membersOf: (ids, dependentId) =>
            listMembers({ store: dependencies.store, organizationId }, ids, dependentId),
          inTurn: (work) => searches.run(organizationId, work),
          runWithBrowser: (work) => pages.run(organizationId, () => trackUntilEnded(work())),
          accessTokens: tokens,
          authorities: trusted,
        },
        signal,
      );
    },
    /** Resolves when all browsers have exited. */
    settled: () => Promise.allSettled(runningWork),
    /** Discards the cached settings of an organization. */
    forgetSettings: authorities.forget,
    take: (events: readonly LoggedEvent[]) => authorities.take(events),
  };
}
