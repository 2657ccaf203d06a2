/** Determines client addresses and requested URLs behind trusted reverse proxies. */
import { isIP, isIPv4 } from "node:net";
import { normalizeAddress } from "../../core/security/client-network.ts";
import type { Log } from "../../core/log.ts";
import {
  createBlockList,
  familyOf,
  isLoopback,
  parseRange,
} from "../../core/security/target-guard.ts";
import { isHost } from "./host-guard.ts";
import { getOriginalRequest, replaceRequest } from "../original-request.ts";

/** nginx's name for a client on a Unix socket. */
const unixSocket = "unix:";

/** A value of `--trust-proxy`: a range, or `unix:` for proxies on a Unix socket. */
export type TrustedProxy = readonly [string, number] | typeof unixSocket;

/** Parses a range, an address or `unix:`; null for other texts, and for a range of all addresses. */
export function parseTrustedProxy(text: string): TrustedProxy | null {
  if (text === unixSocket) return unixSocket;
  const range = parseRange(text);
  if (range !== null) return range[1] === 0 ? null : range;
  const address = isIP(text) === 0 ? null : normalizeAddress(text);
  return address === null ? null : [address, isIPv4(address) ? 32 : 128];
}

/** Headers with the client's address and the URL that it requested. */
const forwardingHeaders = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"];

/** Functions for requests that can have passed a proxy. */
export type Proxies = {
  /** Whether the address of the socket belongs to a trusted proxy. */
  isFromTrusted: (request: Request) => boolean;
  /** Returns the client's address, without the port. */
  addressOf: (request: Request) => string;
  /** Returns the request with the scheme and host that the client used. */
  restoreSentRequest: (request: Request) => Request;
};

/**
 * Evaluates `X-Forwarded-For`, `-Proto` and `-Host` from trusted proxies. Uses only entries that such proxies have
 * added, because the client can forge all entries to their left. Ignores `Forwarded` (RFC 7239), which most proxies
 * pass through unverified.
 */
export function createTrustedProxies(
  trusted: readonly TrustedProxy[],
  /** Returns the address of the connection's peer. */
  peerOf: (request: Request) => string,
  log: Pick<Log, "warn">,
): Proxies {
  const ranges = createBlockList(trusted.filter((one) => one !== unixSocket));
  const isTrusted = (address: string) =>
    trusted.length > 0 && address !== "" && ranges.check(address, familyOf(address));
  let hasHinted = false;

  /** Returns the client's address, and the number of list entries after the client's entry. */
  function identifyClient({ headers }: Request, peer: string) {
    let address = peer;
    let depth = 0;
    for (const [index, entry] of listEntries(headers.get("x-forwarded-for")).entries()) {
      const found = normalizeAddress(entry);
      if (found === null && !(entry === unixSocket && trusted.includes(unixSocket))) break;
      address = found ?? address;
      depth = index;
      if (!isTrusted(address)) break;
    }
    return { address, depth };
  }

  function logProxyHint(peer: string) {
    if (hasHinted || !isLoopback(peer)) return;
    hasHinted = true;
    log.warn(`requests come through a proxy: start with --trust-proxy ${peer}`);
  }

  return {
    isFromTrusted: (request) => isTrusted(peerOf(getOriginalRequest(request))),
    addressOf(request) {
      const peer = peerOf(getOriginalRequest(request));
      return isTrusted(peer) ? identifyClient(request, peer).address : peer;
    },
    restoreSentRequest(request) {
      const { headers, url } = request;
      if (trusted.length === 0 && (hasHinted || !headers.has("x-forwarded-for"))) return request;
      const pathStart = url.indexOf("/", 8);
      if (pathStart === -1 || !forwardingHeaders.some((name) => headers.has(name))) return request;
      const peer = peerOf(getOriginalRequest(request));
      if (!isTrusted(peer)) {
        logProxyHint(peer);
        return request;
      }
      const { depth } = identifyClient(request, peer);
      const readAddedEntry = (name: string) => {
        const entries = listEntries(headers.get(name));
        return entries[Math.min(depth, entries.length - 1)] ?? "";
      };
      const reached = { scheme: url.slice(0, url.indexOf(":")), host: headers.get("host") ?? "" };
      const proto = readAddedEntry("x-forwarded-proto").toLowerCase();
      const scheme = ["http", "https"].includes(proto) ? proto : reached.scheme;
      const namedHost = [readAddedEntry("x-forwarded-host"), reached.host].find(isOneHost) ?? "";
      // Removes the default port, as browsers do, also in their Origin header.
      const host = namedHost.replace(scheme === "https" ? /:(443)?$/ : /:(80)?$/, "");
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

/** Returns the entries of a list, last first. Repeated headers form one list (RFC 9110 §5.3). */
function listEntries(list: string | null): string[] {
  const entries = (list ?? "").split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").toReversed();
}
