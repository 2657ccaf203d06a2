/** Sends large bodies as fast as clients read, within a limit on memory. */
import { wideNetworkOf } from "../../core/security/client-network.ts";
import { requestBounds } from "../../core/limits.ts";

/** A body in pieces. A piece is computed when its client can receive it. */
export type Pieces = {
  /** Length of the whole body, in bytes. */
  length: number;
  count: number;
  at(index: number): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
};

/** Length from which bodies are sent in pieces. */
export const largeFrom = requestBounds.wholeResponse.value;
export const pieceLength = 64 * 1024;
/**
 * Time without reading after which a client counts as stalled. It is disconnected if another client of its network
 * needs the memory.
 */
const stalledMs = 1_000;
/** Denominator of a network's share: 1/32 of the free memory. */
const networkShare = 32;
/** Time for computing pieces per event-loop turn, in milliseconds. */
const turnMs = 5;

/** A large body in flight. */
type Transfer = {
  /** Bytes of buffered pieces, and of a body that no other response shares. */
  heldBytes: number;
  /** Time when its client last had space for a piece, by the monotonic clock. */
  readAt: number;
  cut(): void;
  onRead: () => void;
  onEnd: () => void;
};

const transfers = new WeakMap<Response, Transfer>();

export function splitIntoPieces(bytes: Uint8Array<ArrayBuffer>): Pieces {
  return {
    length: bytes.length,
    count: Math.ceil(bytes.length / pieceLength),
    at: (index) => bytes.subarray(index * pieceLength, (index + 1) * pieceLength),
  };
}

/** Prepares bytes as a body that several responses share. */
export const createSharedBody = (bytes: Uint8Array<ArrayBuffer>): Blob | Pieces =>
  bytes.length < largeFrom ? new Blob([bytes]) : splitIntoPieces(bytes);

/** Creates a response with a shared body. Large bodies are sent as fast as the client reads. */
export const createBodyResponse = (body: Blob | Pieces, init: ResponseInit): Response =>
  body instanceof Blob ? new Response(body, init) : createResponseInPieces(body, init, 0);

/** Creates a response with a body that no other response shares. */
export const createOwnBytesResponse = (
  bytes: Uint8Array<ArrayBuffer>,
  init: ResponseInit,
): Response =>
  bytes.length < largeFrom
    ? new Response(bytes, init)
    : createResponseInPieces(splitIntoPieces(bytes), init, bytes.length);

function createResponseInPieces(pieces: Pieces, init: ResponseInit, ownBytes: number): Response {
  let next = 0;
  let controllerNow: ReadableStreamDefaultController<Uint8Array> | null = null;
  const transfer: Transfer = {
    heldBytes: pieceLength + ownBytes,
    readAt: 0,
    // Resets the connection, so that the client detects the incomplete body.
    cut: () => controllerNow?.error(new Error("The client did not read.")),
    onRead: () => {},
    onEnd: () => {},
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (controllerNow = controller),
      async pull(controller) {
        transfer.onRead();
        await waitForTurn();
        controller.enqueue(await pieces.at(next++));
        if (next < pieces.count) return;
        controller.close();
        transfer.onEnd();
      },
      cancel: () => transfer.onEnd(),
    },
    { highWaterMark: 0 },
  );
  const headers = new Headers(init.headers);
  headers.set("Content-Length", String(pieces.length));
  const response = new Response(body, { ...init, headers });
  transfers.set(response, transfer);
  return response;
}

let turnEndsAt = 0;

/** Resolves in this event-loop turn if it has time left, or else in a later one. */
async function waitForTurn() {
  while (performance.now() > turnEndsAt) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (performance.now() > turnEndsAt + turnMs) turnEndsAt = performance.now() + turnMs;
  }
}

export type TransferLimit = ReturnType<typeof createTransferLimit>;

/**
 * Limits the memory of large bodies in flight. Each network gets a small share of the free memory. If it needs more,
 * its stalled clients are disconnected. If no memory is free, stalled clients of the largest network are
 * disconnected, so that a network without transfers gets one.
 */
export function createTransferLimit(
  maxTotalBytes: number = requestBounds.transfers.value,
  now: () => number = () => performance.now(),
) {
  const networks = new Map<string, Set<Transfer>>();
  let usedBytes = 0;

  function hasRoom(own: ReadonlySet<Transfer>, { heldBytes }: Transfer): boolean {
    const free = maxTotalBytes - usedBytes;
    if (own.size === 0) return heldBytes <= free;
    const ownBytes = own.values().reduce((sum, one) => sum + one.heldBytes, 0);
    return ownBytes + heldBytes <= free / networkShare;
  }

  /** Returns the network with the most transfers, if it has more than one. */
  function findLargest(): ReadonlySet<Transfer> {
    const [first = new Set<Transfer>(), ...others] = networks.values();
    const largestTransfers = others.reduce((a, b) => (b.size > a.size ? b : a), first);
    return largestTransfers.size > 1 ? largestTransfers : new Set();
  }

  /**
   * Aborts the transfer of the client that has not read for the longest time. Returns false if no client is stalled.
   */
  function cutStalled(own: ReadonlySet<Transfer>): boolean {
    const [first, ...others] = own;
    if (first === undefined) return false;
    const slowest = others.reduce((a, b) => (b.readAt < a.readAt ? b : a), first);
    if (now() - slowest.readAt < stalledMs) return false;
    slowest.cut();
    slowest.onEnd();
    return true;
  }

  return {
    /**
     * Counts a response until it ends; null if there is no memory for it. `addressOf` is called only for large
     * bodies.
     */
    admit(
      response: Response,
      request: Request,
      addressOf: (request: Request) => string,
    ): Response | null {
      const transfer = transfers.get(response);
      if (transfer === undefined) return response;
      // Without a body, because Bun sends no length for a stream.
      if (request.method === "HEAD") return new Response(null, response);
      const network = wideNetworkOf(addressOf(request));
      const transfersOfNetwork = networks.get(network) ?? new Set();
      while (!hasRoom(transfersOfNetwork, transfer))
        if (!cutStalled(transfersOfNetwork.size === 0 ? findLargest() : transfersOfNetwork))
          return null;
      networks.set(network, transfersOfNetwork.add(transfer));
      usedBytes += transfer.heldBytes;
      transfer.onRead = () => void (transfer.readAt = now());
      transfer.onRead();
      transfer.onEnd = () => {
        if (!transfersOfNetwork.delete(transfer)) return;
        usedBytes -= transfer.heldBytes;
        if (transfersOfNetwork.size === 0 && networks.get(network) === transfersOfNetwork)
          networks.delete(network);
      };
      request.signal.addEventListener("abort", transfer.onEnd);
      return response;
    },
    /** Bytes of transfers in flight. */
    held: () => usedBytes,
  };
}
