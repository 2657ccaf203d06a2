const originals = new WeakMap<Request, Request>();

/** Returns the request as Bun received it. Only this object gives access to the connection and the body. */
export function getOriginalRequest(request: Request): Request {
  return originals.get(request) ?? request;
}

/** Registers a replacement for a request, so that `getOriginalRequest` finds the original. */
export function replaceRequest(replacement: Request, request: Request): Request {
  originals.set(replacement, getOriginalRequest(request));
  return replacement;
}
