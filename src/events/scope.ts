/** Defines the scope in which use cases run. */
import type { Clock } from "../core/time/clock.ts";
import type { ActorType } from "../core/statuses.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { Limits } from "../core/limits.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { TargetGuard } from "../core/security/target-guard.ts";
import type { Statement, Store } from "../database/store.ts";

export type Actor = {
  type: ActorType;
  /** ID of the actor's record; null if there is none, as for the command line. */
  id: string | null;
  name: string;
};

/** The actor of commands. */
export const commandLine: Actor = { type: "command-line", id: null, name: "command line" };

/** The actor of scheduled changes. */
export const system: Actor = { type: "system", id: null, name: "Signalbox" };

/** Context of a use case: organization, actor, store and clock. */
export type Scope = {
  store: Store;
  clock: Clock;
  vault: Vault;
  /** Guard of the addresses that checks and alerts can reach. */
  targets: TargetGuard;
  ownHosts: OwnHosts;
  /** Limits of the organization. */
  limits: Limits;
  organizationId: string;
  actor: Actor;
  /** Monitor groups to which the caller is limited; null for all monitors. */
  groupIds: readonly string[] | null;
  /**
   * Whether the caller can change the organization's data. Other callers don't see secrets that would allow changes.
   */
  mayWrite: boolean;
  requestId: string | null;
  /** Tool of the MCP server that sent the request; null for all other requests. */
  tool: string | null;
  /** Origin under which the caller reached this appliance, without a trailing slash. */
  origin: string;
  /** If-Match header of the request; null for an unconditional write. */
  ifMatch: string | null;
  /** Aborted when the caller disconnects; null if that is unknown. */
  signal: AbortSignal | null;
  /** Statements that store the response under the request's Idempotency-Key; null without a key. */
  remember: ((response: object) => Statement[]) | null;
  /** Whether `commit` only verifies the conditions of the write. It then throws RehearsalPassed. */
  isRehearsal: boolean;
};

/** Services of a scope that all organizations share. */
export type ScopeServices = Pick<
  Scope,
  "store" | "clock" | "vault" | "targets" | "ownHosts" | "limits"
>;

/** Creates the scope of a use case without a request. */
export function buildScope(
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
    groupIds: null,
    mayWrite: true,
    requestId: null,
    tool: null,
    origin: "",
    ifMatch: null,
    signal: null,
    remember: null,
    isRehearsal: false,
  };
}
