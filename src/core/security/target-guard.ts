/** Decides which addresses and programs checks and alerts can reach. */
import { BlockList, isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { formatIpv4, parseIpv6Groups } from "./client-network.ts";
import { parseHostName } from "./destinations.ts";
import { createInterner } from "../collections/interner.ts";
import { invalidFieldError } from "../validation.ts";

/** Rules about the addresses that checks and alerts can connect to. */
export type TargetGuard = {
  /** Returns why an address is blocked, as the end of a sentence; null if it is allowed. */
  findIssue(address: string, port: number | null): string | null;
  /** Returns why a name is blocked before it is resolved; null if it is not. */
  validateName(name: string): string | null;
  /** Folder of the programs that checks can run; null if programs are not allowed. */
  commandFolder: string | null;
  /** Returns why checks can't run programs, as the end of a sentence; null if they can. */
  findCommandIssue(): string | null;
  /** Reads changes by other requests and processes. Must be awaited before a judgment. */
  refresh(): Promise<void>;
};

/** An address and port of the appliance. A name, `0.0.0.0` and `::` represent every address of the machine. */
export type Listener = {
  host: string;
  port: number;
  /** Addresses of the machine, if it is another node. */
  addresses?: readonly string[];
};

/** Reason for blocking the appliance's listeners. */
export const ownListenerIssue = "is this appliance itself";

/** A destination in a record, with the path of its field. */
export type RecordTarget = { path: string; host: string; port: number | null };

/** A CIDR range: network and prefix length. */
type Range = readonly [string, number];

/** A value of `--deny-target`: a range, a name, or `*.name` for all names below it. */
type Denied = { range: Range } | { name: string };

type GuardOptions = {
  allowed?: readonly Range[];
  /** Denied targets. They override `allowed`. */
  denied?: readonly Denied[];
  /** Folder of the programs that checks can run. */
  commandFolder?: string | undefined;
  /** Whether several organizations share this machine. Its loopback is then blocked for all of them. */
  sharing?: { isShared(): boolean; refresh(): Promise<void> };
};

export const deniedIssue = "is denied by --deny-target";
const commandsDisabledIssue = "is not allowed: it needs serve --allow-commands DIR";
const sharedCommandsIssue = "is not allowed where several organizations share this machine";
/** Reason for blocking the loopback of a shared machine. It is not a failure of the target. */
export const sharedLoopbackIssue = "is this machine itself, which several organizations share";

/**
 * Validates the destinations of a record when it is saved. Names are resolved and judged on each connection. Skips
 * unchanged destinations, so that a record with a blocked one can still be paused or renamed. Throws VALIDATION_ERROR
 * with the field.
 */
export async function assertTargetsAllowed(
  targets: TargetGuard,
  targetFields: readonly RecordTarget[],
  before: readonly RecordTarget[] = [],
) {
  if (targetFields.length > 0) await targets.refresh();
  for (const { path, host, port } of targetFields) {
    if (before.some((one) => one.path === path && one.host === host && one.port === port)) continue;
    const address = host.replace(/^\[|\]$/g, "");
    const isName = isIP(address) === 0;
    const issue = isName ? targets.validateName(host) : targets.findIssue(address, port);
    if (issue === null) continue;
    const noun = isName ? "name" : "address";
    const see = issue === deniedIssue ? "" : " (see --allow-target)";
    throw invalidFieldError(path, `must not be connected to: this ${noun} ${issue}${see}`);
  }
}

const defaultPorts: Readonly<Record<string, number>> = {
  "https:": 443,
  "wss:": 443,
  "socks5:": 1080,
};

/** Returns the target of a URL as a list; empty if there is none. */
export function listUrlTargets(path: string, text: string | null | undefined): RecordTarget[] {
  const url = URL.parse(text ?? "");
  return url === null ? [] : [{ path, host: url.hostname, port: portOf(url) }];
}

export function portOf(url: URL): number {
  return url.port === "" ? (defaultPorts[url.protocol] ?? 80) : Number(url.port);
}

/** Blocked ranges: link-local (RFC 3927 and 4291), multicast (5771), this network (1122), broadcast (919). */
const ranges: readonly [string, number, string][] = [
  ["169.254.0.0", 16, "a link-local address, where cloud machines keep their credentials"],
  ["fe80::", 10, "a link-local address"],
  ["0.0.0.0", 8, "no address of a host"],
  ["::", 128, "no address of a host"],
  ["224.0.0.0", 4, "a multicast address"],
  ["ff00::", 8, "a multicast address"],
  ["255.255.255.255", 32, "the broadcast address"],
];

/** Addresses of metadata services outside the link-local range: AWS, Azure, Alibaba, Oracle. */
const metadata = ["fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"];

/**
 * Ranges without a route on the internet: RFC 1918, 4193, 6598 (carrier NAT), 2544, and 5737 and 3849
 * (documentation).
 */
const privateRanges: readonly Range[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["240.0.0.0", 4],
  ["fc00::", 7],
  ["fec0::", 10],
  ["2001:db8::", 32],
  ["100::", 64],
];

export const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

export function createBlockList(subnets: readonly (readonly [string, number, ...unknown[]])[]) {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, familyOf(network));
  return list;
}

