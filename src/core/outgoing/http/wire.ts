import type { Connection, Tls } from "../connection.ts";
import type { OutgoingContext } from "../context.ts";
import { TargetFailure } from "../failures.ts";
import { turn } from "../../time/yielding.ts";
import { growingBuffer } from "../memory.ts";

/** Reads of buffered data between two yields to the event loop: 500 take about 2 ms. */
const readsPerTurn = 500;

/** So much of what one conversation brings is read, unless its protocol needs more. */
const usualBytes = 64 * 1024;

/** What a conversation is secured with: the name, and whether a certificate that can't be trusted is a failure. */
export type WireTls = Tls & { verify: boolean };

/** A connection whose answers are read in the pieces that a protocol has. */
export type Wire = {
  write(data: string | Uint8Array): void;
  /** The next bytes, exactly so many. Throws TargetFailure where the connection ends before, and for more than may be read. */
  read(count: number): Promise<Buffer>;
  /** Waits until `find` returns a position in the unread bytes, returns the bytes before `end` and continues at `next`. Throws as `read`. */
  take(find: (unread: Buffer) => { end: number; next: number } | null): Promise<Buffer>;
  /** What stands before the next such mark, which is dropped. Throws as `read`. */
  until(mark: string): Promise<Buffer>;
  /** Hands over all that arrives from now on; rejects once that ends, or is more than may be read. */
  rest(take: (chunk: Buffer) => void): Promise<never>;
  /** Begins TLS, as STARTTLS does. Throws TargetFailure for a certificate that is not to be trusted. */
  secure(tls: WireTls): Promise<void>;
  /** RFC 3339; null where no certificate was shown. */
  certificateExpiresAt(): string | null;
  close(): void;
};

export function wireOf(
  connection: Connection,
  { memory }: Pick<OutgoingContext, "memory">,
  maxBytes = usualBytes,
): Wire {
  const received = growingBuffer(maxBytes, memory);
  let length = 0;
  let from = 0;
  let reads = 0;
  let failure: unknown = null;
  let taker: ((chunk: Buffer) => void) | null = null;
  let arrived = Promise.withResolvers<void>();

  function wake() {
    arrived.resolve();
    arrived = Promise.withResolvers();
  }

  function fail(reason: unknown) {
    failure ??= reason;
    wake();
  }

  connection
    .read((chunk) => {
      if (failure !== null) return;
      length += chunk.length;
      try {
        if (taker === null || length > maxBytes) received.push(chunk);
        else taker(chunk);
      } catch (error) {
        fail(error);
      }
      if (length > maxBytes) {
        fail(new TargetFailure(`The answer is longer than ${maxBytes / 1024} KiB.`));
        connection.close();
      }
      wake();
    })
    .then(
      () => fail(new TargetFailure("The connection was closed before the answer was complete.")),
      fail,
    );

  /** Takes what `find` says is complete, as soon as it is there. */
  async function take(find: (unread: Buffer) => { end: number; next: number } | null) {
    for (;;) {
      const unread = received.bytes().subarray(from);
      const found = find(unread);
      if (found !== null) {
        from += found.next;
        // Copied before the yield: data that arrives meanwhile can replace the buffer.
        const piece = Buffer.from(unread.subarray(0, found.end));
        reads++;
        if (reads % readsPerTurn === 0) await turn();
        return piece;
      }
      if (failure !== null) throw failure;
      await arrived.promise;
    }
  }

  return {
    write: connection.write,
    take,
    read(count) {
      // A length that the other side names is not waited for where it can't come.
      if (from + count > maxBytes)
        throw new TargetFailure(`The answer is longer than ${maxBytes / 1024} KiB.`);
      return take((unread) => (unread.length < count ? null : { end: count, next: count }));
    },
    until: (mark) =>
      take((unread) => {
        const end = unread.indexOf(mark);
        return end === -1 ? null : { end, next: end + mark.length };
      }),
    async rest(take) {
      const unread = received.bytes().subarray(from);
      taker = take;
      if (unread.length > 0) take(Buffer.from(unread));
      while (failure === null) await arrived.promise;
      throw failure;
    },
    async secure({ verify, ...tls }) {
      // What came in the clear must not pass for something that was secured.
      if (length > from)
        throw new TargetFailure("The server sent unencrypted data after TLS began.");
      const { secured } = await connection.secure(tls);
      mustBeTrusted(secured, verify);
    },
    certificateExpiresAt: () => connection.secured?.certificateExpiresAt ?? null,
    close: connection.close,
  };
}

/** Throws TargetFailure. */
export function mustBeTrusted(secured: Connection["secured"], verify: boolean) {
  const issue = secured?.issue ?? null;
  if (verify && issue !== null) throw new TargetFailure(issue);
}
