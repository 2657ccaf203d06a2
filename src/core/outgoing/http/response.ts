/** Reads HTTP/1.1 responses from a connection: head, framing of the body, limits. */
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
  /**
   * Passes each piece of the body to `take` as it arrives; its memory is reused afterwards. Resolves at the end,
   * and rejects if the body is cut short. Callable once.
   */
  read(take: (chunk: Buffer) => void): Promise<void>;
  /** Nothing more arrives until `resume`. */
  pause: () => void;
  resume: () => void;
};

const cutShort = () =>
  new TargetFailure("The connection was closed before the answer was complete.");

/**
 * Reads the response to one request, framed as in RFC 9112. Resolves once its head is complete. Bytes
 * that follow the response on the connection are ignored.
 */
export function readAnswer(
  connection: Connection,
  method: string,
  memory: Memory = uncounted,
): Promise<HttpAnswer> {
  return new ResponseReader(connection, method, memory).start();
}

class ResponseReader {
  readonly #connection: Connection;
  readonly #method: string;
  readonly #answer = Promise.withResolvers<HttpAnswer>();
  readonly #whole = Promise.withResolvers<void>();
  readonly #head: ReturnType<typeof growingBuffer>;
  #body: Body | null = null;
  #unread: Buffer[] = [];
  #take: ((chunk: Buffer) => void) | null = null;
  #interimCount = 0;

  constructor(connection: Connection, method: string, memory: Memory) {
    this.#connection = connection;
    this.#method = method;
    this.#head = growingBuffer(maxHeadBytes + 4, memory);
  }

  start(): Promise<HttpAnswer> {
    // Not every caller reads the body.
    this.#whole.promise.catch(() => {});
    this.#connection
      .read((chunk) => this.#receive(chunk))
      .then(
        () => {
          if (this.#body?.endsWithConnection) this.#whole.resolve();
          else this.#fail(cutShort());
        },
        (error: unknown) => this.#fail(error),
      );
    return this.#answer.promise;
  }

  #fail(error: unknown) {
    this.#answer.reject(error);
    this.#whole.reject(error);
    this.#connection.close();
  }

  #complete() {
    this.#whole.resolve();
    this.#connection.close();
  }

