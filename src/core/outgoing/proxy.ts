/** Connects through an HTTP, HTTPS or SOCKS5 proxy. */
import { isIPv4, isIPv6 } from "node:net";
import { version } from "../assets.ts";
import { parseIpv6Groups } from "../security/client-network.ts";
import { portOf } from "../security/target-guard.ts";
import { type Connection, dial, type Tls, http1 } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";
import { BlockedTarget, TargetFailure } from "./failures.ts";
import { InvalidHttp, formatStatus, readHead } from "./http/head.ts";
import { classifyFailure } from "./failure-reasons.ts";
import { assertTrusted, type Wire, createWire } from "./http/wire.ts";
import { secureAgain } from "./nested-tls.ts";

/** A proxy whose URL has the scheme `http:`, `https:` or `socks5:`, with its credentials. */
export type Proxy = { url: URL; username: string | null; password: string | null };

type Target = { host: string; port: number };

/** Maximum bytes that are read from a proxy before it has connected to the target. */
const maxBytes = 16 * 1024;

/**
 * Connects to the proxy itself, whose address must be allowed like any target. The certificate of an HTTPS proxy is
 * always verified. Throws TargetFailure or LocalFailure.
 */
export async function connectToProxy(
  { url }: Proxy,
  family: 4 | 6 | null,
  context: OutgoingContext,
): Promise<Connection> {
  const port = portOf(url);
  const tls =
    url.protocol === "https:"
      ? { name: url.hostname.replace(/^\[|\]$/g, ""), protocol: http1 }
      : null;
  try {
    const addresses = await context.addressesOf(url.hostname, port, { family, as: "proxy" });
    const connecting = dial(addresses, port, context, tls);
    context.step = "connecting to the proxy";
    const connection = await connecting;
    assertTrusted(connection.secured, true);
    // Callers read the certificate of the target here.
    connection.secured = null;
    return connection;
  } catch (error) {
    throw blameProxy(error, "The proxy can't be reached");
  }
}

/** Connects to the target through the proxy, with TLS if `tls` is set. Throws TargetFailure or LocalFailure. */
export async function openTunnel(
  proxy: Proxy,
  family: 4 | 6 | null,
  target: Target,
  tls: Tls | null,
  context: OutgoingContext,
): Promise<Connection> {
  const connection = await connectToProxy(proxy, family, context);
  context.step = "waiting for the proxy";
  const open = proxy.url.protocol === "socks5:" ? openBySocks : openByHttp;
  let refusal: TargetFailure | null;
  try {
    refusal = await open(createWire(connection, context, maxBytes), proxy, target);
  } catch (error) {
    throw blameProxy(error, "The proxy sent an invalid response");
  }
  if (refusal !== null) throw refusal;
  if (tls === null) return connection;
  context.step = "starting TLS";
  return proxy.url.protocol === "https:"
    ? secureAgain(connection, tls, context)
    : connection.secure(tls);
}

/** Attributes an error to the proxy instead of the target. */
function blameProxy(error: unknown, summary: string): unknown {
  const reason = classifyFailure(error);
  if (!(reason instanceof TargetFailure) || reason instanceof BlockedTarget) return error;
  const { message } = reason;
  return new TargetFailure(`${summary}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`);
}

