import { networkOf } from "../../core/security/client-network.ts";
import { recentSet } from "../../core/collections/recent-set.ts";

export type KnownNetworks = ReturnType<typeof knownNetworks>;

const capacity = 1_000;

/** Networks from which people lately were signed in: strangers do not keep them from signing in again. */
export function knownNetworks(addresses: readonly string[] = []) {
  const known = recentSet(capacity);
  for (const address of addresses) known.add(networkOf(address));
  return {
    /** Somebody from this address is signed in. */
    add: (address: string) => known.add(networkOf(address)),
    has: (address: string) => known.has(networkOf(address)),
  };
}
