import { networkOf } from "../../core/security/client-network.ts";
import { createRecentSet } from "../../core/collections/recent-set.ts";

export type KnownNetworks = ReturnType<typeof createKnownNetworks>;

const maxNetworks = 1_000;

/** Networks with recent successful sign-ins. Failed attempts by strangers don't lock them out. */
export function createKnownNetworks(addresses: readonly string[] = []) {
  const known = createRecentSet(maxNetworks);
  for (const address of addresses) known.add(networkOf(address));
  return {
    /** Records a sign-in from an address. */
    add: (address: string) => known.add(networkOf(address)),
    has: (address: string) => known.has(networkOf(address)),
  };
}
