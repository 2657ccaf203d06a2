const received = new WeakMap<Request, Request>();

/** The request as it came in: Bun knows connections by that one alone. */
export function receivedAs(request: Request): Request {
  return received.get(request) ?? request;
}

/** Lets one request be answered in the place of another. */
export function standIn(replacement: Request, request: Request): Request {
  received.set(replacement, receivedAs(request));
  return replacement;
}
