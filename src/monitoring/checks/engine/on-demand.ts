import type { Clock } from "../../../core/time/clock.ts";
import { AppError, rateLimitError } from "../../../core/errors.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { createRateLimit } from "../../../http/access/rate-limit.ts";
import type { CheckCaller } from "../check.ts";

const concurrentLimits = {
  caller: monitorBounds.manualChecks.value,
  organization: monitorBounds.manualChecksPerOrganization.value,
  all: monitorBounds.manualChecksPerAppliance.value,
};

/** Limits requested checks per caller, per organization and in total. */
export function limitOnDemand(clock: Clock) {
  const limits = {
    caller: createRateLimit(monitorBounds.manualChecksPerMinute.value, clock),
    organization: createRateLimit(monitorBounds.manualChecksPerOrganizationAndMinute.value, clock),
  };
  const underWay = new Map<string, number>();
  const countOf = (key: string) => underWay.get(key) ?? 0;

  function changeCount(keys: readonly string[], change: 1 | -1) {
    for (const key of keys) {
      const newCount = countOf(key) + change;
      if (newCount === 0) underWay.delete(key);
      else underWay.set(key, newCount);
    }
  }

  /** Runs a check within the limits. Throws RATE_LIMITED. */
  return async <T>(
    { organizationId, callerId }: CheckCaller,
    check: () => Promise<T>,
  ): Promise<T> => {
    const keys = [`caller ${callerId}`, `organization ${organizationId}`, "all"] as const;
    const [caller, organization, all] = keys.map(countOf);
    if (Number(caller) >= concurrentLimits.caller)
      throw tooManyChecksError(`${concurrentLimits.caller} of yours`);
    if (Number(organization) >= concurrentLimits.organization)
      throw tooManyChecksError(`${concurrentLimits.organization} of this organization`);
    if (Number(all) >= concurrentLimits.all) throw tooManyChecksError("too many");
    const wait = limits.caller.take(callerId) || limits.organization.take(organizationId);
    if (wait > 0) throw rateLimitError(wait);
    changeCount(keys, 1);
    try {
      return await check();
    } finally {
      changeCount(keys, -1);
    }
  };
}

function tooManyChecksError(howMany: string) {
  const message = `Wait for the end of earlier checks: ${howMany} are running.`;
  return new AppError("RATE_LIMITED", message, { headers: { "Retry-After": "1" } });
}
