/** Limits guesses at one subject, such as a password, by increasing waits. */
import { type Clock, dayMs, minuteMs } from "../../core/time/clock.ts";
import { computeBackoffMs } from "../../core/time/pace.ts";
import { setRecent } from "../../core/collections/recent-set.ts";

type Attempts = { count: number; lastAt: number; nextAt: number; networks: Map<string, number> };

/** Number of wrong attempts without a wait. */
const freeAttempts = 5;
const maxWaitMs = 15 * minuteMs;
/** Additional wait of a network per wrong attempt from it, so that networks without wrong attempts wait less. */
const networkPenaltyMs = 10_000;
const maxNetworkPenaltyMs = 120_000;
const forgetAfterMs = dayMs;
const maxSubjects = 10_000;
const maxNetworks = 1_000;

/** Delays guesses at a subject, longer after each wrong guess from any network. */
export function createAttemptBackoff(clock: Clock) {
  const subjects = new Map<string, Attempts>();

  function getAttempts(subject: string, now: number): Attempts {
    const known = subjects.get(subject);
    // A time in the future was stored before the clock was set back.
    const isForgotten = known === undefined || Math.abs(now - known.lastAt) >= forgetAfterMs;
    const attempts = isForgotten
      ? { count: 0, lastAt: now, nextAt: now, networks: new Map() }
      : known;
    setRecent(subjects, subject, attempts, maxSubjects);
    return attempts;
  }

  return {
    /** Counts an attempt from a network and returns 0, or returns the seconds to wait. */
    take(subject: string, network: string): number {
      const now = clock();
      const attempts = getAttempts(subject, now);
      const { networks } = attempts;
      const attemptsOfNetwork = networks.get(network) ?? 0;
      const penaltyMs =
        attempts.count < freeAttempts
          ? 0
          : Math.min(attemptsOfNetwork * networkPenaltyMs, maxNetworkPenaltyMs);
      const waitMs = Math.min(attempts.nextAt + penaltyMs - now, maxWaitMs + maxNetworkPenaltyMs);
      if (waitMs > 0) return Math.ceil(waitMs / 1000);
      attempts.count += 1;
      attempts.lastAt = now;
      if (attempts.count >= freeAttempts)
        attempts.nextAt =
          now + computeBackoffMs(attempts.count - freeAttempts + 1, 1_000, maxWaitMs);
      networks.set(network, attemptsOfNetwork + 1);
      if (networks.size > maxNetworks) networks.delete(networks.keys().next().value ?? "");
      return 0;
    },
    /** Reverts an attempt whose guess was not checked. */
    refund(subject: string, network: string) {
      const attempts = subjects.get(subject);
      if (attempts === undefined) return;
      attempts.count -= 1;
      attempts.networks.set(network, (attempts.networks.get(network) ?? 1) - 1);
      attempts.nextAt = Math.min(attempts.nextAt, clock());
    },
    /** Forgets all attempts after a correct one. */
    succeed: (subject: string) => void subjects.delete(subject),
  };
}
