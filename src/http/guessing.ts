import { networkOf } from "../core/client-network.ts";
import { AppError } from "../core/errors.ts";
import type { HashingClient } from "../core/hashing-queue.ts";
import { rateLimited } from "./gate.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Visit } from "./visit.ts";

/**
 * Lets a visitor try something that only its owner knows; null says that it was wrong. A network has ten
 * wrong ones a minute for all that it tries; where there is a `subject`, all who try it wait longer with
 * each wrong one. Throws RATE_LIMITED, before `attempt` does any work.
 */
export async function guessed<T>(
  visit: Pick<Visit, "guessLimit" | "slowDown" | "address">,
  attempt: () => Promise<T | null>,
  subject?: string,
): Promise<T | null> {
  const { guessLimit, address } = visit;
  return counted(guessLimit, address, () =>
    subject === undefined ? attempt() : slowed(visit, attempt, subject),
  );
}

/** The same within what this limit leaves to `who`. */
export async function counted<T>(
  limit: RateLimit,
  who: string,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  // Taken before it is known to be wrong: a thousand at once must not all get to the hashing.
  const wait = limit.take(who);
  if (wait > 0) throw rateLimited(wait);
  try {
    const found = await attempt();
    if (found !== null) limit.giveBack(who);
    return found;
  } catch (error) {
    // Turned away unjudged, it was no guess.
    if (error instanceof AppError && error.code === "RATE_LIMITED") limit.giveBack(who);
    throw error;
  }
}

async function slowed<T>(
  { slowDown, address }: Pick<Visit, "slowDown" | "address">,
  attempt: () => Promise<T | null>,
  subject: string,
): Promise<T | null> {
  const network = networkOf(address);
  const wait = slowDown.take(subject, network);
  if (wait > 0) throw rateLimited(wait);
  try {
    const found = await attempt();
    if (found !== null) slowDown.succeed(subject);
    return found;
  } catch (error) {
    slowDown.giveBack(subject, network);
    throw error;
  }
}

/** Counts something that may have told whether a guess was right. Throws RATE_LIMITED. */
export function countGuess({ guessLimit, address }: Pick<Visit, "guessLimit" | "address">) {
  const wait = guessLimit.take(address);
  if (wait > 0) throw rateLimited(wait);
}

/** In whose turn a visitor's password is hashed. */
export function hashingFor({ address, knownNetworks }: Visit): HashingClient {
  return {
    lane: "sign-in",
    client: networkOf(address),
    isKnown: knownNetworks.has(address),
  };
}
