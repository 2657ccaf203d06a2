import type { Log } from "../core/log.ts";
import type { Statement } from "../database/store.ts";
import type { ScopeServices } from "../events/scope.ts";
import type { AccessLimits } from "./access/access-limits.ts";
import type { KnownNetworks } from "./access/known-networks.ts";
import type { Principal, Sessions } from "./access/session.ts";
import type { TrustedHeader } from "./access/trusted-header.ts";
import type { ResponseCache } from "./responses/response-cache.ts";

/** Services that all requests need. Further dependencies are declared by the routes of a feature. */
export type RequestServices = ScopeServices &
  AccessLimits & {
    log: Log;
    keys: KeyLookup;
    sessions: Sessions;
    knownNetworks: KnownNetworks;
    trustedHeader: TrustedHeader;
    responses: ResponseCache;
    /** Extends the idle timeout of the request's connection. */
    extendTimeout: (request: Request, seconds: number) => void;
  };

export type KeyLookup = {
  /**
   * Finds the principal of the API key with this SHA-256; null for an unknown, revoked or expired key. Counts as a
   * use of the key.
   */
  find(hash: string): Promise<Principal | null>;
  /** Finds the principal of a key with the scope `ping`, which `find` does not return. Counts as a use of the key. */
  findPing(hash: string): Promise<Principal | null>;
  /** Reads the principal of a valid key by its ID. Does not count as a use of the key. */
  findById(organizationId: string, id: string): Promise<Principal | null>;
  /** Statements that store the uses of keys since the previous call. */
  collectLastUses(): Statement[];
};
