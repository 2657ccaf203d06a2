import { networkOf } from "../core/client-network.ts";
import { recentSet } from "../core/recent-set.ts";

/** Networks from which people lately were signed in: strangers do not keep them from signing in again. */
export type KnownNetworks = {
  /** Somebody from this address is signed in. */
  add(address: string): void;
  has(address: string): boolean;
};

const capacity = 1_000;

export function knownNetworks(addresses: readonly string[] = []): KnownNetworks {
  const known = recentSet(capacity);
  for (const address of addresses) known.add(networkOf(address));
  return {
    add: (address) => known.add(networkOf(address)),
    has: (address) => known.has(networkOf(address)),
  };
}
