import { release } from "../../system/garbage.ts";
import { TargetFailure } from "../failures.ts";
import type { Connection } from "../connection.ts";
import {
  findEndOfHead,
  type Head,
  headTooLong,
  invalidHttp,
  isInterim,
  maxHeadBytes,
  maxInterim,
  parseHead,
  transferCodings,
} from "./head.ts";
import { growingBuffer, type Memory, uncounted } from "../memory.ts";

const maxLineBytes = 1024;
const none: Buffer = Buffer.alloc(0);

export { named } from "./head.ts";

export type HttpAnswer = Head & {
  /** Length of the encoded body in bytes; null if it is unknown until the end. */
  length: number | null;
  /** Lends the body piece by piece as it arrives, each for as long as `take` runs; resolves at its end. Rejects where it is cut short. Once an answer. */
  read(take: (chunk: Buffer) => void): Promise<void>;
  /** Nothing more arrives until `resume`. */
  pause: () => void;
  resume: () => void;
};

const cutShort = () =>
  new TargetFailure("The connection was closed before the answer was complete.");

/**
 * Reads the answer to one request as RFC 9112 frames it; resolves as soon as its head is there. What
 * stands behind the answer on the connection is not looked at.
 */
export function readAnswer(
  connection: Connection,
  method: string,
  memory: Memory = uncounted,
): Promise<HttpAnswer> {
  const first = Promise.withResolvers<HttpAnswer>();
  const whole = Promise.withResolvers<void>();
  // Nobody may want the body.
  whole.promise.catch(() => {});
  const head = growingBuffer(maxHeadBytes + 4, memory);
  let body: Body | null = null;
  let unread: Buffer[] = [];
  let take: ((chunk: Buffer) => void) | null = null;
  let interim = 0;

  const give = (chunk: Buffer) => {
    if (chunk.length === 0) return;
    if (take === null) unread.push(chunk);
    else take(chunk);
  };

  function fail(error: unknown) {
    first.reject(error);
    whole.reject(error);
    connection.close();
  }

  function complete() {
    whole.resolve();
    connection.close();
  }

  function arrived(chunk: Buffer) {
    try {
      if (body !== null) {
        if (body.push(chunk)) complete();
        return;
      }
      for (let rest = chunk; rest.length > 0 && body === null;) rest = arriveInHead(rest);
    } catch (error) {
      fail(error);
    } finally {
      if (unread.length === 0) release(chunk);
    }
  }

  /** Returns what follows an interim answer (RFC 9110 §15.2): the real one, or the next of these. */
  function arriveInHead(chunk: Buffer): Buffer {
    const before = head.bytes().length;
    // One that comes whole need not be kept.
    if (before > 0) head.push(chunk);
    const bytes = before > 0 ? head.bytes() : chunk.subarray(0, maxHeadBytes + 4);
    // What was looked at before can't end the head but with what arrived now.
    const found = findEndOfHead(bytes, Math.max(0, before - 3));
    if ((found?.end ?? bytes.length) > maxHeadBytes) throw headTooLong();
    if (found === null) {
      if (bytes.length > 8 && bytes.toString("latin1", 0, 7) !== "HTTP/1.") throw invalidHttp();
      if (before === 0) head.push(chunk);
      return none;
    }
    const parsed = parseHead(bytes.toString("latin1", 0, found.end));
    const rest = chunk.subarray(found.next - before);
    head.drop();
    if (isInterim(parsed.status)) {
      if (++interim > maxInterim) throw headTooLong();
      return rest;
    }
    body = bodyOf(method, parsed, give);
    first.resolve({
      ...parsed,
      length: body.length,
      read(taker) {
        take = taker;
        for (const waiting of unread.splice(0)) taker(waiting);
        return whole.promise;
      },
      pause: connection.pause,
      resume: connection.resume,
    });
    if (body.push(rest)) complete();
    return none;
  }

  connection.read(arrived).then(
    () => {
      if (body?.endsWithConnection) whole.resolve();
      else fail(cutShort());
    },
    (error: unknown) => fail(error),
  );
  return first.promise;
}

/** Takes what arrives of a body; true once it is complete. */
type Body = { push(chunk: Buffer): boolean; length: number | null; endsWithConnection: boolean };

const isChunked = (coding: string) => coding === "chunked";

