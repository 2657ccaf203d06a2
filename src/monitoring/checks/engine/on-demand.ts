import type { Clock } from "../../../core/time/clock.ts";
import { AppError, rateLimited } from "../../../core/errors.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { rateLimit } from "../../../http/access/rate-limit.ts";
import type { CheckCaller } from "../check.ts";

const atOnce = {
  caller: monitorBounds.manualChecks.value,
  organization: monitorBounds.manualChecksPerOrganization.value,
  all: monitorBounds.manualChecksPerAppliance.value,
};

/** Limits requested checks per caller, per organization and in total. */
export function limitOnDemand(clock: Clock) {
  const limits = {
    caller: rateLimit(monitorBounds.manualChecksPerMinute.value, clock),
    organization: rateLimit(monitorBounds.manualChecksPerOrganizationAndMinute.value, clock),
  };
  const underWay = new Map<string, number>();
  const countOf = (key: string) => underWay.get(key) ?? 0;

  function count(keys: readonly string[], change: 1 | -1) {
    for (const key of keys) {
      const now = countOf(key) + change;
      if (now === 0) underWay.delete(key);
      else underWay.set(key, now);
    }
  }

  /** Runs a check within the limits. Throws RATE_LIMITED. */
  return async <T>(
    { organizationId, callerId }: CheckCaller,
    check: () => Promise<T>,
  ): Promise<T> => {
    const keys = [`caller ${callerId}`, `organization ${organizationId}`, "all"] as const;
    const [caller, organization, all] = keys.map(countOf);
    if (Number(caller) >= atOnce.caller) throw tooMany(`${atOnce.caller} of yours`);
    if (Number(organization) >= atOnce.organization)
      throw tooMany(`${atOnce.organization} of this organization`);
    if (Number(all) >= atOnce.all) throw tooMany("too many");
    const wait = limits.caller.take(callerId) || limits.organization.take(organizationId);
    if (wait > 0) throw rateLimited(wait);
    count(keys, 1);
    try {
      return await check();
    } finally {
      count(keys, -1);
    }
  };
}

function tooMany(howMany: string) {
  const message = `Wait for the end of earlier checks: ${howMany} are running.`;
  return new AppError("RATE_LIMITED", message, { headers: { "Retry-After": "1" } });
}
