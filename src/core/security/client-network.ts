/** Networks of clients, by which limits without an account count. */
import { isIP, isIPv4 } from "node:net";

/**
 * Whom a limit by address counts as one client: an IPv4 address, also where IPv6 carries it
 * (`::ffff:`), and an IPv6 /64, the least that one subscriber has (RFC 6177).
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const groups = groupsOf(address.replace(/%.*$/, ""));
  if (groups === null) return address;
  return (
    mappedIn(groups) ??
    groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(":")
  );
}

/** The network of a client for limits that one customer of a provider must not exceed: an IPv4 /24 or an IPv6 /64. */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address);
  return isIPv4(network) ? network.slice(0, network.lastIndexOf(".")) : network;
}

/**
 * Normalizes an address from a proxy's header: without brackets, port and zone, and as IPv4 if it is mapped
 * (`::ffff:`). Null if it is no address.
 */
export function addressIn(text: string): string | null {
  const [, inBrackets, beforePort] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = (inBrackets ?? beforePort ?? text).replace(/%.*$/, "").toLowerCase();
  if (isIPv4(address)) return address;
  const groups = groupsOf(address);
  return groups && (mappedIn(groups) ?? address);
}

/** The IPv4 address that these groups carry (RFC 4291 §2.5.5.2). */
function mappedIn([a, b, c, d, e, mark, high, low]: Groups): string | null {
  return (a | b | c | d | e) === 0 && mark === 0xffff ? dotted(high, low) : null;
}

/** An IPv4 address from its two halves. */
export function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

type Groups = [number, number, number, number, number, number, number, number];

/** The eight numbers of an IPv6 address; null where it is none. */
export function groupsOf(address: string): Groups | null {
  if (isIP(address) !== 6) return null;
  const [head = [], tail = []] = address
    .split("::")
    .map((part) => part.split(":").flatMap(numbers));
  const zeros = Array<number>(8 - head.length - tail.length).fill(0);
  return [...head, ...zeros, ...tail] as Groups;
}

function numbers(group: string): number[] {
  if (group === "") return [];
  if (!group.includes(".")) return [Number.parseInt(group, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}
