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
  /** Whose cookie it is; null outside `/dashboard`, and there for whoever has none. */
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
 * Gives routes the context of their request. `onRequest` fills it in, for Elysia derives only once it has
 * found a route: who has no key must not learn which paths there are.
 */
export const requestContext = new Elysia({ name: "request-context" }).decorate(
  "requestContext",
  {} as RequestContext,
);

/** Routes under this path, with the context of their request. */
export const routesUnder = <const Prefix extends string>(prefix: Prefix) =>
  new Elysia({ prefix }).use(requestContext);
