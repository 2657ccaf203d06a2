import type { Scope } from "../events/scope.ts";
import type { Log } from "../core/log.ts";
import type { KnownNetworks } from "./known-networks.ts";
import type { NetworkLimit, RateLimit } from "./rate-limit.ts";
import type { RequestContext } from "./request-context.ts";
import type { AttemptBackoff } from "./attempt-backoff.ts";
import { sessionCookieOf, type Session } from "./session.ts";
import { originOf } from "./request.ts";

/** What a use case runs in that belongs to no organization: who uses the admin page, from where. */
export type VisitorContext = Pick<Scope, "store" | "clock" | "vault" | "origin"> & {
  log: Log;
  attemptLimit: NetworkLimit;
  passwordLimit: RateLimit;
  attemptBackoff: AttemptBackoff;
  knownNetworks: KnownNetworks;
  requestId: string;
  /** The client's, without the port. */
  address: string;
  userAgent: string;
  /** Null for strangers. */
  session: Session | null;
  /** Makes the browser keep this token as its session for so many seconds. */
  setSessionCookie(token: string, seconds: number): void;
  /** Makes it forget the one it has. */
  clearSessionCookie(): void;
};

/** The context of somebody who has signed in. */
export type SignedInContext = VisitorContext & { session: Session };

export function visitorContextOf(requestContext: RequestContext, request: Request): VisitorContext {
  const { store, clock, vault, log, attemptLimit, passwordLimit, attemptBackoff, knownNetworks } =
    requestContext.services;
  return {
    store,
    clock,
    vault,
    log,
    attemptLimit,
    passwordLimit,
    attemptBackoff,
    knownNetworks,
    origin: originOf(request),
    requestId: requestContext.requestId,
    address: requestContext.address,
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, 300),
    session: requestContext.session,
    setSessionCookie: (token, seconds) =>
      void (requestContext.setCookie = sessionCookieOf(request, token, seconds)),
    clearSessionCookie: () => void (requestContext.setCookie = sessionCookieOf(request, null, 0)),
  };
}

export function ifMatchOf({ method, headers }: Request): string | null {
  return method === "POST" ? null : headers.get("if-match");
}
