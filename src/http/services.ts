import type { Log } from "../core/log.ts";
import type { Statement } from "../database/store.ts";
import type { ScopeServices } from "../events/scope.ts";
import type { AccessLimits } from "./access/access-limits.ts";
import type { KnownNetworks } from "./access/known-networks.ts";
import type { Principal, Sessions } from "./access/session.ts";
import type { ResponseCache } from "./responses/response-cache.ts";

/** Dependencies of every request. A feature that needs more declares it at its routes. */
export type RequestServices = ScopeServices &
  AccessLimits & {
    log: Log;
    keys: Keys;
    sessions: Sessions;
    knownNetworks: KnownNetworks;
    responses: ResponseCache;
    /** Extends the idle timeout of the request's connection. */
    extendTimeout: (request: Request, seconds: number) => void;
  };

export type Keys = {
  /** Finds the principal of the API key with this SHA-256; null for an unknown, revoked or expired key. Counts as its use. */
  find(hash: string): Promise<Principal | null>;
  /** Statements that store the last use of keys since the previous call. */
  used(): Statement[];
};
