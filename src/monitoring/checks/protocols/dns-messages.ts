/** Writes DNS queries and reads responses (RFC 1035 §4), with values in the notation of zone files. */
import { randomInt } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";

export type RecordType = MonitorSettings<"dns">["recordType"];

const typeCodes: Readonly<Record<RecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNSKEY: 48,
  CAA: 257,
};
const optCode = 41;
const internetClass = 1;
const flags = {
  response: 0x8000,
  truncated: 0x0200,
  recursion: 0x0100,
  authentic: 0x20,
  unchecked: 0x10,
};

/** UDP payload size that avoids fragmentation: https://www.dnsflagday.net/2020/ */
const maxDatagram = 1232;
const headBytes = 12;
/** Bytes of the longest name, which has 255 (RFC 1035 §2.3.4), and of a pointer after each of its labels. */
const maxNameBytes = 255 + 127 * 2;

type DnsRecord = { value: string; /** Seconds. */ ttl: number };
export type DnsResponse = {
  rcode: number;
  isTruncated: boolean;
  /** Whether the resolver has verified the DNSSEC signatures (AD bit, RFC 4035 §3.2.3). */
  isAuthentic: boolean;
  records: DnsRecord[];
};

export const invalidDnsError = () => new TargetFailure("The response is not valid for DNS.");

/**
 * Builds a query that asks for the AD bit (RFC 6840 §5.7). `isUnchecked` asks for data that failed validation (CD bit).
 * The ID is random, or 0 for DoH, whose responses can be cached (RFC 8484 §4.1).
 */
export function buildQuery(
  name: string,
  type: RecordType,
  { isUnchecked = false, hasId = true } = {},
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(hasId ? randomInt(0x10000) : 0, 0);
  head.writeUInt16BE(flags.recursion | flags.authentic | (isUnchecked ? flags.unchecked : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(1, 10);
  const question = Buffer.alloc(4);
  question.writeUInt16BE(typeCodes[type], 0);
  question.writeUInt16BE(internetClass, 2);
  // The OPT record (RFC 6891): root name, type, payload size, flags, no data.
  const opt = Buffer.alloc(11);
  opt.writeUInt16BE(optCode, 1);
  opt.writeUInt16BE(maxDatagram, 3);
  return Buffer.concat([head, encodeName(name), question, opt]);
}

function encodeName(name: string): Buffer {
  const labels = name
    .replace(/\.$/, "")
    .split(".")
    .filter(Boolean)
    .map((label) => Buffer.from(label));
  if (labels.some(({ length }) => length > 63))
    throw new TargetFailure("This is not a valid DNS name.");
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.of(0),
  ]);
}

/** Whether the message is a response to this query, by its ID and its question. */
export function isResponseTo(message: Buffer, query: Buffer): boolean {
  const end = query.length - 11;
  return (
    message.length >= headBytes &&
    (message.readUInt16BE(2) & flags.response) !== 0 &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    // Error responses can lack the question.
    (message.readUInt16BE(4) === 0 ||
      message.toString("latin1", headBytes, end).toLowerCase() ===
        query.toString("latin1", headBytes, end).toLowerCase())
  );
}

/** Reads the records of one type. Throws TargetFailure for an invalid message. */
export function parseResponse(message: Buffer, type: RecordType): DnsResponse {
  try {
    const bits = message.readUInt16BE(2);
    const records: DnsRecord[] = [];
    let at = headBytes;
    for (
      let remainingQuestions = message.readUInt16BE(4);
      remainingQuestions > 0;
      remainingQuestions--
    )
      at = readName(message, at).next + 4;
    for (let remainingRecords = message.readUInt16BE(6); remainingRecords > 0; remainingRecords--) {
      at = readName(message, at).next;
      const code = message.readUInt16BE(at);
      const ttl = message.readUInt32BE(at + 4);
      const start = at + 10;
      at = start + message.readUInt16BE(at + 8);
      if (at > message.length) throw invalidDnsError();
      if (code === typeCodes[type])
        records.push({ value: formatData(message, start, at, type), ttl });
    }
    return {
      rcode: bits & 0xf,
      isTruncated: (bits & flags.truncated) !== 0,
      isAuthentic: (bits & flags.authentic) !== 0,
      records,
    };
  } catch (error) {
    // Reading past the end of the message.
    throw error instanceof RangeError ? invalidDnsError() : error;
  }
}

