const originals = new WeakMap<Request, Request>();
/** The tool of the MCP server that sends a request, and the ID of the request to the tool. */
type ToolCall = { tool: string; requestId: string };
const toolCalls = new WeakMap<Request, ToolCall>();

/** Returns the request as Bun received it. Only this object gives access to the connection and the body. */
export function getOriginalRequest(request: Request): Request {
  return originals.get(request) ?? request;
}

/** Registers a replacement for a request, so that `getOriginalRequest` finds the original. */
export function replaceRequest(replacement: Request, request: Request): Request {
  originals.set(replacement, getOriginalRequest(request));
  return replacement;
}

/** Registers the tool that sends a request. */
export function sendAsTool(request: Request, call: ToolCall): Request {
  toolCalls.set(request, call);
  return request;
}

/** Returns the tool that sent a request; null for a request from outside. */
export const findToolCall = (request: Request): ToolCall | null => toolCalls.get(request) ?? null;
