import type { Log } from "../core/log.ts";
import { pathOf } from "./request.ts";

/** Matches segments that are words of a route or IDs. Any other segment can be a token. */
const loggedSegmentPattern =
  /^(?:[a-z][a-z-]{0,30}(?:\.[a-z]{1,5})?|v\d|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Starts of paths whose next segment is a token, which can look like an ID. */
const tokenPathPattern = /^(\/(?:(?:api\/)?push|ping|in|a|calendars|api\/v\d\/checks)\/)[^/]+/;

/** Replaces path segments that can be secret, as in `/push/*`. */
function redactPath(path: string): string {
  return path
    .replace(tokenPathPattern, "$1*")
    .split("/", 20)
    .map((segment) => (segment === "" || loggedSegmentPattern.test(segment) ? segment : "*"))
    .join("/");
}

/** Logs each request when its response starts, without its query, headers and body. */
export function createAccessLog(log: Log, addressOf: (request: Request) => string) {
  return (request: Request, response: Response, startedAt: number) =>
    log.debug?.("request", {
      method: request.method,
      path: redactPath(pathOf(request)),
      status: response.status,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      requestId: response.headers.get("x-request-id"),
      address: addressOf(request),
    });
}
