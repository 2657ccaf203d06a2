import type { Clock } from "../../core/clock.ts";
import { fairQueue } from "../../core/fair-queue.ts";
import type { Log } from "../../core/log.ts";
import { accessTokens } from "../../core/outgoing/access-tokens.ts";
import type { TargetGuard } from "../../core/target-guard.ts";
import type { Store } from "../../database/store.ts";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { organizationAuthorities } from "./authorities.ts";
import { byteBudget } from "./byte-budget.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import { type Checkable, type Outcome, runCheck, unknownResult } from "./run-check.ts";

type Dependencies = {
  store: Store;
  targets: TargetGuard;
  clock: Clock;
  log: Log;
  dockerSocket?: string;
  browser?: string | undefined;
};

/** Makes checks with what their organization trusts, and with its share of memory and of the processor. */
export function organizationChecks(
  dependencies: Dependencies,
  watch: { monotonic: Clock; trouble: TroubleWatch },
  /** How many organizations have checks. */
  organizations: () => number,
) {
  const budget = byteBudget(organizations);
  const tokens = accessTokens();
  const searches = fairQueue({ atOnce: 1, mostWaiting: Infinity });
  const pages = fairQueue({ atOnce: 1, mostWaiting: Infinity });
  const authorities = organizationAuthorities(dependencies.store);

  return {
    /** Never throws. */
    async run(
      organizationId: string,
      monitor: Checkable,
      cancelled: AbortSignal,
    ): Promise<Outcome> {
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
          memory: budget.of(organizationId),
          inTurn: (work) => searches.run(organizationId, work),
          browserTurn: (work) => pages.run(organizationId, work),
          accessTokens: tokens,
          authorities: trusted,
        },
        cancelled,
      );
    },
    /** Has the settings of the organization read again. */
    forgetSettings: authorities.forget,
    take: (events: readonly LoggedEvent[]) => authorities.take(events),
  };
}