  #receive(chunk: Buffer) {
    try {
      if (this.#body !== null) {
        if (this.#body.push(chunk)) this.#complete();
        return;
      }
      for (let rest = chunk; rest.length > 0 && this.#body === null;)
        rest = this.#receiveHead(rest);
    } catch (error) {
      this.#fail(error);
    } finally {
      if (this.#unread.length === 0) release(chunk);
    }
  }

  /** Returns the bytes behind an interim response (RFC 9110 §15.2): the final one, or another interim one. */
  #receiveHead(chunk: Buffer): Buffer {
    const before = this.#head.bytes().length;
    // A head that arrives in one piece is not copied.
    if (before > 0) this.#head.push(chunk);
    const bytes = before > 0 ? this.#head.bytes() : chunk.subarray(0, maxHeadBytes + 4);
    // The end of the head can begin up to three bytes before this chunk.
    const found = findEndOfHead(bytes, Math.max(0, before - 3));
    if ((found?.end ?? bytes.length) > maxHeadBytes) throw headTooLong();
    if (found === null) {
      if (bytes.length > 8 && bytes.toString("latin1", 0, 7) !== "HTTP/1.") throw invalidHttp();
      if (before === 0) this.#head.push(chunk);
      return none;
    }
    const head = parseHead(bytes.toString("latin1", 0, found.end));
    const rest = chunk.subarray(found.next - before);
    this.#head.drop();
    if (isInterim(head.status)) {
      if (++this.#interimCount > maxInterim) throw headTooLong();
      return rest;
    }
    this.#beginBody(head, rest);
    return none;
  }

  #beginBody(head: Head, rest: Buffer) {
    this.#body = bodyOf(this.#method, head, (chunk) => this.#give(chunk));
    this.#answer.resolve({
      ...head,
      length: this.#body.length,
      read: (take) => {
        this.#take = take;
        for (const chunk of this.#unread.splice(0)) take(chunk);
        return this.#whole.promise;
      },
      pause: this.#connection.pause,
      resume: this.#connection.resume,
    });
    if (this.#body.push(rest)) this.#complete();
  }

  #give(chunk: Buffer) {
    if (chunk.length === 0) return;
    if (this.#take === null) this.#unread.push(chunk);
    else this.#take(chunk);
  }
}

/** Receives the body in chunks; `push` returns true once it is complete. */
type Body = { push(chunk: Buffer): boolean; length: number | null; endsWithConnection: boolean };

const isChunked = (coding: string) => coding === "chunked";

/** The length of the body, in the order of RFC 9112 §6.3. */
function bodyOf(method: string, head: Head, give: (chunk: Buffer) => void): Body {
  const { status, headers } = head;
  if (method === "HEAD" || status === 101 || status === 204 || status === 304)
    return { push: () => true, length: 0, endsWithConnection: true };
  const codings = transferCodings(head);
  if (codings.slice(0, -1).some(isChunked) && !codings.every(isChunked)) throw invalidHttp();
  if (codings.at(-1) === "chunked") return new ChunkedBody(give);
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

/** RFC 9112 §7.1: repeats `size CRLF data CRLF`, then a size of 0, trailers and an empty line. */
class ChunkedBody implements Body {
  readonly length = null;
  readonly endsWithConnection = false;
  readonly #give: (chunk: Buffer) => void;
  #step: "size" | "data" | "data end" | "trailer" | "done" = "size";
  /** Bytes of the current chunk that have not arrived. */
  #left = 0;
  /** Beginning of a line whose end has not arrived. */
  #line = "";
  /** Bytes of lines that are still accepted: as many as the data received, and a head's worth of trailers. */
  #framing = maxHeadBytes;

  constructor(give: (chunk: Buffer) => void) {
    this.#give = give;
  }

  push(bytes: Buffer): boolean {
    this.#give(bytes.subarray(0, this.#gatherData(bytes)));
    return this.#step === "done";
  }

  /** Moves the data of the chunks in these bytes to their start; returns its length. */
  #gatherData(bytes: Buffer): number {
    let length = 0;
    let at = 0;
    while (this.#step !== "done" && at < bytes.length) {
      if (this.#step === "data") {
        const count = Math.min(this.#left, bytes.length - at);
        bytes.copyWithin(length, at, at + count);
        length += count;
        at += count;
        this.#left -= count;
        this.#framing += count;
        if (this.#left === 0) this.#step = "data end";
        continue;
      }
      // A target can send chunks of one byte: a line with only a size is read without creating a string.
      const plainEnd = this.#step === "trailer" ? -1 : this.#readPlainLine(bytes, at);
      const end = plainEnd === -1 ? this.#readLine(bytes, at) : plainEnd;
      if (end === -1) break;
      at = end;
      this.#advance();
    }
    return length;
  }

  /** Goes to the step after a complete line. */
  #advance() {
    if (this.#step === "data end") this.#step = "size";
    else if (this.#step === "size") {
      this.#step = this.#left === 0 ? "trailer" : "data";
      if (this.#left === 0) this.#framing = Math.min(this.#framing, maxHeadBytes);
    }
  }

  /** Returns the end of a line that is complete and has no extension; -1 for any other. */
  #readPlainLine(bytes: Buffer, from: number): number {
    if (this.#line !== "") return -1;
    let at = from;
    if (this.#step === "size") {
      this.#left = 0;
      for (let value = digit(bytes[at]); value !== -1 && at - from < 12; value = digit(bytes[++at]))
        this.#left = this.#left * 16 + value;
      if (at === from) return -1;
    }
    return bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? at + 2 : -1;
  }

  /** Returns the end of any line; -1 until it has arrived. */
  #readLine(bytes: Buffer, from: number): number {
    const end = bytes.indexOf("\n", from);
    this.#line += bytes.toString("latin1", from, end === -1 ? bytes.length : end);
    if (this.#line.length > maxLineBytes) throw invalidHttp();
    if (end === -1) return -1;
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r")) throw invalidHttp();
    this.#framing -= line.length + 1;
    if (this.#framing < 0) throw this.#step === "trailer" ? headTooLong() : invalidHttp();
    this.#applyLine(line.slice(0, -1));
    return end + 1;
  }

  #applyLine(line: string) {
    if (this.#step === "size") {
      const size = /^0*([0-9a-f]{1,12})[ \t]*(;.*)?$/i.exec(line)?.[1];
      if (size === undefined) throw invalidHttp();
      this.#left = Number.parseInt(size, 16);
    } else if (line === "") {
      if (this.#step === "trailer") this.#step = "done";
    } else if (this.#step === "data end") throw invalidHttp();
  }
}
