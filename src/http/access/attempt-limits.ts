/** Limits guesses at passwords and other secrets. */
import { networkOf } from "../../core/security/client-network.ts";
import { AppError, rateLimitError } from "../../core/errors.ts";
import type { HashingClient } from "../../core/security/hashing-queue.ts";
import { consumeLimit, type RateLimit } from "./rate-limit.ts";
import type { VisitorContext } from "../visitor-context.ts";

/**
 * Limits guesses at secrets to ten wrong guesses per network and minute. `attempt` returns null for a wrong guess.
 * With a `subject`, all clients that guess it wait longer after each wrong guess. Throws RATE_LIMITED before
 * `attempt` starts.
 */
export async function tryWithLimits<T>(
  context: Pick<VisitorContext, "attemptLimit" | "attemptBackoff" | "address">,
  attempt: () => Promise<T | null>,
  subject?: string,
): Promise<T | null> {
  const { attemptLimit, address } = context;
  return tryWithinLimit(attemptLimit, address, () =>
    subject === undefined ? attempt() : tryWithBackoff(context, attempt, subject),
  );
}

/** Limits the guesses of a client by a given limit. */
export async function tryWithinLimit<T>(
  limit: RateLimit,
  client: string,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  // Counted in advance, because concurrent guesses must not all be hashed.
  consumeLimit(limit, client);
  try {
    const found = await attempt();
    if (found !== null) limit.refund(client);
    return found;
  } catch (error) {
    // A rejected attempt is not a guess.
    if (error instanceof AppError && error.code === "RATE_LIMITED") limit.refund(client);
    throw error;
  }
}

async function tryWithBackoff<T>(
  { attemptBackoff, address }: Pick<VisitorContext, "attemptBackoff" | "address">,
  attempt: () => Promise<T | null>,
  subject: string,
): Promise<T | null> {
  const network = networkOf(address);
  const wait = attemptBackoff.take(subject, network);
  if (wait > 0) throw rateLimitError(wait);
  try {
    const found = await attempt();
    if (found !== null) attemptBackoff.succeed(subject);
    return found;
  } catch (error) {
    attemptBackoff.refund(subject, network);
    throw error;
  }
}

/** Counts an action that can reveal whether a guess was correct. Throws RATE_LIMITED. */
export function countAttempt({
  attemptLimit,
  address,
}: Pick<VisitorContext, "attemptLimit" | "address">) {
  consumeLimit(attemptLimit, address);
}

/** Client for which a visitor's password is hashed. */
export function buildHashingClient({ address, knownNetworks }: VisitorContext): HashingClient {
  return {
    lane: "sign-in",
    client: networkOf(address),
    isKnown: knownNetworks.has(address),
  };
}
