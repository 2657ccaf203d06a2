/** Sends UDP queries to the addresses of a name until one responds. */
import type { Address, OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { raceAttempts } from "./race-attempts.ts";

/** Time without a response until the query is repeated and the next address is tried. */
const resendMs = 1_000;

/** A socket connected to one address. It closes with its signal. */
export type Datagrams = {
  send: (message: Uint8Array) => void;
  /** Passes messages to `take`; rejects if no service listens on the port. */
  read: (onMessage: (message: Buffer) => void) => Promise<never>;
};

async function openDatagrams(
  { address, family }: Address,
  port: number,
  signal: AbortSignal,
): Promise<Datagrams> {
  const ending = Promise.withResolvers<never>();
  // Prevents an unhandled rejection if the socket breaks without a reader.
  ending.promise.catch(() => {});
  let handleMessage: (message: Buffer) => void = () => {};
  const socket = await Bun.udpSocket({
    // Without a hostname, Bun opens an IPv4 socket.
    hostname: family === 6 ? "::" : "0.0.0.0",
    connect: { hostname: address, port },
    socket: {
      data: (_socket, message) => handleMessage(message),
      // Bun 1.4.5 passes only the error, contrary to its types.
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
      handleMessage = taker;
      return ending.promise;
    },
  };
}

/** Runs `talk` for the addresses, and returns the first success. Then closes all sockets. */
export async function talkOverDatagrams<T>(
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  talk: (socket: Datagrams, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (addresses.length === 0) throw new TargetFailure("The name has no address.");
  context.step = "waiting for the response";
  const ending = new AbortController();
  const end = () => ending.abort();
  if (context.signal.aborted) end();
  context.signal.addEventListener("abort", end);
  try {
    return await raceAttempts(addresses, resendMs, async (address) =>
      talk(await openDatagrams(address, port, ending.signal), ending.signal),
    );
  } finally {
    end();
  }
}

/** The query and response of one address. */
type Conversation<T> = {
  /** Returns the query. Called again for each repetition. */
  buildQuery: () => Uint8Array;
  /** Parses a response; null for a message to ignore. Throws TargetFailure. */
  parseResponse: (message: Buffer) => T | null;
};

/** Sends the query to each address until one responds, with repetitions. Throws TargetFailure. */
export const queryByDatagram = <T>(
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  startConversation: (send: Datagrams["send"]) => Conversation<T>,
): Promise<T> =>
  talkOverDatagrams(addresses, port, context, (socket, signal) =>
    sendQuery(socket, startConversation, signal),
  );

function sendQuery<T>(
  { send, read }: Datagrams,
  begin: (send: Datagrams["send"]) => Conversation<T>,
  signal: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const { buildQuery, parseResponse } = begin(send);
  read((message) => {
    try {
      const response = parseResponse(message);
      if (response !== null) resolve(response);
    } catch (error) {
      reject(error);
    }
  }).catch(reject);
  send(buildQuery());
  const repeating = setInterval(() => send(buildQuery()), resendMs);
  const stop = () => clearInterval(repeating);
  signal.addEventListener("abort", stop);
  return promise.finally(stop);
}
