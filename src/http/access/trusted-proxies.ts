/** Client addresses and schemes behind trusted reverse proxies. */
import { isIP, isIPv4 } from "node:net";
import { addressIn } from "../../core/security/client-network.ts";
import type { Log } from "../../core/log.ts";
import { blockListOf, familyOf, isLoopback, parseRange } from "../../core/security/target-guard.ts";
import { isHost } from "./host-guard.ts";
import { originalRequest, replaceRequest } from "../original-request.ts";

/** nginx's name for a client on a Unix socket. */
const unixSocket = "unix:";

/** A value of `--trust-proxy`: a range, or `unix:` for proxies on a Unix socket. */
export type TrustedProxy = readonly [string, number] | typeof unixSocket;

/** A range, an address or `unix:`; null when it is none, and for a range of all addresses. */
export function parseTrustedProxy(text: string): TrustedProxy | null {
  if (text === unixSocket) return unixSocket;
  const range = parseRange(text);
  if (range !== null) return range[1] === 0 ? null : range;
  const address = isIP(text) === 0 ? null : addressIn(text);
  return address === null ? null : [address, isIPv4(address) ? 32 : 128];
}

/** The client of a request, and the requested URL, also behind proxies. */
export type Proxies = {
  /** The client's address, without the port. */
  addressOf: (request: Request) => string;
  /** The request with the scheme and host that the client used. */
  asSent: (request: Request) => Request;
};

/**
 * Uses `X-Forwarded-For`, `-Proto` and `-Host` of requests from a trusted proxy. Of each list it uses only the
 * entries that trusted proxies added: a client can have written those to the left. `Forwarded` (RFC 7239) is
 * ignored: most proxies write the other headers, and forward the client's `Forwarded`.
 */
export function trustedProxies(
  trusted: readonly TrustedProxy[],
  /** The address at the other end of the connection. */
  peerOf: (request: Request) => string,
  log: Pick<Log, "warn">,
): Proxies {
  const ranges = blockListOf(trusted.filter((one) => one !== unixSocket));
  const isTrusted = (address: string) =>
    trusted.length > 0 && address !== "" && ranges.check(address, familyOf(address));
  const telling = ["x-forwarded-for"];
  if (trusted.length > 0) telling.push("x-forwarded-proto", "x-forwarded-host");
  let hasHinted = false;

  /** The client, and how many entries each list has after the client's. */
  function clientOf({ headers }: Request, peer: string) {
    let address = peer;
    let depth = 0;
    for (const [index, entry] of entriesOf(headers.get("x-forwarded-for")).entries()) {
      const found = addressIn(entry);
      if (found === null && !(entry === unixSocket && trusted.includes(unixSocket))) break;
      address = found ?? address;
      depth = index;
      if (!isTrusted(address)) break;
    }
    return { address, depth };
  }

  function hint(peer: string) {
    if (hasHinted || !isLoopback(peer)) return;
    hasHinted = true;
    log.warn(`requests come through a proxy: start with --trust-proxy ${peer}`);
  }

  return {
    addressOf(request) {
      const peer = peerOf(originalRequest(request));
      return isTrusted(peer) ? clientOf(request, peer).address : peer;
    },
    asSent(request) {
      if (trusted.length === 0 && hasHinted) return request;
      const { headers, url } = request;
      const pathStart = url.indexOf("/", 8);
      if (pathStart === -1 || !telling.some((name) => headers.has(name))) return request;
      const peer = peerOf(originalRequest(request));
      if (!isTrusted(peer)) {
        hint(peer);
        return request;
      }
      const { depth } = clientOf(request, peer);
      const added = (name: string) => {
        const entries = entriesOf(headers.get(name));
        return entries[Math.min(depth, entries.length - 1)] ?? "";
      };
      const reached = { scheme: url.slice(0, url.indexOf(":")), host: headers.get("host") ?? "" };
      const proto = added("x-forwarded-proto").toLowerCase();
      const scheme = ["http", "https"].includes(proto) ? proto : reached.scheme;
      const named = [added("x-forwarded-host"), reached.host].find(isOneHost) ?? "";
      // Browsers leave it out, and so does the Origin that they send.
      const host = named.replace(scheme === "https" ? /:(443)?$/ : /:(80)?$/, "");
      if (host === "" || (scheme === reached.scheme && host === reached.host)) return request;
      const sent = new Request(`${scheme}://${host}${url.slice(pathStart)}`, request);
      sent.headers.set("host", host);
      return replaceRequest(sent, request);
    },
  };
}

function isOneHost(text: string): boolean {
  return isHost(text) && URL.canParse(`http://${text}`);
}

/** Entries of a list, last first. Repeated headers are one list (RFC 9110 §5.3). */
function entriesOf(list: string | null): string[] {
  const entries = (list ?? "").split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").toReversed();
}
