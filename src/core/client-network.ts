import { isIPv4 } from "node:net";

/**
 * Whom a limit by address counts as one client: an IPv4 address, also where IPv6 carries it
 * (`::ffff:`), and an IPv6 /64, the least that one subscriber has (RFC 6177).
 */
export function networkOf(address: string): string {
  const embedded = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1];
  if (embedded !== undefined) return embedded;
  if (isIPv4(address) || !address.includes(":")) return address;
  const groups = groupsOf(address.replace(/%.*$/, ""));
  const [mark, high, low] = groups.slice(5);
  const isMapped = mark === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped && high !== undefined && low !== undefined)
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":").map((group) => Number.parseInt(group, 16))));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0);
  return [...head, ...zeros, ...tail];
}
