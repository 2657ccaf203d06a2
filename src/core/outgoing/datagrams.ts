import type { Address, OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";

/** One that got lost, or its answer, is sent again after so long. */
const againMs = 1_000;

/** A socket that takes from one address alone, and closes with its context. */
export type Datagrams = {
  send: (message: Uint8Array) => void;
  /** Hands over what arrives; rejects once nobody listens there. */
  read: (take: (message: Buffer) => void) => Promise<never>;
  close: () => void;
};

export async function datagramsTo(
  [peer]: readonly Address[],
  port: number,
  context: OutgoingContext,
): Promise<Datagrams> {
  if (peer === undefined) throw new TargetFailure("The name has no address.");
  const ending = Promise.withResolvers<never>();
  // Nobody may be reading when it breaks.
  ending.promise.catch(() => {});
  let take: (message: Buffer) => void = () => {};
  const socket = await Bun.udpSocket({
    connect: { hostname: peer.address, port },
    socket: {
      data: (_socket, message) => take(message),
      // Bun 1.4.5 hands over the error alone, against its types.
      error: (first: unknown, error?: unknown) => ending.reject(error ?? first),
    },
  });
  let isClosed = false;
  function close() {
    if (isClosed) return;
    isClosed = true;
    socket.close();
  }
  if (context.signal.aborted) close();
  context.signal.addEventListener("abort", close);
  return {
    send(message) {
      if (!isClosed) socket.send(message);
    },
    read(taker) {
      take = taker;
      return ending.promise;
    },
    close,
  };
}

/** Sends a question, again and again, until `read` makes something of what arrives; null is not for us. It throws TargetFailure. */
export function askByDatagram<T>(
  { send, read, close }: Datagrams,
  question: () => Uint8Array,
  understood: (message: Buffer) => T | null,
  { signal }: OutgoingContext,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  read((message) => {
    try {
      const answer = understood(message);
      if (answer !== null) resolve(answer);
    } catch (error) {
      reject(error);
    }
  }).catch(reject);
  send(question());
  const repeating = setInterval(() => send(question()), againMs);
  signal.addEventListener("abort", () => clearInterval(repeating));
  return promise.finally(() => {
    clearInterval(repeating);
    close();
  });
}
