/** Parses the heads of HTTP/1 responses (RFC 9112 §2–5), as leniently as browsers and curl. */
import { TargetFailure } from "../failures.ts";
import type { Wire } from "./wire.ts";

export const maxHeadBytes = 64 * 1024;
/** Maximum interim responses before the final one, such as 103 (Early Hints). */
export const maxInterim = 100;

export type Head = {
  status: number;
  /** Values by lower-case name. Repeated fields are joined (RFC 9110 §5.3). */
  headers: ReadonlyMap<string, string>;
  /** Values of `Set-Cookie`, which can't be joined (RFC 9110 §5.3). */
  setCookies: readonly string[];
};

/** The response is not HTTP/1. */
export class InvalidHttp extends TargetFailure {}

export const invalidHttpError = () => new InvalidHttp("The response is not valid HTTP.");
export const headTooLongError = () => new TargetFailure("The response headers are too long.");

/** Whether another response follows on the same connection (RFC 9110 §15.2). */
export const isInterim = (status: number): boolean => status < 200 && status !== 101;

/** Names a status, such as `HTTP 404 (Not Found)`. */
export function formatStatus(status: number): string {
  // Loads the module on first use, because nothing else needs it and loading delays startup by 4 ms.
  const phrase = process.getBuiltinModule("node:http").STATUS_CODES[status];
  return phrase === undefined ? `HTTP ${status}` : `HTTP ${status} (${phrase})`;
}

/**
 * Finds the end of the last line, and of the empty line after it; null while the head is incomplete. Lines end with
 * LF or CRLF (RFC 9112 §2.2).
 */
export function findEndOfHead(bytes: Buffer, from: number): { end: number; next: number } | null {
  const bareEnd = bytes.indexOf("\n\n", from);
  const withCr = bytes.indexOf("\n\r\n", from);
  if (bareEnd === -1 && withCr === -1) return null;
  const isPlain = withCr === -1 || (bareEnd !== -1 && bareEnd < withCr);
  const lineEnd = isPlain ? bareEnd : withCr;
  const end = bytes[lineEnd - 1] === 0x0d ? lineEnd - 1 : lineEnd;
  return { end, next: lineEnd + (isPlain ? 2 : 3) };
}

/**
 * Accepts every minor version (RFC 9110 §2.5), and statuses above 599. Radio servers send `ICY` for HTTP/1.0, which
 * browsers accept.
 */
const statusLine = /^(?:HTTP\/1\.\d|ICY) +([1-9]\d\d)(?: [^\r\n\0]*)?$/;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Parses a head of status line and fields. Throws TargetFailure. */
export function parseHead(text: string): Head {
  const [first = "", ...lines] = text.split(/\r?\n/);
  const status = statusLine.exec(first)?.[1];
  if (status === undefined) throw invalidHttpError();
  const headers = new Map<string, string>();
  const setCookies: string[] = [];
  for (const { name, value } of parseFields(lines)) {
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    // Location is not a list. Clients follow the first one.
    else if (name !== "location") headers.set(name, `${before}, ${value}`);
    if (name === "set-cookie") setCookies.push(value);
  }
  return { status: Number(status), headers, setCookies };
}

/**
 * Removes spaces and tabs at both ends. `trim()` would also remove a no-break space, whose byte is part of “à” in
 * UTF-8.
 */
export function trimBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t";
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

/**
 * Parses fields, with names in lower case. A line that starts with a space or tab continues the previous field (RFC
 * 9112 §5.2). Like browsers, ignores spaces before the colon, and lines without a valid name.
 */
function parseFields(lines: readonly string[]): { name: string; value: string }[] {
  const fields: { name: string; value: string }[] = [];
  for (const line of lines) {
    const isFold = line.startsWith(" ") || line.startsWith("\t");
    const colon = isFold ? -1 : line.indexOf(":");
    const value = trimBlanks(line.slice(colon + 1));
    // A pattern without backtracking, because a target can send a line of 64 KiB of spaces.
    if (/[\r\0]/.test(line)) throw invalidHttpError();
    const last = fields.at(-1);
    if (isFold && last === undefined) throw invalidHttpError();
    if (isFold && last !== undefined) last.value = trimBlanks(`${last.value} ${value}`);
    else {
      const name = trimBlanks(line.slice(0, Math.max(colon, 0))).toLowerCase();
      fields.push({ name, value });
    }
  }
  return fields.filter(({ name }) => token.test(name));
}

/** Parses a list into its elements, in lower case and without empty ones (RFC 9110 §5.6.1.2). */
export function parseList(value: string | undefined): string[] {
  if (value === undefined) return [];
  const elements = value.split(",").map((element) => element.trim().toLowerCase());
  return elements.filter((element) => element !== "");
}

/** Returns the transfer codings in their order of application, without the obsolete `identity`. */
export const parseTransferCodings = ({ headers }: Pick<Head, "headers">): string[] =>
  parseList(headers.get("transfer-encoding")).filter((coding) => coding !== "identity");

/** Explains a response that is not HTTP/1. HTTP/2 starts with a SETTINGS frame (RFC 9113 §3.4, §6.5). */
export function explainOtherProtocol(bytes: Buffer): TargetFailure {
  const isHttp2 = bytes[0] === 0 && bytes[1] === 0 && bytes[3] === 4 && bytes.readInt32BE(5) === 0;
  return isHttp2
    ? new InvalidHttp("The server speaks only HTTP/2. This check uses HTTP/1.1.")
    : invalidHttpError();
}

/** Whether the first bytes can be the start of a status line. */
export const startsLikeHttp = (bytes: Buffer): boolean =>
  ["HTTP/1.", "ICY "].some((start) => start.startsWith(bytes.toString("latin1", 0, start.length)));

/** Reads the head of the final response. Throws TargetFailure. */
export async function readHead(wire: Wire): Promise<Head> {
  for (let interim = 0; interim <= maxInterim; interim++) {
    const bytes = await wire.readPiece((unread) => {
      // Rejects other protocols at once, because they may never send an empty line.
      if (!startsLikeHttp(unread)) throw invalidHttpError();
      return findEndOfHead(unread, 0);
    });
    const head = parseHead(bytes.toString("latin1"));
    if (!isInterim(head.status)) return head;
  }
  throw headTooLongError();
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a field as UTF-8 if its bytes are valid, or else as Latin-1. */
export function decodeField(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

/**
 * Parses a Location; null for an invalid URL. Bytes that are not valid UTF-8 are percent-encoded
 * (https://url.spec.whatwg.org).
 */
export function parseLocation(value: string, base: URL): URL | null {
  const text = decodeField(value);
  const isText = text !== value || !/[\x80-\xff]/.test(value);
  const escaped = isText ? text : value.replace(/[\x80-\xff]/g, (byte) => encodeByte(byte));
  return URL.parse(escaped, base);
}

const encodeByte = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
