/** Questions and answers over UDP, to the first address of a name that answers. */
import type { Address, OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { firstOf } from "./first-of.ts";

/** One that got lost, or its answer, is sent again after so long; an address that is silent for so long is no longer the only one. */
const againMs = 1_000;

/** A socket that takes from one address alone, and closes with its signal. */
export type Datagrams = {
  send: (message: Uint8Array) => void;
  /** Hands over what arrives; rejects once nobody listens there. */
  read: (take: (message: Buffer) => void) => Promise<never>;
};

async function datagramsTo(
  { address, family }: Address,
  port: number,
  signal: AbortSignal,
): Promise<Datagrams> {
  const ending = Promise.withResolvers<never>();
  // Nobody may be reading when it breaks.
  ending.promise.catch(() => {});
  let take: (message: Buffer) => void = () => {};
  const socket = await Bun.udpSocket({
    // Without it, the socket is one of IPv4.
    hostname: family === 6 ? "::" : "0.0.0.0",
    connect: { hostname: address, port },
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
  if (signal.aborted) close();
  signal.addEventListener("abort", close);
  return {
    send(message) {
      if (!isClosed) socket.send(message);
    },
    read(taker) {
      take = taker;
      return ending.promise;
    },
  };
}

/** Talks to the first of these addresses with which `talk` succeeds; its sockets close when that is decided. */
export async function overDatagrams<T>(
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  talk: (socket: Datagrams, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (addresses.length === 0) throw new TargetFailure("The name has no address.");
  context.step = "waiting for the answer";
  const ending = new AbortController();
  const end = () => ending.abort();
  if (context.signal.aborted) end();
  context.signal.addEventListener("abort", end);
  try {
    return await firstOf(addresses, againMs, async (address) =>
      talk(await datagramsTo(address, port, ending.signal), ending.signal),
    );
  } finally {
    end();
  }
}

/** What is said to one address. */
export type Conversation<T> = {
  /** The message as it is now: it is sent again where nothing comes. */
  question: () => Uint8Array;
  /** Null for what is not for us. Throws TargetFailure. */
  understood: (message: Buffer) => T | null;
};

/** Asks each address anew, again and again, until one gives an answer that is understood. Throws TargetFailure. */
export const askByDatagram = <T>(
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  begin: (send: Datagrams["send"]) => Conversation<T>,
): Promise<T> =>
  overDatagrams(addresses, port, context, (socket, signal) => ask(socket, begin, signal));

function ask<T>(
  { send, read }: Datagrams,
  begin: (send: Datagrams["send"]) => Conversation<T>,
  signal: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const { question, understood } = begin(send);
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
  const stop = () => clearInterval(repeating);
  signal.addEventListener("abort", stop);
  return promise.finally(stop);
}
