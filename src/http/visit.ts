import type { Scope } from "../events/scope.ts";
import type { Log } from "../core/log.ts";
import type { Call } from "./call.ts";
import type { KnownNetworks } from "./known-networks.ts";
import type { NetworkLimit, RateLimit } from "./rate-limit.ts";
import type { SlowDown } from "./slow-down.ts";
import { cookieOf, type Session } from "./session.ts";

/** What a use case runs in that belongs to no organization: who visits the admin page, from where. */
export type Visit = Pick<Scope, "store" | "clock" | "vault" | "origin"> & {
  log: Log;
  guessLimit: NetworkLimit;
  passwordLimit: RateLimit;
  slowDown: SlowDown;
  knownNetworks: KnownNetworks;
  requestId: string;
  /** The client's, without the port. */
  address: string;
  userAgent: string;
  /** Null for strangers. */
  session: Session | null;
  /** Makes the browser keep this token as its session for so many seconds. */
  keep(token: string, seconds: number): void;
  /** Makes it forget the one it has. */
  forget(): void;
};

/** The visit of somebody who has signed in. */
export type PersonVisit = Visit & { session: Session };

export function visitOf(call: Call, request: Request): Visit {
  const { store, clock, vault, log, guessLimit, passwordLimit, slowDown, knownNetworks } =
    call.appliance;
  return {
    store,
    clock,
    vault,
    log,
    guessLimit,
    passwordLimit,
    slowDown,
    knownNetworks,
    origin: originOf(request),
    requestId: call.requestId,
    address: call.address,
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, 300),
    session: call.session,
    keep: (token, seconds) => void (call.cookie = cookieOf(request, token, seconds)),
    forget: () => void (call.cookie = cookieOf(request, null, 0)),
  };
}

/** Address of this appliance as the client reached it, without a trailing slash. */
export function originOf({ url, headers }: Request): string {
  return `${url.slice(0, url.indexOf(":"))}://${headers.get("host")}`;
}

export function ifMatchOf({ method, headers }: Request): string | null {
  return method === "POST" ? null : headers.get("if-match");
}
