import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseLocation } from "../../../core/outgoing/http/head.ts";
import { send } from "../../../core/outgoing/http/request.ts";
import type { CheckContext } from "../check.ts";

const maxRedirects = 5;

/**
 * Sends a GET request and follows redirects, but not from a public address to a private one. Throws TargetFailure,
 * LocalFailure.
 */
export async function requestWithRedirects(start: URL, accept: string, context: CheckContext) {
  const headers = { Accept: accept, "Accept-Encoding": "identity" };
  let url = start;
  let onlyPublic = false;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const request = { url, method: "GET", headers, body: null, verifyTls: true, onlyPublic };
    const { response, connection, isPublic } = await send(request, context);
    onlyPublic ||= isPublic;
    const { status } = response;
    const next = status >= 300 && status < 400 ? response.headers.get("location") : undefined;
    if (next === undefined) return { response, connection };
    connection.close();
    const to = parseLocation(next, url);
    if (to === null || !/^https?:$/.test(to.protocol))
      throw new TargetFailure("Redirected to something that is not an http or https address.");
    url = to;
  }
  throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
}
