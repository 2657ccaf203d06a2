/** Compares values of DNS records by type: names without case, addresses in any notation, text exactly. */
import { isIP } from "node:net";
import { parseIpv6Groups } from "../../../core/security/client-network.ts";
import { toAsciiName } from "../../../core/security/destinations.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";

type RecordType = MonitorSettings<"dns">["recordType"];

/** Converts a value to its canonical form, so that equal values compare as equal. */
export function normalizeValue(type: RecordType, value: string): string {
  switch (type) {
    case "A":
    case "AAAA":
      return normalizeAddress(value);
    case "CNAME":
    case "NS":
    case "PTR":
      return toAsciiName(value.trim());
    case "SOA":
      return normalizeStartOfAuthority(value);
    case "MX":
    case "SRV":
      return normalizeNameRecord(value);
    case "CAA":
      return normalizeCaa(value);
    case "DNSKEY":
      return normalizeKey(value);
    case "TXT":
      return value;
  }
}

/** Returns the expected values that a record satisfies. The name of a server is enough, without its numbers. */
export function listValues(type: RecordType, record: string): string[] {
  const value = normalizeValue(type, record);
  if (type === "SOA") return [value, value.split(" ")[0] ?? ""];
  return type === "MX" || type === "SRV"
    ? [value, value.slice(value.lastIndexOf(" ") + 1)]
    : [value];
}

/** Normalizes an IPv6 address (RFC 5952). An address with a zone stays unchanged and matches no record. */
function normalizeAddress(value: string): string {
  const text = value.trim();
  if (isIP(text) !== 6) return text;
  return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) ?? text;
}

/** Normalizes the numbers and the name of an MX or SRV record. */
function normalizeNameRecord(value: string): string {
  const parts = value.trim().split(/\s+/);
  const name = toAsciiName(parts.at(-1) ?? "");
  return [...parts.slice(0, -1).map((part) => part.replace(/^0+(?=\d)/, "")), name].join(" ");
}

/** Normalizes the two names and the numbers of an SOA record (RFC 1035 §3.3.13). */
function normalizeStartOfAuthority(value: string): string {
  const [server = "", ...others] = value.trim().split(/\s+/);
  const [mailbox, ...numbers] = others;
  return [
    toAsciiName(server),
    ...(mailbox === undefined ? [] : [toAsciiName(mailbox)]),
    ...numbers,
  ].join(" ");
}

/** Normalizes a DNSKEY record, whose key can contain spaces (RFC 4034 §2.2). */
function normalizeKey(value: string): string {
  const [keyFlags = "", protocol = "", algorithm = "", ...key] = value.trim().split(/\s+/);
  return `${keyFlags} ${protocol} ${algorithm} ${key.join("")}`;
}

/** Normalizes a CAA record: flags, lower-case tag, quoted value (RFC 8659 §4.1). */
function normalizeCaa(value: string): string {
  const [, flags = "", tag = "", rest = value] =
    /^\s*(\d+)\s+([A-Za-z0-9]+)\s+(.*?)\s*$/s.exec(value) ?? [];
  return `${Number(flags)} ${tag.toLowerCase()} ${rest.startsWith('"') ? rest : JSON.stringify(rest)}`;
}

/**
 * Whether a text is one of the records. A long record consists of several strings (RFC 7208 §3.3), which Bun returns
 * as separate records: the text can span several of them.
 */
export function hasText(strings: readonly string[], wanted: string): boolean {
  return strings.some((_, start) => {
    let at = 0;
    for (let index = start; index < strings.length; index++) {
      const next = strings[index] ?? "";
      if (!wanted.startsWith(next, at)) return false;
      at += next.length;
      if (at === wanted.length) return true;
    }
    return false;
  });
}

/** Name of the PTR records of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function buildReverseName(address: string): string {
  const groups = isIP(address) === 6 ? parseIpv6Groups(address) : null;
  if (groups === null) return `${address.split(".").toReversed().join(".")}.in-addr.arpa`;
  const digits = groups.map((group) => group.toString(16).padStart(4, "0")).join("");
  return `${Array.from(digits).toReversed().join(".")}.ip6.arpa`;
}
