/** Reads HTTP/1.1 responses from a connection: the head, and the framed body within limits. */
import { releaseBuffer } from "../../system/garbage-collection.ts";
import { TargetFailure } from "../failures.ts";
import type { Connection } from "../connection.ts";
import {
  findEndOfHead,
  type Head,
  headTooLongError,
  explainOtherProtocol,
  invalidHttpError,
  isInterim,
  maxHeadBytes,
  maxInterim,
  parseHead,
  parseTransferCodings,
  startsLikeHttp,
} from "./head.ts";
import { createGrowingBuffer, type Memory, uncountedMemory } from "../memory.ts";

const maxLineBytes = 1024;
const emptyBuffer: Buffer = Buffer.alloc(0);

export { formatStatus } from "./head.ts";

export type HttpResponse = Head & {
  /** Length of the encoded body in bytes; null if it is unknown before the end. */
  length: number | null;
  /**
   * Passes each piece of the body to `onChunk` when it arrives. The memory of a piece is reused afterwards. Resolves at
   * the end; rejects if the body is truncated. Can be called once.
   */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** Stops the arrival of data until `resume`. */
  pause: () => void;
  resume: () => void;
};

const cutShortError = () =>
  new TargetFailure("The connection was closed before the response was complete.");

/**
 * Reads the response to one request, with the framing of RFC 9112. Resolves when the head is complete. Ignores bytes
 * after the response.
 */
export function readHttpResponse(
  connection: Connection,
  method: string,
  memory: Memory = uncountedMemory,
): Promise<HttpResponse> {
  return new ResponseReader(connection, method, memory).start();
}

class ResponseReader {
  readonly #connection: Connection;
  readonly #method: string;
  readonly #response = Promise.withResolvers<HttpResponse>();
  readonly #whole = Promise.withResolvers<void>();
  readonly #head: ReturnType<typeof createGrowingBuffer>;
  #body: Body | null = null;
  #unread: Buffer[] = [];
  #take: ((chunk: Buffer) => void) | null = null;
  #interimCount = 0;

  constructor(connection: Connection, method: string, memory: Memory) {
    this.#connection = connection;
    this.#method = method;
    this.#head = createGrowingBuffer(maxHeadBytes + 4, memory);
  }

