/** Client addresses and schemes behind trusted reverse proxies. */
import { isIP, isIPv4 } from "node:net";
import { addressIn } from "../../core/security/client-network.ts";
import type { Log } from "../../core/log.ts";
import { blockListOf, familyOf, isLoopback, parseRange } from "../../core/security/target-guard.ts";
import { isHost } from "./host-guard.ts";
import { originalRequest, replaceRequest } from "../original-request.ts";

/** What nginx calls a client that came over a socket of its own machine. */
const unixSocket = "unix:";

/** What `--trust-proxy` takes: a range, or `unix:` for proxies that others reach over a socket. */
export type TrustedProxy = readonly [string, number] | typeof unixSocket;

/** A range, an address or `unix:`; null when it is none, and for a range of all addresses. */
export function parseTrustedProxy(text: string): TrustedProxy | null {
  if (text === unixSocket) return unixSocket;
  const range = parseRange(text);
  if (range !== null) return range[1] === 0 ? null : range;
  const address = isIP(text) === 0 ? null : addressIn(text);
  return address === null ? null : [address, isIPv4(address) ? 32 : 128];
}

/** Who sent a request and what they asked for, also where proxies have passed it on. */
export type Proxies = {
  /** The client's address, without the port. */
  addressOf: (request: Request) => string;
  /** The request under the scheme and the host that the client asked for. */
  asSent: (request: Request) => Request;
};

/**
 * Believes `X-Forwarded-For`, `-Proto` and `-Host` of requests that a trusted proxy sends itself, and of each
 * list what trusted proxies have added: a client may have written whatever stands to the left of that.
 * `Forwarded` (RFC 7239) is not read: most proxies write the others, and pass on the one that a client wrote.
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

  /** The client, and how many entries were added to each list after the one that tells of it. */
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

/** What stands in a list, the last one first; a header that was sent twice is one list (RFC 9110 §5.3). */
function entriesOf(list: string | null): string[] {
  const entries = (list ?? "").split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").toReversed();
}