/**
 * Reads a name with compression (RFC 1035 §4.1.4). Pointers must lead backwards, so that they can't form a loop. Labels
 * and pointers are bounded, because thousands of records can share one name.
 */
function readName(message: Buffer, from: number): { name: string; next: number } {
  const labels: string[] = [];
  let next: number | null = null;
  let at = from;
  let lowest = from;
  for (let remainingBytes = maxNameBytes; remainingBytes > 0;) {
    const length = message.readUInt8(at);
    if (length >= 0xc0) {
      const target = message.readUInt16BE(at) & 0x3fff;
      if (target >= lowest) throw invalidDnsError();
      next ??= at + 2;
      at = lowest = target;
      remainingBytes -= 2;
    } else if (length > 63) throw invalidDnsError();
    else if (length === 0) return { name: labels.join(".") || ".", next: next ?? at + 1 };
    else {
      if (at + 1 + length > message.length) throw invalidDnsError();
      labels.push(escapeLabel(message.subarray(at + 1, at + 1 + length)));
      at += 1 + length;
      remainingBytes -= 1 + length;
    }
  }
  throw invalidDnsError();
}

/** Writes the bytes of a label, with dots and control characters escaped (RFC 1035 §5.1). */
const escapeLabel = (label: Buffer) =>
  label
    .toString("latin1")
    .replace(/[.\\"();@$]/g, "\\$&")
    .replace(/[^!-~]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, "0")}`);

function formatData(message: Buffer, start: number, end: number, type: RecordType): string {
  const data = message.subarray(start, end);
  const readNameAt = (offset: number) => readName(message, start + offset);
  switch (type) {
    case "A":
      if (data.length !== 4) throw invalidDnsError();
      return data.join(".");
    case "AAAA": {
      const groups = data.toString("hex").match(/.{4}/g) ?? [];
      const address = URL.parse(`http://[${groups.join(":")}]/`)?.hostname.slice(1, -1);
      if (address === undefined) throw invalidDnsError();
      return address;
    }
    case "CNAME":
    case "NS":
    case "PTR":
      return readNameAt(0).name;
    case "MX":
      return `${data.readUInt16BE(0)} ${readNameAt(2).name}`;
    case "SRV":
      return `${data.readUInt16BE(0)} ${data.readUInt16BE(2)} ${data.readUInt16BE(4)} ${readNameAt(6).name}`;
    case "TXT":
      return readStrings(data);
    case "SOA": {
      const server = readNameAt(0);
      const mailbox = readName(message, server.next);
      const numbers = [0, 4, 8, 12, 16].map((offset) =>
        message.readUInt32BE(mailbox.next + offset),
      );
      return [server.name, mailbox.name, ...numbers].join(" ");
    }
    case "CAA": {
      const length = data.readUInt8(1);
      const tag = data.toString("latin1", 2, 2 + length);
      return `${data.readUInt8(0)} ${tag} ${JSON.stringify(data.toString("utf8", 2 + length))}`;
    }
    case "DNSKEY":
      return `${data.readUInt16BE(0)} ${data.readUInt8(2)} ${data.readUInt8(3)} ${data.toString("base64", 4)}`;
  }
}

/** Joins the strings of a TXT record, as its readers do (RFC 7208 §3.3). */
function readStrings(data: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; at += 1 + data.readUInt8(at))
    parts.push(data.subarray(at + 1, at + 1 + data.readUInt8(at)));
  return Buffer.concat(parts).toString("utf8");
}
