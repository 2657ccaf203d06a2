import { STATUS_CODES } from "node:http";
import { version } from "../../assets.ts";
import { portOf } from "../../monitors/rules.ts";
import { expiryOf } from "../certificates.ts";
import { type CheckContext, CheckFailure, type CheckKind, since } from "../check.ts";
import { type Connection, dial } from "../connection.ts";
import { type HttpAnswer, readAnswer } from "../http-answer.ts";
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
    const { answer, connection } = await send(ask, settings, context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status } = answer;
    const location = answer.headers.get("location");
    if (settings.followRedirects && isRedirect(status) && location !== undefined) {
      connection.close();
      if (redirects === maxRedirects)
        throw new CheckFailure(`Redirected more than ${maxRedirects} times.`);
      ask = nextAsk(ask, status, location);
      continue;
    }
    const named = `HTTP ${status}${STATUS_CODES[status] ? ` (${STATUS_CODES[status]})` : ""}`;
    if (!settings.expectedStatus.some((range) => contains(range, status)))
      throw new CheckFailure(`${named}, expected ${settings.expectedStatus.join(" or ")}.`);
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
  // As UTF-8: a character beyond Latin-1 must not turn into another byte, such as a line break.
  if (bearerToken !== null) authorize(`Bearer ${Buffer.from(bearerToken).toString("latin1")}`);
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
): Promise<{ answer: HttpAnswer; connection: Connection }> {
  const port = portOf(url);
  context.step = "resolving the name";
  const addresses = await context.addressesOf(url.hostname, port);
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const tls = url.protocol === "https:" ? { name } : null;
  const connection = await dial(addresses, port, context, tls);
  const flaw = connection.secured?.flaw ?? null;
  if (verifyTls && flaw !== null) throw new CheckFailure(flaw);
  context.step = "waiting for the answer";
  const answer = readAnswer(connection, method);
  connection.write(headOf(url, method, headers, body));
  if (body !== null) connection.write(body);
  return { answer: await answer, connection };
}

/** The request up to its body (RFC 9112 §3); the schema keeps line breaks and framing out of the headers. */
function headOf(
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | null,
): Uint8Array {
  const fields = new Map([
    ["host", ["Host", url.host]],
    ["user-agent", ["User-Agent", `Signalbox/${version}`]],
    ["accept", ["Accept", "*/*"]],
    ["accept-encoding", ["Accept-Encoding", "gzip, deflate, br"]],
  ]);
  for (const [name, value] of Object.entries(headers))
    fields.set(name.toLowerCase(), [name, value]);
  if (body !== null || ["POST", "PUT", "PATCH"].includes(method))
    fields.set("content-length", ["Content-Length", String(Buffer.byteLength(body ?? ""))]);
  fields.set("connection", ["Connection", "close"]);
  const lines = [...fields.values()].map(([name, value]) => `${name}: ${value}`);
  const start = `${method} ${url.pathname}${url.search} HTTP/1.1`;
  return Buffer.from(`${[start, ...lines].join("\r\n")}\r\n\r\n`, "latin1");
}

function earliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

function contains(range: string, status: number): boolean {
  const [from, to = from] = range.split("-");
  return Number(from) <= status && status <= Number(to);
}
