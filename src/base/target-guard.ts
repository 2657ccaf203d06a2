import { BlockList, isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { invalid } from "./validation.ts";

/** Decides which addresses this appliance may connect to, for checks and alerts alike. */
export type TargetGuard = {
  /** Why this address must not be connected to, as the end of a sentence; null when it may be. */
  flawOf(address: string, port: number | null): string | null;
};

/** An address and port of ours that answers requests; `0.0.0.0` and `::` stand for every address of this machine. */
export type Listener = { host: string; port: number };

/** A place that a record names, and the field that does. */
export type Place = { path: string; host: string; port: number | null };

/**
 * What stands in a record by number is judged when it is saved; what a name stands for, each time it
 * is connected to. Throws VALIDATION_ERROR naming the field.
 */
export function mustBeAllowed(targets: TargetGuard, places: readonly Place[]) {
  for (const { path, host, port } of places) {
    const address = host.replace(/^\[|\]$/g, "");
    const flaw = isIP(address) === 0 ? null : targets.flawOf(address, port);
    if (flaw !== null)
      throw invalid(path, `must not be connected to: this address ${flaw} (see --allow-target)`);
  }
}

export function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** RFC 3927 and 4291 (link-local), 5771 (multicast), 1122 (this network), 919 (broadcast). */
const ranges: readonly [string, number, string][] = [
  ["169.254.0.0", 16, "a link-local address, where cloud machines keep their credentials"],
  ["fe80::", 10, "a link-local address"],
  ["0.0.0.0", 8, "no address of a host"],
  ["::", 128, "no address of a host"],
  ["224.0.0.0", 4, "a multicast address"],
  ["ff00::", 8, "a multicast address"],
  ["255.255.255.255", 32, "the broadcast address"],
];

/** Metadata services outside the link-local range: AWS, Azure, Alibaba, Oracle. */
const metadata = ["fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"];

const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

function blockListOf(subnets: readonly (readonly [string, number, ...unknown[]])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, familyOf(network));
  return list;
}

const blocked = ranges.map((range) => ({ list: blockListOf([range]), what: range[2] }));
blocked.push({
  list: blockListOf(metadata.map((address) => [address, isIPv4(address) ? 32 : 128])),
  what: "the metadata service of a cloud",
});
const loopback = blockListOf([
  ["127.0.0.0", 8],
  ["::1", 128],
]);

export function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return loopback.check(plain, familyOf(plain));
}

/** A CIDR range as [network, prefix length]; null when it is none. */
export function parseRange(text: string): [string, number] | null {
  const [network = "", prefix = "", ...more] = text.split("/");
  const bits = isIP(network) === 4 ? 32 : 128;
  if (isIP(network) === 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return null;
  // What hides IPv4, or an interface, is judged in its plain form: such a range would open nothing.
  if (more.length > 0 || (bits === 128 && isIPv4(plainAddress(network))) || network.includes("%"))
    return null;
  return [network, Number(prefix)];
}

/**
 * LAN and loopback are what an appliance is for; link-local, metadata, multicast and unspecified
 * addresses and its own listeners are refused unless they lie in an allowed range.
 */
export function targetGuard(
  listeners: () => readonly Listener[],
  allowed: readonly (readonly [string, number])[] = [],
): TargetGuard {
  const opened = blockListOf(allowed);
  return {
    flawOf(given, port) {
      const address = plainAddress(given);
      const family = familyOf(address);
      if (opened.check(address, family)) return null;
      const found = blocked.find(({ list }) => list.check(address, family));
      if (found !== undefined) return `is ${found.what}`;
      if (port !== null && listeners().some((listener) => reaches(listener, address, port)))
        return "is this appliance itself";
      return null;
    },
  };
}

function reaches({ host, port }: Listener, address: string, wanted: number): boolean {
  if (port !== wanted) return false;
  // A name may stand for any of this machine's addresses.
  const isOne = isIP(host) !== 0 && host !== "0.0.0.0" && host !== "::";
  if (isOne) return plainAddress(host) === address;
  if (isLoopback(address)) return true;
  const ours = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return ours.some((own) => own.address === address);
}

/**
 * IPv4 that hides in IPv6 is judged as IPv4: mapped and compatible (RFC 4291 §2.5.5), translated
 * (RFC 2765), NAT64 (RFC 6052, 8215) and 6to4 (RFC 3056).
 */
function plainAddress(address: string): string {
  const host = address.replace(/^\[|\]$/g, "");
  if (isIPv4(host)) return host;
  // URL writes IPv6 in its one canonical form.
  const canonical = URL.parse(`http://[${host}]/`)?.hostname.slice(1, -1) ?? host;
  const [, high = "0", low = "0"] =
    /^::ffff:(?:0:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ??
    /^(?:64:ff9b(?::1)?)?::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(canonical) ??
    /^2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/.exec(canonical) ??
    [];
  const number = Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16);
  // `::` and `::1` are addresses of IPv6 itself.
  if (number <= 1) return canonical;
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
}