  start(): Promise<HttpResponse> {
    // Prevents an unhandled rejection if the caller doesn't read the body.
    this.#whole.promise.catch(() => {});
    this.#connection
      .read((chunk) => this.#receive(chunk))
      .then(
        () => {
          if (this.#body?.endsWithConnection) this.#whole.resolve();
          else this.#fail(cutShortError());
        },
        (error: unknown) => this.#fail(error),
      );
    return this.#response.promise;
  }

  #fail(error: unknown) {
    this.#response.reject(error);
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
      if (this.#unread.length === 0) releaseBuffer(chunk);
    }
  }

  /**
   * Reads a head. Returns the bytes after an interim response (RFC 9110 §15.2), which belong to the next response.
   */
  #receiveHead(chunk: Buffer): Buffer {
    const before = this.#head.bytes().length;
    // Doesn't copy a head that arrives in one piece.
    if (before > 0) this.#head.push(chunk);
    const bytes = before > 0 ? this.#head.bytes() : chunk.subarray(0, maxHeadBytes + 4);
    // The end of the head can start up to three bytes before this chunk.
    const found = findEndOfHead(bytes, Math.max(0, before - 3));
    if ((found?.end ?? bytes.length) > maxHeadBytes) throw headTooLongError();
    if (found === null) {
      if (bytes.length > 8 && !startsLikeHttp(bytes)) throw explainOtherProtocol(bytes);
      if (before === 0) this.#head.push(chunk);
      return emptyBuffer;
    }
    const head = parseHead(bytes.toString("latin1", 0, found.end));
    const rest = chunk.subarray(found.next - before);
    this.#head.drop();
    if (isInterim(head.status)) {
      if (++this.#interimCount > maxInterim) throw headTooLongError();
      return rest;
    }
    this.#beginBody(head, rest);
    return emptyBuffer;
  }

  #beginBody(head: Head, rest: Buffer) {
    this.#body = createBody(this.#method, head, (chunk) => this.#give(chunk));
    this.#response.resolve({
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

/** Receives the body in chunks. `push` returns true when the body is complete. */
type Body = { push(chunk: Buffer): boolean; length: number | null; endsWithConnection: boolean };

const isChunked = (coding: string) => coding === "chunked";

/** Selects the framing of the body by the rules of RFC 9112 §6.3, in their order. */
function createBody(method: string, head: Head, give: (chunk: Buffer) => void): Body {
  const { status, headers } = head;
  if (method === "HEAD" || status === 101 || status === 204 || status === 304)
    return { push: () => true, length: 0, endsWithConnection: true };
  const codings = parseTransferCodings(head);
  if (codings.slice(0, -1).some(isChunked) && !codings.every(isChunked)) throw invalidHttpError();
  if (codings.at(-1) === "chunked") return new ChunkedBody(give);
  const lengths = new Set(
    headers
      .get("content-length")
      ?.split(",")
      .map((part) => part.trim()),
  );
  if (codings.length === 0 && lengths.size > 0) {
    const [length = ""] = lengths;
    if (lengths.size > 1 || !/^\d{1,15}$/.test(length)) throw invalidHttpError();
    return createSizedBody(Number(length), give);
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

function createSizedBody(length: number, give: (chunk: Buffer) => void): Body {
  let bytesLeft = length;
  return {
    push(chunk) {
      give(chunk.subarray(0, bytesLeft));
      bytesLeft = Math.max(0, bytesLeft - chunk.length);
      return bytesLeft === 0;
    },
    length,
    endsWithConnection: false,
  };
}

/** Returns the value of a hexadecimal digit; -1 for other bytes. */
function parseHexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * Decodes a chunked body (RFC 9112 §7.1). It repeats `size CRLF data CRLF`, and ends with a size of 0, trailers and
 * an empty line.
 */
class ChunkedBody implements Body {
  readonly length = null;
  readonly endsWithConnection = false;
  readonly #give: (chunk: Buffer) => void;
  #step: "size" | "data" | "data end" | "trailer" | "done" = "size";
  /** Bytes of the current chunk that have not arrived yet. */
  #left = 0;
  /** Start of a line whose end has not arrived yet. */
  #line = "";
  /**
   * Bytes of chunk framing that are still accepted. They grow with the received data. Trailers can have the size of a
   * head.
   */
  #framing = maxHeadBytes;

  constructor(give: (chunk: Buffer) => void) {
    this.#give = give;
  }

  push(bytes: Buffer): boolean {
    this.#give(bytes.subarray(0, this.#gatherData(bytes)));
    return this.#step === "done";
  }

  /** Moves the chunks' data to the start of `bytes`, and returns its length. */
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
      // Reads a plain size line without creating a string, because a target can send chunks of one byte.
      const plainEnd = this.#step === "trailer" ? -1 : this.#readPlainLine(bytes, at);
      const end = plainEnd === -1 ? this.#readLine(bytes, at) : plainEnd;
      if (end === -1) break;
      at = end;
      this.#advance();
    }
    return length;
  }

  /** Proceeds to the next step after a complete line. */
  #advance() {
    if (this.#step === "data end") this.#step = "size";
    else if (this.#step === "size") {
      this.#step = this.#left === 0 ? "trailer" : "data";
      if (this.#left === 0) this.#framing = Math.min(this.#framing, maxHeadBytes);
    }
  }

  /** Returns the end of a complete line without an extension; -1 for any other line. */
  #readPlainLine(bytes: Buffer, from: number): number {
    if (this.#line !== "") return -1;
    let at = from;
    if (this.#step === "size") {
      this.#left = 0;
      for (
        let value = parseHexDigit(bytes[at]);
        value !== -1 && at - from < 12;
        value = parseHexDigit(bytes[++at])
      )
        this.#left = this.#left * 16 + value;
      if (at === from) return -1;
    }
    return bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? at + 2 : -1;
  }

  /** Returns the end of any line; -1 while it is incomplete. */
  #readLine(bytes: Buffer, from: number): number {
    const end = bytes.indexOf("\n", from);
    this.#line += bytes.toString("latin1", from, end === -1 ? bytes.length : end);
    if (this.#line.length > maxLineBytes) throw invalidHttpError();
    if (end === -1) return -1;
    const line = this.#line;
    this.#line = "";
    this.#framing -= line.length + 1;
    if (this.#framing < 0) throw this.#step === "trailer" ? headTooLongError() : invalidHttpError();
    // Like browsers and curl, accepts a line that ends with LF.
    this.#applyLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    return end + 1;
  }

  #applyLine(line: string) {
    if (this.#step === "size") {
      const size = /^0*([0-9a-f]{1,12})[ \t]*(;.*)?$/i.exec(line)?.[1];
      if (size === undefined) throw invalidHttpError();
      this.#left = Number.parseInt(size, 16);
    } else if (line === "") {
      if (this.#step === "trailer") this.#step = "done";
    } else if (this.#step === "data end") throw invalidHttpError();
  }
}
