/** Reads a connection in the units of a protocol, such as lines or blocks of a given length. */
import type { Connection, Tls } from "../connection.ts";
import type { OutgoingContext } from "../context.ts";
import { CertificateFailure, TargetFailure } from "../failures.ts";
import { yieldToEventLoop } from "../../time/event-loop.ts";
import { createGrowingBuffer } from "../memory.ts";

/** Reads of buffered data between two yields to the event loop. 500 reads take about 2 ms. */
const readsPerTurn = 500;

/** Default maximum of bytes received in a conversation. */
const defaultMaxBytes = 64 * 1024;

/** TLS settings of a conversation, and whether an untrusted certificate is a failure. */
export type WireTls = Tls & { verify: boolean };

/** A connection that is read in units of its protocol. */
export type Wire = {
  write(data: string | Uint8Array): void;
  /** Reads exactly `count` bytes. Throws TargetFailure if the connection closes first or the limit is exceeded. */
  read(count: number): Promise<Buffer>;
  /**
   * Waits until `find` returns a position in the unread bytes. Returns the bytes before `end`, and continues at
   * `next`. Throws the errors of `read`.
   */
  readPiece(find: (unread: Buffer) => { end: number; next: number } | null): Promise<Buffer>;
  /** Reads up to the next mark, and skips the mark. Throws the errors of `read`. */
  readUntil(mark: string): Promise<Buffer>;
  /** Passes all further data to `take`. Rejects when the connection closes or the limit is exceeded. */
  readRest(take: (chunk: Buffer) => void): Promise<never>;
  /** Starts TLS, as for STARTTLS. Throws TargetFailure for an untrusted certificate. */
  secure(tls: WireTls): Promise<void>;
  /** Expiry of the server's certificate, RFC 3339; null without TLS. */
  getCertificateExpiry(): string | null;
  close(): void;
};

export function createWire(
  connection: Connection,
  { memory }: Pick<OutgoingContext, "memory">,
  maxBytes = defaultMaxBytes,
): Wire {
  return new BufferedWire(connection, memory, maxBytes);
}

class BufferedWire implements Wire {
  readonly #connection: Connection;
  readonly #maxBytes: number;
  readonly #received: ReturnType<typeof createGrowingBuffer>;
  #length = 0;
  #from = 0;
  #reads = 0;
  #failure: unknown = null;
  #take: ((chunk: Buffer) => void) | null = null;
  #arrival = Promise.withResolvers<void>();

  constructor(connection: Connection, memory: OutgoingContext["memory"], maxBytes: number) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.#received = createGrowingBuffer(maxBytes, memory);
    connection
      .read((chunk) => this.#receive(chunk))
      .then(
        () =>
          this.#fail(
            new TargetFailure("The connection was closed before the response was complete."),
          ),
        (error: unknown) => this.#fail(error),
      );
  }

  #receive(chunk: Buffer) {
    if (this.#failure !== null) return;
    this.#length += chunk.length;
    const isTooLong = this.#length > this.#maxBytes;
    try {
      if (this.#take === null || isTooLong) this.#received.push(chunk);
      else this.#take(chunk);
    } catch (error) {
      this.#fail(error);
    }
    if (isTooLong) {
      this.#fail(this.#createTooLongError());
      this.#connection.close();
    }
    this.#wake();
  }

  #wake() {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  #fail(reason: unknown) {
    this.#failure ??= reason;
    this.#wake();
  }

  #createTooLongError() {
    return new TargetFailure(`The response is longer than ${this.#maxBytes / 1024} KiB.`);
  }

  write(data: string | Uint8Array) {
    this.#connection.write(data);
  }

  async readPiece(find: (unread: Buffer) => { end: number; next: number } | null): Promise<Buffer> {
    for (;;) {
      const unread = this.#received.bytes().subarray(this.#from);
      const found = find(unread);
      if (found !== null) {
        this.#from += found.next;
        // Copies the piece before the yield, because data that arrives meanwhile can replace the buffer.
        const piece = Buffer.from(unread.subarray(0, found.end));
        this.#reads++;
        if (this.#reads % readsPerTurn === 0) await yieldToEventLoop();
        return piece;
      }
      if (this.#failure !== null) throw this.#failure;
      await this.#arrival.promise;
    }
  }

  read(count: number): Promise<Buffer> {
    // Fails immediately for a length beyond the limit, instead of waiting for the data.
    if (this.#from + count > this.#maxBytes) throw this.#createTooLongError();
    return this.readPiece((unread) => (unread.length < count ? null : { end: count, next: count }));
  }

  readUntil(mark: string): Promise<Buffer> {
    return this.readPiece((unread) => {
      const end = unread.indexOf(mark);
      return end === -1 ? null : { end, next: end + mark.length };
    });
  }

  async readRest(onChunk: (chunk: Buffer) => void): Promise<never> {
    const unread = this.#received.bytes().subarray(this.#from);
    this.#take = onChunk;
    if (unread.length > 0) onChunk(Buffer.from(unread));
    while (this.#failure === null) await this.#arrival.promise;
    throw this.#failure;
  }

  async secure({ verify, ...tls }: WireTls) {
    // Rejects unencrypted data, which would otherwise count as received over TLS.
    if (this.#length > this.#from)
      throw new TargetFailure("The server sent unencrypted data after TLS began.");
    const { secured } = await this.#connection.secure(tls);
    assertTrusted(secured, verify);
  }

  getCertificateExpiry(): string | null {
    return this.#connection.secured?.certificateExpiresAt ?? null;
  }

  close() {
    this.#connection.close();
  }
}

/** Throws TargetFailure for an untrusted certificate if `verify` is set. */
export function assertTrusted(secured: Connection["secured"], verify: boolean) {
  if (verify && secured !== null && secured.issue !== null)
    throw new CertificateFailure({ ...secured, issue: secured.issue });
}
