/** Groups client addresses into networks, for limits without an account. */
import { isIP, isIPv4 } from "node:net";

/**
 * Returns the network that counts as one client in rate limits: an IPv4 address or an IPv6 /64. A /64 is the smallest
 * network of one subscriber (RFC 6177). Mapped IPv4 (`::ffff:`) counts as IPv4.
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const groups = parseIpv6Groups(address.replace(/%.*$/, ""));
  if (groups === null) return address;
  return (
    extractMappedIpv4(groups) ??
    groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(":")
  );
}

/** Returns an IPv4 /24 or an IPv6 /64, for limits across several addresses of one provider's customer. */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address);
  return isIPv4(network) ? network.slice(0, network.lastIndexOf(".")) : network;
}

/**
 * Normalizes an address from a proxy's header; null if it is invalid. Removes brackets, port and zone, and converts
 * mapped IPv4 (`::ffff:`).
 */
export function normalizeAddress(text: string): string | null {
  const [, inBrackets, beforePort] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = (inBrackets ?? beforePort ?? text).replace(/%.*$/, "").toLowerCase();
  if (isIPv4(address)) return address;
  const groups = parseIpv6Groups(address);
  return groups && (extractMappedIpv4(groups) ?? address);
}

/** Returns the IPv4 address that is mapped into IPv6 (RFC 4291 §2.5.5.2); null for any other address. */
function extractMappedIpv4([a, b, c, d, e, mark, high, low]: Groups): string | null {
  return (a | b | c | d | e) === 0 && mark === 0xffff ? formatIpv4(high, low) : null;
}

/** Formats an IPv4 address from its two 16-bit halves. */
export function formatIpv4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

type Groups = [number, number, number, number, number, number, number, number];

/** Parses an IPv6 address into its eight groups; null for other texts. */
export function parseIpv6Groups(address: string): Groups | null {
  if (isIP(address) !== 6) return null;
  const [head = [], tail = []] = address
    .split("::")
    .map((part) => part.split(":").flatMap(parseGroup));
  const zeros = Array<number>(8 - head.length - tail.length).fill(0);
  return [...head, ...zeros, ...tail] as Groups;
}

function parseGroup(group: string): number[] {
  if (group === "") return [];
  if (!group.includes(".")) return [Number.parseInt(group, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}
