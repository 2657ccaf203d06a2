import { requestBounds, singleSignOnBounds } from "../../core/limits.ts";
import { type Clock, hourMs } from "../../core/time/clock.ts";
import { createAttemptBackoff } from "./attempt-backoff.ts";
import { createNetworkLimit, createRateLimit } from "./rate-limit.ts";

export type AccessLimits = ReturnType<typeof createAccessLimits>;

export function createAccessLimits(clock: Clock, requestsPerMinute: number) {
  return {
    /** Requests per API key and minute. */
    requestLimit: createRateLimit(requestsPerMinute, clock),
    /** Requests per person and minute. */
    personLimit: createRateLimit(requestBounds.perPerson.value, clock),
    /** Wrong credentials per client network and minute. */
    failureLimit: createNetworkLimit(requestBounds.wrongKeys.value, clock),
    /** Wrong passwords, codes and tokens per client network and minute. */
    attemptLimit: createNetworkLimit(requestBounds.wrongPasswords.value, clock),
    /** Wrong passwords per e-mail address, client network and hour. */
    passwordLimit: createRateLimit(requestBounds.wrongPasswordsPerAccount.value, clock, {
      windowMs: hourMs,
    }),
    /** Starts and ends of sign-ins through providers, per client network and minute. */
    providerLimit: createNetworkLimit(singleSignOnBounds.requests.value, clock),
    /** Delays after wrong attempts per account, from any network. */
    attemptBackoff: createAttemptBackoff(clock),
  };
}
