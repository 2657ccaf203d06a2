/** Runs checks with the certificate authorities of their organization and its share of memory and processor time. */
import type { CheckResult } from "../check.ts";
import type { Clock } from "../../../core/time/clock.ts";
import { fairQueue } from "../../../core/collections/fair-queue.ts";
import type { Log } from "../../../core/log.ts";
import { accessTokens } from "../../../core/outgoing/access-tokens.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalogue.ts";
import { organizationAuthorities } from "../protocols/authorities.ts";
import { byteBudget } from "../protocols/byte-budget.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import { runCheck, unknownResult } from "./run-check.ts";
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
  const budget = byteBudget(organizations);
  const tokens = accessTokens();
  const searches = fairQueue({ atOnce: 1, mostWaiting: Infinity });
  const pages = fairQueue({ atOnce: 1, mostWaiting: Infinity });
  /** Browsers that have not exited yet. */
  const opened = new Set<Promise<unknown>>();
  const authorities = organizationAuthorities(dependencies.store);

  async function untilEnded<T>(work: Promise<T>): Promise<T> {
    opened.add(work);
    try {
      return await work;
    } finally {
      opened.delete(work);
    }
  }

  return {
    /** Runs one check. Never throws. */
    async run(
      organizationId: string,
      monitor: CheckTarget,
      cancelled: AbortSignal,
    ): Promise<CheckResult> {
      let trusted: string | null;
      try {
        trusted = await authorities.of(organizationId);
      } catch {
        return unknownResult("the settings of the organization can't be read");
      }
      return runCheck(
        monitor,
        {
          ...dependencies,
          ...watch,
          organizationId,
          memory: budget.of(organizationId),
          inTurn: (work) => searches.run(organizationId, work),
          browserTurn: (work) => pages.run(organizationId, () => untilEnded(work())),
          accessTokens: tokens,
          authorities: trusted,
        },
        cancelled,
      );
    },
    /** Resolves when all browsers have exited. */
    settled: () => Promise.allSettled(opened),
    /** Makes the next check read the settings of the organization again. */
    forgetSettings: authorities.forget,
    take: (events: readonly LoggedEvent[]) => authorities.take(events),
  };
}
