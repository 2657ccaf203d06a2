import { Elysia } from "elysia";
import type { Principal, Session } from "./access/session.ts";
import type { HeaderAccount } from "./access/trusted-header.ts";
import type { RequestServices } from "./services.ts";

/** Data of a request that all endpoints need. */
export type RequestContext = {
  services: RequestServices;
  requestId: string;
  /** Address of the client, without the port. */
  address: string;
  /** Organization and API key of the request; null outside `/api/v1`. */
  principal: Principal | null;
  /** Tool of the MCP server that sent the request; null for all other requests. */
  tool: string | null;
  /** Session from the cookie; null outside `/dashboard`, and for visitors without a session. */
  session: Session | null;
  /** Person whom a trusted proxy has signed in; null outside `/dashboard`, and without its header. */
  headerAccount: HeaderAccount | null;
  /** ID of a session that the header of a trusted proxy has replaced. It ends with the next sign-in. */
  replacedSessionId: string | null;
  /** Set-Cookie headers of the response. */
  setCookies: string[];
  /** Finds the session or the API key as they are now. Throws UNAUTHORIZED. */
  authenticateAgain(): Promise<void>;
  /** Access to the records that a write returns. */
  resources: {
    /** Returns the path at which GET returns the record; null if there is none. */
    find(method: string, location: string | null): string | null;
    /** Reads a path with the credentials of this request. */
    read(path: string): Promise<Response>;
  };
};

/**
 * Adds the type of the request context to routes. `onRequest` sets the value, because Elysia derives values only
 * after routing. Clients without a key must not detect which paths exist.
 */
export const requestContext = new Elysia({ name: "request-context" }).decorate(
  "requestContext",
  {} as RequestContext,
);

/** Creates routes under a path, with the request context. */
export const createRouter = <const Prefix extends string>(prefix: Prefix) =>
  new Elysia({ prefix }).use(requestContext);
