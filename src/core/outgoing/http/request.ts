/** Sends an HTTP/1.1 request over a direct or a proxied connection. */
import { version } from "../../assets.ts";
import { portOf } from "../../security/target-guard.ts";
import { dial, http1, type Tls } from "../connection.ts";
import type { OutgoingContext } from "../context.ts";
import { TargetFailure } from "../failures.ts";
import { assertTrusted } from "./wire.ts";
import { readHttpResponse } from "./response.ts";
import {
  connectToProxy,
  buildProxyAuthorization,
  type Proxy,
  refusedCredentialsError,
  openTunnel,
} from "../proxy.ts";

export type HttpRequest = {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | null;
  /** Whether an untrusted certificate is a failure. */
  verifyTls: boolean;
  /** Whether addresses of this machine and of the LAN are rejected. */
  onlyPublic?: boolean;
  transport?: Transport;
};

/** Route of a request. Redirects can use the same route. */
export type Transport = {
  /** Restricts connections to this address family. */
  family: 4 | 6 | null;
  proxy: Proxy | null;
  /** Connects to `host` for requests to `of`. The requested name stays the same. */
  hostOverride: { of: string; host: string } | null;
  /** Client certificate and key in PEM, for this origin only. */
  client: { origin: string; certificate: string; key: string } | null;
};

const directTransport: Transport = { family: null, proxy: null, hostOverride: null, client: null };

/** Sends one request over a new connection, and does not follow redirects. Throws TargetFailure or LocalFailure. */
export async function send(request: HttpRequest, context: OutgoingContext) {
  const { url, method, body, verifyTls, onlyPublic = false, transport = directTransport } = request;
  const { family, proxy, hostOverride } = transport;
  const port = portOf(url);
  context.step = "resolving the name";
  const host = hostOverride?.of === url.hostname ? hostOverride.host : url.hostname;
  const addresses = await context.addressesOf(
    host,
    port,
    proxy === null ? { family } : { as: "behind a proxy" },
  );
  // A name that only the proxy can resolve has no addresses here, and counts as public.
  const isPublic = addresses.length === 0 || !addresses.every(({ isPrivate }) => isPrivate);
  if (onlyPublic && addresses.some(({ isPrivate }) => isPrivate))
    throw new TargetFailure("Blocked: a public address redirected to a private one.", true);
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const tls = url.protocol === "https:" ? selectTls(name, url, transport) : null;
  const isForwarded = proxy !== null && proxy.url.protocol !== "socks5:" && tls === null;
  const connection =
    proxy === null
      ? await dial(addresses, port, context, tls)
      : isForwarded
        ? await connectToProxy(proxy, family, context)
        : await openTunnel(proxy, family, { host: name, port }, tls, context);
  assertTrusted(connection.secured, verifyTls);
  context.step = "waiting for the response";
  const answering = readHttpResponse(connection, method, context.memory);
  connection.write(buildRequestHead(request, isForwarded ? proxy : null));
  if (body !== null) connection.write(body);
  const response = await answering;
  if (isForwarded && response.status === 407) throw refusedCredentialsError(proxy);
  return { response, connection, isPublic };
}

function selectTls(name: string, { origin }: URL, { client }: Transport): Tls {
  const offered = { name, protocol: http1 };
  if (client?.origin !== origin) return offered;
  return { ...offered, certificate: client.certificate, key: client.key };
}

/**
 * Converts a value to one character per byte, as UTF-8 if it is not Latin-1. Truncated code points could otherwise
 * become other bytes, such as a line break.
 */
function toLatin1(value: string): string {
  return /[^\0-\xff]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

/**
 * Builds the head of a request (RFC 9112 §3), for the target or a proxy. Schemas reject line breaks and framing
 * headers.
 */
export function buildRequestHead(
  { url, method, headers, body }: Pick<HttpRequest, "url" | "method" | "headers" | "body">,
  proxy: Proxy | null = null,
): Uint8Array {
  const fields = new Map<string, [name: string, value: string]>([
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
  const credentials = proxy && buildProxyAuthorization(proxy);
  if (credentials !== null) fields.set("proxy-authorization", ["Proxy-Authorization", credentials]);
  const origin = proxy === null ? "" : url.origin;
  return encodeHead(`${method} ${origin}${formatTarget(url)} HTTP/1.1`, fields.values());
}

/** Path and query of a URL. `search` leaves out an empty query, whose `?` browsers send. */
export function formatTarget({ href, pathname, search }: URL): string {
  const isEmptyQuery = search === "" && /^[^?#]*\?/.test(href);
  return `${pathname}${isEmptyQuery ? "?" : search}`;
}

/** Serializes the head of a request. */
export function encodeHead(
  start: string,
  fields: Iterable<readonly [name: string, value: string]>,
): Uint8Array {
  const lines = Array.from(fields, ([name, value]) => `${name}: ${toLatin1(value)}`);
  return Buffer.from(`${[start, ...lines].join("\r\n")}\r\n\r\n`, "latin1");
}
