import { Elysia } from "elysia";
import type { Principal, Session } from "./access/session.ts";
import type { RequestServices } from "./services.ts";

/** One request on its way to its endpoint. */
export type RequestContext = {
  services: RequestServices;
  requestId: string;
  /** The client's, without the port. */
  address: string;
  /** Whose API key it is; null outside `/api/v1`. */
  principal: Principal | null;
  /** The session of the cookie; null outside `/dashboard` and for visitors without one. */
  session: Session | null;
  /** The Set-Cookie that the response will carry. */
  setCookie: string | null;
  /** Records that a write responds with. */
  resources: {
    /** The path at which GET returns the record; null where there is none. */
    find(method: string, location: string | null): string | null;
    /** GET of the path, with the credentials of this request. */
    read(path: string): Promise<Response>;
  };
};

/**
 * Types the context of a request for routes. `onRequest` sets it: Elysia derives only after it found a route, and
 * clients without a key must not learn which paths exist.
 */
export const requestContext = new Elysia({ name: "request-context" }).decorate(
  "requestContext",
  {} as RequestContext,
);

/** Routes under this path, with the context of their request. */
export const routesUnder = <const Prefix extends string>(prefix: Prefix) =>
  new Elysia({ prefix }).use(requestContext);
