/** The request context of use cases outside of organizations, such as signing in. */
import type { RequestContext } from "./request-context.ts";
import type { RequestServices } from "./services.ts";
import { buildSessionCookie, type Session } from "./access/session.ts";
import { buildSetCookie, type Cookie, listCookieNames, readCookie } from "./cookies.ts";
import { originOf } from "./request.ts";

export type VisitorContext = Omit<RequestServices, "keys" | "responses" | "extendTimeout"> &
  Pick<
    RequestContext,
    "requestId" | "address" | "session" | "headerAccount" | "replacedSessionId"
  > & {
    /** Origin under which the visitor reached this appliance, without a trailing slash. */
    origin: string;
    userAgent: string;
    /** Sets the session cookie with this token and lifetime in seconds. */
    setSessionCookie(token: string, seconds: number): void;
    /** Removes the session cookie from the browser. */
    clearSessionCookie(): void;
    /** Cookies of the visitor, apart from the session. */
    cookies: {
      /** Returns the value of a cookie; null if it is missing. */
      read(name: string): string | null;
      /** Returns the names that start with `prefix`. */
      list(prefix: string): string[];
      set(cookie: Cookie): void;
    };
  };

/** Context of a signed-in person. */
export type SignedInContext = VisitorContext & { session: Session };

export function buildVisitorContext(
  requestContext: RequestContext,
  request: Request,
): VisitorContext {
  const { services, requestId, address, session, headerAccount, replacedSessionId } =
    requestContext;
  return {
    ...services,
    origin: originOf(request),
    requestId,
    address,
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, 300),
    session,
    headerAccount,
    replacedSessionId,
    setSessionCookie: (token, seconds) =>
      void requestContext.setCookies.push(buildSessionCookie(request, token, seconds)),
    clearSessionCookie: () =>
      void requestContext.setCookies.push(buildSessionCookie(request, null, 0)),
    cookies: {
      read: (name) => readCookie(request, name),
      list: (prefix) => listCookieNames(request, prefix),
      set: (cookie) => void requestContext.setCookies.push(buildSetCookie(request, cookie)),
    },
  };
}

export function readIfMatch({ method, headers }: Request): string | null {
  return method === "POST" ? null : headers.get("if-match");
}