/** Whether the list contains an address in any of its forms, such as an embedded IPv4 address. */
function isInList(list: BlockList, forms: readonly string[]): boolean {
  return forms.some((form) => list.check(form, familyOf(form)));
}

const blockedRanges = ranges.map((range) => ({ list: createBlockList([range]), what: range[2] }));
blockedRanges.push({
  list: createBlockList(metadata.map((address) => [address, isIPv4(address) ? 32 : 128])),
  what: "the metadata service of a cloud",
});
const loopback = createBlockList([
  ["127.0.0.0", 8],
  ["::1", 128],
]);
const unroutable = createBlockList([...ranges, ...privateRanges]);

export function isLoopback(address: string): boolean {
  return isInList(loopback, listForms(address));
}

/** Classifies an address. Cached, because most checks connect to the same address as before. */
function classifyAddress(address: string) {
  return internClassification(address, () => {
    const forms = listForms(address);
    const isOfLoopback = isInList(loopback, forms);
    return {
      forms,
      isOfLoopback,
      isPrivate: isOfLoopback || isInList(unroutable, forms),
      blockedAs: blockedRanges.find(({ list }) => isInList(list, forms))?.what ?? null,
    };
  });
}
const internClassification = createInterner();

/** Whether an address belongs to this machine or to a range without a public route. */
export const isPrivate = (address: string): boolean => classifyAddress(address).isPrivate;

