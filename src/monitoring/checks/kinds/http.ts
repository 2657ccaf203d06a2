import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { named, type HttpRequest, send } from "../../../core/outgoing/http-request.ts";
import { type CheckKind, expiryOf, since } from "../check.ts";
import { wantedOf } from "./http-body.ts";

const maxRedirects = 5;
type Settings = Parameters<CheckKind<"http">>[0];

/** Up when the last answer has an expected status and a body that fulfils all assertions. */
export const checkHttp: CheckKind<"http"> = async (settings, context) => {
  const startedAt = performance.now();
  const wanted = wantedOf(settings);
  let request = firstRequest(settings);
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const { answer, connection, isPublic } = await send(request, context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status } = answer;
    const location = answer.headers.get("location");
    if (settings.followRedirects && isRedirect(status) && location !== undefined) {
      connection.close();
      if (redirects === maxRedirects)
        throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
      const next = nextRequest(request, status, location);
      request = { ...next, onlyPublic: isPublic && settings.followToPrivate !== true };
      continue;
    }
    if (!settings.expectedStatus.some((range) => contains(range, status)))
      throw new TargetFailure(
        `${named(status)}, expected ${settings.expectedStatus.join(" or ")}.`,
      );
    context.step = "reading the answer";
    const issue = await wanted.issueOf(answer, context);
    if (issue !== null) throw new TargetFailure(`${named(status)}, but ${issue}.`);
    const latencyMs = since(startedAt);
    const expiry = expiryOf(expiresAt, settings.certificateExpiryDays, context.now());
    return {
      status: expiry === null ? "up" : "degraded",
      message: expiry ?? `${named(status)} in ${latencyMs} ms, first byte after ${firstByteMs} ms.`,
      latencyMs,
      ...(expiresAt !== undefined && { certificateExpiresAt: expiresAt }),
    };
  }
};

function firstRequest(settings: Settings): HttpRequest {
  const { basicAuth, bearerToken } = settings;
  const headers = { ...settings.headers };
  const authorize = (value: string) => {
    for (const name of Object.keys(headers))
      if (name.toLowerCase() === "authorization") delete headers[name];
    headers["Authorization"] = value;
  };
  if (basicAuth !== null) {
    const pair = `${basicAuth.username}:${basicAuth.password ?? ""}`;
    authorize(`Basic ${Buffer.from(pair).toString("base64")}`);
  }
  // As UTF-8, which is what tokens with other letters are made in.
  if (bearerToken !== null) authorize(`Bearer ${Buffer.from(bearerToken).toString("latin1")}`);
  const { method, body, verifyTls } = settings;
  return { url: new URL(settings.url), method, headers, body, verifyTls };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * What a redirect makes of a request (RFC 9110 §15.4). Another origin is only ever asked for something,
 * and without the monitor's headers, which may hold credentials.
 */
function nextRequest(before: HttpRequest, status: number, location: string): HttpRequest {
  const { url, method, body, headers } = before;
  const next = URL.parse(location, url);
  if (next === null || (next.protocol !== "http:" && next.protocol !== "https:"))
    throw new TargetFailure("Redirected to something that is not an http or https address.");
  const stays = next.origin === url.origin;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  if (!stays && !becomesGet && body !== null)
    throw new TargetFailure("Redirected to another origin, which is not given the request's body.");
  if (!stays && !becomesGet && method !== "GET" && method !== "HEAD")
    throw new TargetFailure("Redirected to another origin, which is asked by GET or HEAD alone.");
  return {
    ...before,
    url: next,
    method: becomesGet ? "GET" : method,
    body: becomesGet ? null : body,
    headers: stays ? headers : {},
  };
}

function earliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

function contains(range: string, status: number): boolean {
  const [from, to = from] = range.split("-");
  return Number(from) <= status && status <= Number(to);
}
