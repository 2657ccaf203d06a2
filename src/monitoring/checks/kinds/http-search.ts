/** Searches the body of an HTTP response for texts while it is received. */
import {
  createGrowingBuffer,
  collectPieces,
  uncountedMemory,
} from "../../../core/outgoing/memory.ts";
import { detectCharset, declarationBytes, isDeclared } from "./http-charset.ts";

/** Bytes per search. The retained tail is a slice, so the whole piece stays in memory. */
const searchedBytes = 16 * 1024;

/**
 * Finds texts across chunks of the body. Retains only the start of the body and a tail of the length of the longest
 * text.
 */
export class TextSearch {
  readonly found = new Set<string>();
  /** First characters of the body, up to `startLength`. */
  start = "";
  private readonly texts: readonly string[];
  private readonly contentType: string;
  private readonly startLength: number;
  private readonly overlap: number;
  private decoder: TextDecoder | null = null;
  private tail = "";
  /** First bytes of the body, until the charset is known. */
  private readonly undecoded = createGrowingBuffer(declarationBytes, uncountedMemory);
  private readonly pieces = collectPieces((piece) => this.search(piece), searchedBytes);

  constructor(texts: readonly string[], contentType: string, startLength: number) {
    this.texts = texts;
    this.contentType = contentType;
    this.startLength = startLength;
    this.overlap = Math.max(0, ...texts.map((text) => text.length - 1));
  }

  push(chunk: Buffer) {
    if (this.texts.length > 0) this.pieces.push(chunk);
  }

  /** Searches the bytes received so far. */
  flush() {
    this.pieces.flush();
  }

  /** Searches the rest of the body. */
  finish() {
    this.pieces.flush();
    if (this.decoder === null) this.startDecoding();
    this.searchText(this.decoder?.decode() ?? "");
  }

  private search(piece: Buffer) {
    if (this.decoder !== null) return this.searchText(this.decoder.decode(piece, { stream: true }));
    const before = this.undecoded.bytes().length;
    this.undecoded.push(piece);
    const needed = isDeclared(this.contentType) ? 3 : declarationBytes;
    const isKnown = this.undecoded.bytes().length >= needed;
    if (!isKnown) return this.searchUndecoded();
    const rest = piece.subarray(this.undecoded.bytes().length - before);
    this.startDecoding();
    this.search(rest);
  }

  /** Searches the undecoded bytes as if they were the whole body. */
  private searchUndecoded() {
    const start = this.undecoded.bytes();
    const text = new TextDecoder(detectCharset(this.contentType, start)).decode(start);
    for (const wanted of this.texts) if (text.includes(wanted)) this.found.add(wanted);
  }

  /** Determines the charset and decodes the bytes received so far. */
  private startDecoding() {
    this.found.clear();
    const start = this.undecoded.bytes();
    this.decoder = new TextDecoder(detectCharset(this.contentType, start));
    this.searchText(this.decoder.decode(start, { stream: true }));
  }

  private searchText(text: string) {
    if (this.start.length < this.startLength)
      this.start += text.slice(0, this.startLength - this.start.length);
    const searched = this.tail + text;
    for (const wanted of this.texts) if (searched.includes(wanted)) this.found.add(wanted);
    this.tail = searched.slice(Math.max(0, searched.length - this.overlap));
  }
}
