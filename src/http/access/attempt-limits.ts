import { networkOf } from "../../core/security/client-network.ts";
import { AppError, rateLimited } from "../../core/errors.ts";
import type { HashingClient } from "../../core/security/hashing-queue.ts";
import { consume, type RateLimit } from "./rate-limit.ts";
import type { VisitorContext } from "../visitor-context.ts";

/**
 * Lets a visitor try something that only its owner knows; null says that it was wrong. A network has ten
 * wrong ones a minute for all that it tries; where there is a `subject`, all who try it wait longer with
 * each wrong one. Throws RATE_LIMITED, before `attempt` does any work.
 */
export async function withAttemptLimits<T>(
  context: Pick<VisitorContext, "attemptLimit" | "attemptBackoff" | "address">,
  attempt: () => Promise<T | null>,
  subject?: string,
): Promise<T | null> {
  const { attemptLimit, address } = context;
  return withinLimit(attemptLimit, address, () =>
    subject === undefined ? attempt() : withBackoff(context, attempt, subject),
  );
}

/** The same within what this limit leaves to `who`. */
export async function withinLimit<T>(
  limit: RateLimit,
  who: string,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  // Taken before it is known to be wrong: a thousand at once must not all get to the hashing.
  consume(limit, who);
  try {
    const found = await attempt();
    if (found !== null) limit.refund(who);
    return found;
  } catch (error) {
    // Turned away unjudged, it was no attempt.
    if (error instanceof AppError && error.code === "RATE_LIMITED") limit.refund(who);
    throw error;
  }
}

async function withBackoff<T>(
  { attemptBackoff, address }: Pick<VisitorContext, "attemptBackoff" | "address">,
  attempt: () => Promise<T | null>,
  subject: string,
): Promise<T | null> {
  const network = networkOf(address);
  const wait = attemptBackoff.take(subject, network);
  if (wait > 0) throw rateLimited(wait);
  try {
    const found = await attempt();
    if (found !== null) attemptBackoff.succeed(subject);
    return found;
  } catch (error) {
    attemptBackoff.refund(subject, network);
    throw error;
  }
}

/** Counts something that may have told whether an attempt was right. Throws RATE_LIMITED. */
export function countAttempt({
  attemptLimit,
  address,
}: Pick<VisitorContext, "attemptLimit" | "address">) {
  consume(attemptLimit, address);
}

/** In whose turn a visitor's password is hashed. */
export function hashingFor({ address, knownNetworks }: VisitorContext): HashingClient {
  return {
    lane: "sign-in",
    client: networkOf(address),
    isKnown: knownNetworks.has(address),
  };
}
