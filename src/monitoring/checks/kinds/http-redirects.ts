import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseLocation } from "../../../core/outgoing/http/head.ts";
import type { HttpRequest } from "../../../core/outgoing/http/request.ts";

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Whether a header describes the body. A redirect that drops the body drops it, too (RFC 9110 §15.4). */
const isAboutBody = (name: string) => /^(content-.*|digest|last-modified)$/i.test(name);

/**
 * Builds the request that follows a redirect (RFC 9110 §15.4). Other origins receive only GET and HEAD, without a body
 * and without the monitor's headers, which can contain credentials.
 */
export function buildRedirectedRequest(
  before: HttpRequest,
  status: number,
  location: string,
): HttpRequest {
  const { url, method, body, headers } = before;
  const next = parseLocation(location, url);
  if (next === null || (next.protocol !== "http:" && next.protocol !== "https:"))
    throw new TargetFailure("Redirected to something that is not an http or https address.");
  const isSameOrigin = next.origin === url.origin;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  if (!isSameOrigin && !becomesGet && body !== null)
    throw new TargetFailure(
      "Redirected to another origin, to which the request's body is not sent.",
    );
  if (!isSameOrigin && !becomesGet && method !== "GET" && method !== "HEAD")
    throw new TargetFailure(
      "Redirected to another origin, to which only GET and HEAD requests are sent.",
    );
  const fields = Object.entries(headers).filter(
    ([name]) => !becomesGet || (method === "GET" && body === null) || !isAboutBody(name),
  );
  return {
    ...before,
    url: next,
    method: becomesGet ? "GET" : method,
    body: becomesGet ? null : body,
    headers: isSameOrigin ? Object.fromEntries(fields) : {},
  };
}
