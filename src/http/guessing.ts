import { rateLimited } from "./gate.ts";
import type { Visit } from "./visit.ts";

/**
 * Lets a visitor try something that only its owner knows; null says that it was wrong. An address has ten
 * wrong ones a minute for all that it tries. Throws RATE_LIMITED, before `attempt` does any work.
 */
export async function guessed<T>(
  { guessLimit, address }: Pick<Visit, "guessLimit" | "address">,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const who = neighborhoodOf(address);
  // Taken before it is known to be wrong: a thousand at once must not all get to the hashing.
  const wait = guessLimit.take(who);
  if (wait > 0) throw rateLimited(wait);
  const found = await attempt();
  if (found !== null) guessLimit.giveBack(who);
  return found;
}

/** One IPv6 subscriber has a whole /64 of addresses (RFC 6177): they count as one. */
export function neighborhoodOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::").map((half) => half.replace(/%.*$/, ""));
  const groups = (half: string) => (half === "" ? [] : half.split(":"));
  const missing = 8 - groups(head).length - groups(tail).length;
  const zeros = Array.from({ length: Math.max(0, missing) }, () => "0");
  return [...groups(head), ...zeros, ...groups(tail)].slice(0, 4).join(":");
}