/** Parses a CIDR range into network and prefix length; null if it is invalid. */
export function parseRange(text: string): [string, number] | null {
  const [network = "", prefix = "", ...more] = text.split("/");
  const bits = isIP(network) === 4 ? 32 : 128;
  if (isIP(network) === 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return null;
  // Rejects ranges with embedded IPv4 or an interface. Addresses are judged in their plain form, so such a range
  // would never match.
  if (more.length > 0 || (bits === 128 && isIPv4(listForms(network)[0] ?? ""))) return null;
  return network.includes("%") ? null : [network, Number(prefix)];
}

/** Parses a value of `--deny-target`: a range, an address, a name or `*.name`; null if invalid. */
export function parseDenied(text: string): Denied | null {
  const range = parseRange(text);
  if (range !== null) return { range };
  if (isIP(text) !== 0) {
    const [address = text] = listForms(text);
    return { range: [address, isIPv4(address) ? 32 : 128] };
  }
  const wildcard = text.startsWith("*.") ? "*." : "";
  const name = parseHostName(text.slice(wildcard.length));
  return name === null ? null : { name: wildcard + name };
}

/**
 * Creates the guard. LAN and loopback are allowed by default. Blocks link-local, metadata, multicast and unspecified
 * addresses and the listeners of all nodes, unless they are in an allowed range. Also blocks loopback if
 * organizations share the machine.
 */
export function createTargetGuard(
  listeners: () => readonly Listener[],
  { allowed = [], denied = [], commandFolder, sharing }: GuardOptions = {},
): TargetGuard {
  const allowedList = createBlockList(allowed);
  const deniedList = createBlockList(
    denied.flatMap((each) => ("range" in each ? [each.range] : [])),
  );
  const names = denied.flatMap((each) => ("name" in each ? [each.name] : []));
  const rules = createInterner();
  const findRule = (address: string, forms: readonly string[]) =>
    rules(address, () => {
      if (isInList(deniedList, forms)) return "denied";
      return forms.every((form) => allowedList.check(form, familyOf(form))) ? "allowed" : null;
    });
  return {
    findIssue(address, port) {
      const { forms, isOfLoopback, blockedAs } = classifyAddress(address);
      const rule = findRule(address, forms);
      if (rule !== null) return rule === "denied" ? deniedIssue : null;
      if (blockedAs !== null) return `is ${blockedAs}`;
      if (port !== null && listeners().some((listener) => reachesListener(listener, forms, port)))
        return ownListenerIssue;
      if (sharing?.isShared() === true && isOfLoopback) return sharedLoopbackIssue;
      return null;
    },
    validateName(nameToCheck) {
      const name = parseHostName(nameToCheck) ?? nameToCheck.toLowerCase();
      const isDenied = names.some((each) =>
        each.startsWith("*.") ? name.endsWith(each.slice(1)) : name === each,
      );
      return isDenied ? deniedIssue : null;
    },
    commandFolder: commandFolder ?? null,
    findCommandIssue() {
      if (commandFolder === undefined) return commandsDisabledIssue;
      return sharing?.isShared() === true ? sharedCommandsIssue : null;
    },
    refresh: async () => sharing?.refresh(),
  };
}

/** Listeners of this machine, as it announces them to other nodes. */
export const describeListeners = (listeners: readonly Listener[]): Listener[] =>
  listeners.map((listener) =>
    isOneAddress(listener.host) ? listener : { ...listener, addresses: listOwnAddresses() },
  );

const listOwnAddresses = () =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

const isOneAddress = (host: string) => isIP(host) !== 0 && host !== "0.0.0.0" && host !== "::";

function reachesListener(
  { host, port, addresses }: Listener,
  forms: readonly string[],
  wanted: number,
): boolean {
  if (port !== wanted) return false;
  if (isOneAddress(host)) return listForms(host).some((form) => forms.includes(form));
  if (isInList(loopback, forms)) return true;
  const all = addresses ?? listOwnAddresses();
  return all.some((own) => listForms(own).some((form) => forms.includes(form)));
}

/**
 * Returns the forms in which an address is judged. IPv6 with embedded IPv4 is judged as IPv4: mapped and compatible
 * (RFC 4291 §2.5.5), translated (RFC 2765), NAT64 (RFC 6052), 6to4 (RFC 3056), ISATAP (RFC 5214). Ambiguous addresses
 * are judged as IPv6, and as every IPv4 address that they can embed.
 */
function listForms(address: string): string[] {
  const host = address.replace(/^\[|\]$/g, "").replace(/%.*/, "");
  if (isIPv4(host)) return [host];
  const groups = parseIpv6Groups(host);
  if (groups === null) return [host];
  const uncompressed = groups.map((group) => group.toString(16)).join(":");
  const [a, b, c, d, e, f, g, h] = groups;
  const last = formatIpv4(g, h);
  const lead = [a, b, c, d].every((group) => group === 0);
  // `::` and `::1` don't embed IPv4.
  if (lead && e === 0 && f === 0) return g === 0 && h <= 1 ? [uncompressed] : [last];
  if (lead && ((e === 0 && f === 0xffff) || (e === 0xffff && f === 0))) return [last];
  if (a === 0x64 && b === 0xff9b && [c, d, e, f].every((group) => group === 0)) return [last];
  if (a === 0x2002) return [formatIpv4(b, c)];
  // A local-use NAT64 network has any prefix length (RFC 8215). RFC 6052 §2.2 defines these positions.
  if (a === 0x64 && b === 0xff9b && c === 1)
    return dropZeroPadded(uncompressed, [
      formatIpv4(d, ((e & 0xff) << 8) | (f >> 8)),
      formatIpv4(((d & 0xff) << 8) | (e & 0xff), f),
      formatIpv4(((e & 0xff) << 8) | (f >> 8), ((f & 0xff) << 8) | (g >> 8)),
      last,
    ]);
  // Teredo embeds its server, and its client with inverted bits (RFC 4380 §4).
  if (a === 0x2001 && b === 0)
    return dropZeroPadded(uncompressed, [formatIpv4(c, d), formatIpv4(~g & 0xffff, ~h & 0xffff)]);
  if ((e & 0xfdff) === 0 && f === 0x5efe) return dropZeroPadded(uncompressed, [last]);
  return [uncompressed];
}

/** Adds embedded candidates to an address. Excludes those from padding zeros, which can't be hosts. */
function dropZeroPadded(address: string, candidates: readonly string[]): string[] {
  return [address, ...candidates.filter((candidate) => !candidate.startsWith("0."))];
}
