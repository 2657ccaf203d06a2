const originals = new WeakMap<Request, Request>();
const tools = new WeakMap<Request, string>();

/** Returns the request as Bun received it. Only this object gives access to the connection and the body. */
export function getOriginalRequest(request: Request): Request {
  return originals.get(request) ?? request;
}

/** Registers a replacement for a request, so that `getOriginalRequest` finds the original. */
export function replaceRequest(replacement: Request, request: Request): Request {
  originals.set(replacement, getOriginalRequest(request));
  return replacement;
}

/** Registers the tool of the MCP server that sends a request. */
export function sendAsTool(request: Request, tool: string): Request {
  tools.set(request, tool);
  return request;
}

/** Returns the tool that sent a request; null for a request from outside. */
export const toolOf = (request: Request): string | null => tools.get(request) ?? null;