/** Value of the Proxy-Authorization header (RFC 7617), in UTF-8. */
export function buildProxyAuthorization({ username, password }: Proxy): string | null {
  if (username === null) return null;
  return `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
}

export const refusedCredentialsError = ({ username }: Proxy) =>
  new TargetFailure(
    username === null
      ? "The proxy requires a user name and password."
      : "The proxy rejected the user name or the password.",
  );

/** Opens a tunnel with CONNECT (RFC 9110 §9.3.6). Returns the failure, or null. */
async function openByHttp(wire: Wire, proxy: Proxy, { host, port }: Target) {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = buildProxyAuthorization(proxy);
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    `User-Agent: Signalbox/${version}`,
    ...(credentials === null ? [] : [`Proxy-Authorization: ${credentials}`]),
  ];
  wire.write(`${lines.join("\r\n")}\r\n\r\n`);
  const status = await readStatus(wire);
  if (status === null) return new TargetFailure("The proxy does not speak HTTP.");
  // RFC 9110 defines 407 for missing and for wrong credentials. tinyproxy sends 401 for a wrong password.
  if (status === 407 || status === 401) return refusedCredentialsError(proxy);
  if (status < 200 || status > 299)
    return new TargetFailure(`The proxy did not connect to the target: ${formatStatus(status)}.`);
  return null;
}

/** Reads the final status of an HTTP response; null if the proxy speaks another protocol. */
async function readStatus(wire: Wire): Promise<number | null> {
  try {
    return (await readHead(wire)).status;
  } catch (error) {
    if (error instanceof InvalidHttp) return null;
    throw error;
  }
}

const socks = { version: 5, connect: 1, noSignIn: 0, password: 2, noMethod: 0xff };
const addressType = { ipv4: 1, name: 3, ipv6: 4 };

/** Messages for the reply codes of SOCKS5 (RFC 1928 §6). */
const socksFailures: Readonly<Record<number, string>> = {
  1: "The proxy had an internal failure.",
  2: "The proxy's rules do not allow the connection.",
  3: "The proxy has no route to the target's network.",
  4: "The proxy can't reach the target.",
  5: "The target refused the connection of the proxy.",
  6: "The proxy's packets did not reach the target.",
  7: "The proxy does not support such connections.",
  8: "The proxy does not accept this kind of address.",
};

const notSocksError = () => new TargetFailure("The proxy does not speak SOCKS5.");

/** Opens a tunnel with SOCKS5 (RFC 1928), with the password of RFC 1929. The proxy resolves host names. */
async function openBySocks(wire: Wire, proxy: Proxy, { host, port }: Target) {
  const { username, password } = proxy;
  const methods = username === null ? [socks.noSignIn] : [socks.noSignIn, socks.password];
  wire.write(Buffer.from([socks.version, methods.length, ...methods]));
  const [chosenIn, method = socks.noMethod] = await wire.read(2);
  if (chosenIn !== socks.version) return notSocksError();
  if (method === socks.noMethod) return refusedCredentialsError(proxy);
  if (!methods.includes(method)) return notSocksError();
  if (method === socks.password) {
    wire.write(
      Buffer.concat([
        Buffer.from([1]),
        encodeLengthPrefixed(username ?? ""),
        encodeLengthPrefixed(password ?? ""),
      ]),
    );
    const [, status] = await wire.read(2);
    if (status !== 0) return refusedCredentialsError(proxy);
  }
  const request = [socks.version, socks.connect, 0, ...encodeAddress(host), port >> 8, port & 0xff];
  wire.write(Buffer.from(request));
  const [repliedIn, reply = 0, , type] = await wire.read(4);
  if (repliedIn !== socks.version) return notSocksError();
  if (reply !== 0)
    return new TargetFailure(socksFailures[reply] ?? `The proxy answered with reply ${reply}.`);
  const [length = 0] = type === addressType.name ? await wire.read(1) : [];
  if (type === addressType.ipv4) await wire.read(4 + 2);
  else if (type === addressType.ipv6) await wire.read(16 + 2);
  else if (type === addressType.name) await wire.read(length + 2);
  else return notSocksError();
  return null;
}

/** Prefixes a text of at most 255 bytes with its length in bytes. */
function encodeLengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function encodeAddress(host: string): number[] {
  if (isIPv4(host)) return [addressType.ipv4, ...host.split(".").map(Number)];
  const groups = isIPv6(host) ? parseIpv6Groups(host) : null;
  if (groups !== null)
    return [addressType.ipv6, ...groups.flatMap((group) => [group >> 8, group & 0xff])];
  return [addressType.name, ...encodeLengthPrefixed(host.replace(/\.$/, ""))];
}
