import type { Clock } from "../core/time/clock.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { Limits } from "../core/limits.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { TargetGuard } from "../core/security/target-guard.ts";
import type { Statement, Store } from "../database/store.ts";

export type Actor = {
  type: "api-key" | "person" | "command-line" | "monitor" | "visitor";
  /** Null where the actor has no record, such as whoever sits at the command line. */
  id: string | null;
  name: string;
};

/** Whoever sits at the command line. */
export const commandLine: Actor = { type: "command-line", id: null, name: "command line" };

/** What a use case runs in: whose data, on whose behalf, through which store, at what time. */
export type Scope = {
  store: Store;
  clock: Clock;
  vault: Vault;
  /** Which addresses may be checked and alerted. */
  targets: TargetGuard;
  ownHosts: OwnHosts;
  /** How much the organization may have. */
  limits: Limits;
  organizationId: string;
  actor: Actor;
  /** Whether the caller may change the organization's data; who may not is shown nothing that lets them. */
  mayWrite: boolean;
  requestId: string | null;
  /** Address of this appliance as the caller reached it, without a trailing slash. */
  origin: string;
  /** The caller's If-Match; null when the write is unconditional. */
  ifMatch: string | null;
  /** Aborted once the caller has gone; null where that can't be told. */
  signal: AbortSignal | null;
  /** Keeps the answer under the caller's Idempotency-Key; null when there is none. */
  remember: ((answer: object) => Statement[]) | null;
};

/** What the use cases of all organizations share. */
export type ScopeServices = Pick<
  Scope,
  "store" | "clock" | "vault" | "targets" | "ownHosts" | "limits"
>;

/** What a use case of the organization runs in that no request asks for. */
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
