import { request as plainRequest, STATUS_CODES, type IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { version } from "../../assets.ts";
import { portOf } from "../../monitors/rules.ts";
import { lookupOf } from "../addresses.ts";
import { type CheckContext, CheckFailure, type CheckKind, since } from "../check.ts";
import { expiryOf } from "../certificates.ts";
import { wantedOf } from "./http-body.ts";

const maxRedirects = 5;
type Settings = Parameters<CheckKind<"http">>[0];

/** What is asked of one address on the way; RFC 9110 §15.4 says how a redirect changes it. */
type Ask = { url: URL; method: string; body: string | null; headers: Record<string, string> };

/** Up when the last answer has an expected status and a body that fulfils all assertions. */
export const checkHttp: CheckKind<"http"> = async (settings, context) => {
  const startedAt = performance.now();
  const wanted = wantedOf(settings);
  let ask = firstAsk(settings);
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(ask, settings, context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, certificateEnd(answer));
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (settings.followRedirects && isRedirect(status) && location !== undefined) {
      answer.destroy();
      if (redirects === maxRedirects)
        throw new CheckFailure(`Redirected more than ${maxRedirects} times.`);
      ask = nextAsk(ask, status, location);
      continue;
    }
    const named = `HTTP ${status}${STATUS_CODES[status] ? ` (${STATUS_CODES[status]})` : ""}`;
    if (!settings.expectedStatus.some((range) => contains(range, status))) {
      answer.destroy();
      throw new CheckFailure(`${named}, expected ${settings.expectedStatus.join(" or ")}.`);
    }
    context.step = "reading the answer";
    const flaw = await wanted.flawOf(answer);
    if (flaw !== null) throw new CheckFailure(`${named}, but ${flaw}.`);
    const latencyMs = since(startedAt);
    const expiry = expiryOf(expiresAt, settings.certificateExpiryDays, context.now());
    return {
      status: expiry === null ? "up" : "degraded",
      message: expiry ?? `${named} in ${latencyMs} ms, first byte after ${firstByteMs} ms.`,
      latencyMs,
      ...(expiresAt !== undefined && { certificateExpiresAt: expiresAt }),
    };
  }
};

function firstAsk(settings: Settings): Ask {
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
  if (bearerToken !== null) authorize(`Bearer ${bearerToken}`);
  return { url: new URL(settings.url), method: settings.method, body: settings.body, headers };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Another origin gets neither the monitor's headers nor its body: they may hold credentials. */
function nextAsk({ url, method, body, headers }: Ask, status: number, location: string): Ask {
  const next = URL.parse(location, url);
  if (next === null || (next.protocol !== "http:" && next.protocol !== "https:"))
    throw new CheckFailure("Redirected to something that is not an http or https address.");
  const stays = next.origin === url.origin;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  if (!stays && body !== null && !becomesGet)
    throw new CheckFailure("Redirected to another origin, which is not given the request's body.");
  return {
    url: next,
    method: becomesGet ? "GET" : method,
    body: becomesGet ? null : body,
    headers: stays ? headers : {},
  };
}

async function send(
  { url, method, body, headers }: Ask,
  { verifyTls }: Settings,
  context: CheckContext,
): Promise<IncomingMessage> {
  const port = portOf(url);
  context.step = "resolving the name";
  const addresses = await context.addressesOf(url.hostname, port);
  context.step = "connecting";
  const secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (secure ? secureRequest : plainRequest)({
    host,
    port,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      Host: url.host,
      "User-Agent": `Signalbox/${version}`,
      Accept: "*/*",
      "Accept-Encoding": "gzip, deflate, br",
      ...headers,
    },
    agent: false,
    lookup: lookupOf(addresses),
    maxHeaderSize: 64 * 1024,
    ...(secure && { rejectUnauthorized: verifyTls, ...(isIP(host) === 0 && { servername: host }) }),
  });
  request.on("response", resolve);
  request.on("upgrade", (answer, socket) => {
    socket.destroy();
    resolve(answer);
  });
  request.on("error", reject);
  request.on("finish", () => (context.step = "waiting for the answer"));
  context.signal.addEventListener("abort", () => request.destroy());
  request.end(body ?? undefined);
  return promise;
}

function certificateEnd({ socket }: IncomingMessage): string | undefined {
  const end = (socket as TLSSocket).getPeerCertificate?.()?.valid_to;
  return end === undefined ? undefined : new Date(end).toISOString();
}

function earliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

function contains(range: string, status: number): boolean {
  const [from, to = from] = range.split("-");
  return Number(from) <= status && status <= Number(to);
}
