const originals = new WeakMap<Request, Request>();

/** The request as Bun received it: Bun knows a connection, and has the body, by that one alone. */
export function originalRequest(request: Request): Request {
  return originals.get(request) ?? request;
}

/** Handles `replacement` instead of a request. */
export function replaceRequest(replacement: Request, request: Request): Request {
  originals.set(replacement, originalRequest(request));
  return replacement;
}
