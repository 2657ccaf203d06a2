import { Elysia } from "elysia";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Vault } from "../base/secrets.ts";
import type { Store } from "../database/store.ts";
import type { RateLimit } from "./rate-limit.ts";

/** What every request of one running appliance shares. */
export type Appliance = {
  store: Store;
  clock: Clock;
  vault: Vault;
  log: Log;
  /** Requests a minute by API key. */
  requestLimit: RateLimit;
  /** Wrong credentials a minute by client address. */
  failureLimit: RateLimit;
  /** Who holds the key with this SHA-256; null for an unknown, revoked or expired one. */
  authenticate(keyHash: string): Promise<Principal | null>;
};

export type Principal = {
  organizationId: string;
  keyId: string;
  keyName: string;
  scope: "read" | "write";
};

/** One request on its way through the gate and its endpoint. */
export type Call = {
  appliance: Appliance;
  requestId: string;
  /** Null only outside `/api/v1`, where no endpoint asks for it. */
  principal: Principal | null;
};

/** The base of every feature's routes: the gate puts the call into the context before any route runs. */
export function resource<const Prefix extends string>(prefix: Prefix) {
  return new Elysia({ prefix }).decorate("call", null as unknown as Call);
}
