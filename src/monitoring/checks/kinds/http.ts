import { randomToken } from "../../../core/ids.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { named } from "../../../core/outgoing/http-answer.ts";
import { type HttpRequest, send, type Transport } from "../../../core/outgoing/http-request.ts";
import type { Proxy } from "../../../core/outgoing/proxy.ts";
import { conditionsOf, type Issue, issueOf, secretsOf } from "../assertions.ts";
import { type CheckKind, daysUntil, expiryOf, since } from "../check.ts";
import { encodedBody } from "./http-body-types.ts";
import { wantedOf } from "./http-body.ts";
import { tokenOf } from "./http-token.ts";

const maxRedirects = 5;
type Settings = Parameters<CheckKind<"http">>[0];

/** Up when the last answer fulfils all conditions. */
export const checkHttp: CheckKind<"http"> = async (settings, context) => {
  const { oauth2, verifyTls } = settings;
  const transport = transportOf(settings);
  const token = oauth2 === null ? null : tokenOf(oauth2, { verifyTls, transport }, context);
  const conditions = conditionsOf(settings);
  const secrets = () => [...secretsOf(settings), ...(token?.secrets() ?? [])];
  const wanted = wantedOf(conditions, secrets);
  let request = firstRequest(settings, transport, (await token?.get()) ?? null);
  let startedAt = performance.now();
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const { answer, connection, isPublic } = await send(request, context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status, headers } = answer;
    if (status === 401 && "Authorization" in request.headers && token?.renew() === true) {
      connection.close();
      request = firstRequest(settings, transport, await token.get());
      startedAt = performance.now();
      redirects = -1;
      continue;
    }
    const location = headers.get("location");
    if (settings.followRedirects && isRedirect(status) && location !== undefined) {
      connection.close();
      if (redirects === maxRedirects)
        throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
      const next = nextRequest(request, status, location);
      request = { ...next, onlyPublic: isPublic && settings.followToPrivate !== true };
      continue;
    }
    const mustHold = (issue: Issue | null) => {
      if (issue === null) return;
      const sentence = (words: string) => `${named(status)}, ${words}.`;
      throw new TargetFailure(sentence(issue.told), false, issue.said && sentence(issue.said));
    };
    const mustFulfil = async (known: Readonly<Record<string, (path: string) => unknown>>) => {
      for (const condition of conditions) {
        const value = known[condition.source]?.(condition.path ?? "");
        if (condition.source in known)
          mustHold(await issueOf(condition, { value }, secrets, context));
      }
    };
    // A search may wait for its turn, and what arrives meanwhile would be kept.
    const waits = conditions.some(({ source, op }) => source === "header" && op === "matches");
    if (waits) answer.pause();
    await mustFulfil({
      status: () => status,
      header: (name) => headers.get(name.toLowerCase()),
      redirectCount: () => redirects,
      certificateDays: () => daysUntil(expiresAt, context.now()),
    });
    if (waits) answer.resume();
    context.step = "reading the answer";
    const issueInBody = await wanted.reading(answer, context);
    connection.close();
    const latencyMs = since(startedAt);
    mustHold(await issueInBody());
    await mustFulfil({ latency: () => latencyMs });
    const expiry = expiryOf(expiresAt, settings.certificateExpiryDays, context.now());
    return {
      status: expiry === null ? "up" : "degraded",
      message: expiry ?? `${named(status)} in ${latencyMs} ms, first byte after ${firstByteMs} ms.`,
      latencyMs,
      ...(expiresAt !== undefined && { certificateExpiresAt: expiresAt }),
    };
  }
};

function firstRequest(
  settings: Settings,
  transport: Transport,
  accessToken: string | null,
): HttpRequest {
  const { basicAuth, bearerToken, method, verifyTls } = settings;
  const headers = { ...settings.headers };
  const set = (name: string, value: string) => {
    for (const other of Object.keys(headers))
      if (other.toLowerCase() === name.toLowerCase()) delete headers[other];
    headers[name] = value;
  };
  const { body, contentType } = encodedBody(settings);
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  // The boundary of a multipart body is in its type.
  if (contentType !== null && (!hasType || settings.bodyType === "multipart"))
    set("Content-Type", contentType);
  if (basicAuth !== null) {
    const pair = `${basicAuth.username}:${basicAuth.password ?? ""}`;
    set("Authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  }
  // As UTF-8, which is what tokens with other letters are made in.
  const bearer = accessToken ?? bearerToken;
  if (bearer !== null) set("Authorization", `Bearer ${Buffer.from(bearer).toString("latin1")}`);
  const url = new URL(settings.url);
  if (settings.cacheBuster) url.search += `${url.search === "" ? "?" : "&"}_=${randomToken(16)}`;
  return { url, method, headers, body, verifyTls, transport };
}

/** What the monitor says of its connections, for all that it asks: the client certificate stays with its own origin. */
function transportOf(settings: Settings): Transport {
  const { ipFamily, connectTo, proxyUrl, clientCertificate, clientKey } = settings;
  const { origin, hostname } = new URL(settings.url);
  return {
    family: ipFamily === "any" ? null : ipFamily === "4" ? 4 : 6,
    instead: connectTo === null ? null : { of: hostname, host: connectTo },
    proxy: proxyUrl === null ? null : proxyOf(settings, proxyUrl),
    client:
      clientCertificate === null || clientKey === null
        ? null
        : { origin, certificate: clientCertificate, key: clientKey },
  };
}

const proxyOf = ({ proxyUsername, proxyPassword }: Settings, url: string): Proxy => ({
  url: new URL(url),
  username: proxyUsername,
  password: proxyPassword,
});

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
