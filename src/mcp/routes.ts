/** The route of the MCP server: checks host, origin, key and body, and passes the message to the SDK. */
import { AppError } from "../core/errors.ts";
import { mcpBounds } from "../core/limits.ts";
import { invalidFieldError } from "../core/validation.ts";
import { authorize } from "../http/access/authentication.ts";
import { parseJson, readBody } from "../http/body.ts";
import type { Route } from "../http/openapi.ts";
import { createRouter, type RequestContext } from "../http/request-context.ts";
import { setRoute } from "../http/request-metrics.ts";
import { originOf } from "../http/request.ts";
import { createOperations, type Operations } from "./operations.ts";

export const mcpPath = "/mcp";

/** Only the oldest supported revision of the protocol allows several messages in a request. */
const maxMessages = mcpBounds.messages.value;

type Server = {
  /** Throws MISDIRECTED_REQUEST for a foreign host name. */
  assertOurHost: (request: Request) => void;
  handle: (request: Request) => Promise<Response>;
};

/** Creates the route over these routes of the REST API. `findServer` is called with each request. */
export function createMcpRoutes(restRoutes: readonly Route[], findServer: () => Server) {
  let operations: Operations | null = null;
  const serve = async (request: Request, { services, principal, requestId }: RequestContext) => {
    const { assertOurHost, handle } = findServer();
    assertOurHost(request);
    assertOwnOrigin(request);
    if (principal?.mcp !== true)
      throw new AppError(
        "FORBIDDEN",
        "This API key can't be used for MCP. Create a key with “Allow MCP”, or with --mcp.",
      );
    authorize(services, principal, "read");
    const { organizationId } = principal;
    const body = parseJson(await readBody(request, { organizationId }, true));
    if (Array.isArray(body) && body.length > maxMessages)
      throw invalidFieldError("body", `must have at most ${maxMessages} messages`);
    // The SDK is large, so it is loaded with the first request that has a valid key.
    const { serveMcpRequest } = await import("./server.ts");
    operations ??= createOperations(restRoutes);
    return serveMcpRequest(request, body, { services, principal, requestId, operations, handle });
  };
  return createRouter("").post(
    mcpPath,
    async ({ request, requestContext }) => {
      const response = await serve(request, requestContext);
      // The requests of tools replaced the route with their own.
      setRoute(request, mcpPath);
      return response;
    },
    { parse: "none" },
  );
}

/** Throws FORBIDDEN for a request of another site's page, which browsers send with its origin. */
function assertOwnOrigin(request: Request) {
  const origin = request.headers.get("origin");
  if (origin === null || origin.toLowerCase() === originOf(request).toLowerCase()) return;
  throw new AppError("FORBIDDEN", "The Origin of this request is not this appliance.");
}
