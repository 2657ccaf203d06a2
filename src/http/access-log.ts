import type { Log } from "../core/log.ts";
import { pathOf } from "./request.ts";

/** Routes consist of such words and of ids. Any other segment can be a token. */
const shown =
  /^(?:[a-z][a-z-]{0,30}(?:\.[a-z]{1,5})?|v\d|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A path without segments that can be secret, such as `/push/*`. */
function loggedPath(path: string): string {
  return path
    .split("/", 20)
    .map((segment) => (segment === "" || shown.test(segment) ? segment : "*"))
    .join("/");
}

/** Writes down each request once its response has begun; nothing of its query, headers or body. */
export function accessLog(log: Log, addressOf: (request: Request) => string) {
  return (request: Request, response: Response, startedAt: number) =>
    log.debug?.("request", {
      method: request.method,
      path: loggedPath(pathOf(request)),
      status: response.status,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      requestId: response.headers.get("x-request-id"),
      address: addressOf(request),
    });
}
