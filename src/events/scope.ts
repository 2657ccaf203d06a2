/** The context in which use cases run. */
import type { Clock } from "../core/time/clock.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { Limits } from "../core/limits.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { TargetGuard } from "../core/security/target-guard.ts";
import type { Statement, Store } from "../database/store.ts";

export type Actor = {
  type: "api-key" | "person" | "command-line" | "monitor" | "visitor";
  /** Null if the actor has no record, such as a user of the command line. */
  id: string | null;
  name: string;
};

/** The user of the command line. */
export const commandLine: Actor = { type: "command-line", id: null, name: "command line" };

/** Context of a use case: organization, actor, store and clock. */
export type Scope = {
  store: Store;
  clock: Clock;
  vault: Vault;
  /** Addresses that checks and alerts can reach. */
  targets: TargetGuard;
  ownHosts: OwnHosts;
  /** Limits of the organization. */
  limits: Limits;
  organizationId: string;
  actor: Actor;
  /** Whether the caller may change the organization's data. Others see no secrets that allow it. */
  mayWrite: boolean;
  requestId: string | null;
  /** Address under which the caller reached this appliance, without a trailing slash. */
  origin: string;
  /** The caller's If-Match; null when the write is unconditional. */
  ifMatch: string | null;
  /** Aborted when the caller disconnects; null if that is unknown. */
  signal: AbortSignal | null;
  /** Stores the response under the caller's Idempotency-Key; null without one. */
  remember: ((answer: object) => Statement[]) | null;
};

/** Parts of a scope that all organizations share. */
export type ScopeServices = Pick<
  Scope,
  "store" | "clock" | "vault" | "targets" | "ownHosts" | "limits"
>;

/** Context of a use case without a request. */
export function scopeOf(
  { store, clock, vault, targets, ownHosts, limits }: ScopeServices,
  organizationId: string,
  actor: Actor,
): Scope {
  return {
    store,
    clock,
    vault,
    targets,
    ownHosts,
    limits,
    organizationId,
    actor,
    mayWrite: true,
    requestId: null,
    origin: "",
    ifMatch: null,
    signal: null,
    remember: null,
  };
}