/** The length of the body, in the order of RFC 9112 §6.3. */
function bodyOf(method: string, head: Head, give: (chunk: Buffer) => void): Body {
  const { status, headers } = head;
  if (method === "HEAD" || status === 101 || status === 204 || status === 304)
    return { push: () => true, length: 0, endsWithConnection: true };
  const codings = transferCodings(head);
  if (codings.slice(0, -1).some(isChunked) && !codings.every(isChunked)) throw invalidHttp();
  if (codings.at(-1) === "chunked") return chunkedBody(give);
  const lengths = new Set(
    headers
      .get("content-length")
      ?.split(",")
      .map((part) => part.trim()),
  );
  if (codings.length === 0 && lengths.size > 0) {
    const [length = ""] = lengths;
    if (lengths.size > 1 || !/^\d{1,15}$/.test(length)) throw invalidHttp();
    return sizedBody(Number(length), give);
  }
  return {
    push(chunk) {
      give(chunk);
      return false;
    },
    length: null,
    endsWithConnection: true,
  };
}

function sizedBody(length: number, give: (chunk: Buffer) => void): Body {
  let left = length;
  return {
    push(chunk) {
      give(chunk.subarray(0, left));
      left = Math.max(0, left - chunk.length);
      return left === 0;
    },
    length,
    endsWithConnection: false,
  };
}

/** The value of a hexadecimal digit; -1 for anything else. */
function digit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** RFC 9112 §7.1: `size CRLF data CRLF` again and again, a size of 0, trailers, an empty line. */
function chunkedBody(give: (chunk: Buffer) => void): Body {
  let step: "size" | "data" | "data end" | "trailer" | "done" = "size";
  let left = 0;
  let line = "";
  /** Bytes of lines that are still taken, beside plain sizes: no more than chunks hold, and of trailers what a head may have. */
  let framing = maxHeadBytes;

  /** Takes one line from `rest`; null until it is complete. */
  function lineFrom(rest: Buffer): { text: string; after: Buffer } | null {
    const end = rest.indexOf("\n");
    line += rest.toString("latin1", 0, end === -1 ? rest.length : end);
    if (line.length > maxLineBytes) throw invalidHttp();
    if (end === -1) return null;
    const text = line;
    line = "";
    if (!text.endsWith("\r")) throw invalidHttp();
    framing -= text.length + 1;
    if (framing < 0) throw step === "trailer" ? headTooLong() : invalidHttp();
    return { text: text.slice(0, -1), after: rest.subarray(end + 1) };
  }

  /** Where a size or the end of a chunk that stands there whole and plain ends; -1 for anything else. */
  function plainLine(bytes: Buffer, from: number): number {
    if (line !== "") return -1;
    let at = from;
    if (step === "size") {
      left = 0;
      for (let value = digit(bytes[at]); value !== -1 && at - from < 12; value = digit(bytes[++at]))
        left = left * 16 + value;
      if (at === from) return -1;
    }
    return bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? at + 2 : -1;
  }

  /** What the chunks in these bytes hold moves to their start; returns how much that is. */
  function gathered(bytes: Buffer): number {
    let length = 0;
    let at = 0;
    while (step !== "done" && at < bytes.length) {
      if (step === "data") {
        const taken = Math.min(left, bytes.length - at);
        bytes.copyWithin(length, at, at + taken);
        length += taken;
        left -= taken;
        framing += taken;
        at += taken;
        if (left === 0) step = "data end";
        continue;
      }
      // A target may send chunks of a byte each: no text is made for one that says nothing but its size.
      const end = step === "trailer" ? -1 : plainLine(bytes, at);
      if (end !== -1) at = end;
      else {
        const found = lineFrom(bytes.subarray(at));
        if (found === null) break;
        at = bytes.length - found.after.length;
        if (step === "size") {
          const size = /^0*([0-9a-f]{1,12})[ \t]*(;.*)?$/i.exec(found.text)?.[1];
          if (size === undefined) throw invalidHttp();
          left = Number.parseInt(size, 16);
        } else if (found.text === "") {
          if (step === "trailer") step = "done";
        } else if (step === "data end") throw invalidHttp();
      }
      if (step === "size") {
        step = left === 0 ? "trailer" : "data";
        if (left === 0) framing = Math.min(framing, maxHeadBytes);
      } else if (step === "data end") step = "size";
    }
    return length;
  }

  return {
    push(bytes) {
      give(bytes.subarray(0, gathered(bytes)));
      return step === "done";
    },
    length: null,
    endsWithConnection: false,
  };
}
