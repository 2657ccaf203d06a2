/** Lets Chromium connect only to allowed addresses, through a local SOCKS5 proxy. */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setRecent } from "../collections/recent-set.ts";
import { type Connection, dial } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { classifyFailure } from "./failure-reasons.ts";

/** Maximum number of destinations whose last failure is stored. */
const maxFailures = 1_000;

/** Maximum bytes that a page sends. Bytes that the target does not read are buffered in memory. */
const maxSentBytes = 8 * 1024 * 1024;

/** Replies in the format of RFC 1928 §6. */
const rejectedReply = Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
const acceptedReply = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

/**
 * A SOCKS5 proxy on loopback for a program that resolves names on its side. It connects only to addresses that the
 * context allows, limits the bytes in both directions, and closes with the context.
 */
export class JudgingProxy {
  readonly #context: OutgoingContext;
  readonly #maxBytes: number;
  readonly #sockets = new Set<Socket>();
  readonly #failures = new Map<string, Error>();
  readonly #server = createServer((socket) => this.#accept(socket));
  #excess: Error | null = null;
  #receivedBytes = 0;
  #sentBytes = 0;

  private constructor(context: OutgoingContext, maxBytes: number) {
    this.#context = context;
    this.#maxBytes = maxBytes;
  }

  static async start(context: OutgoingContext, maxBytes: number): Promise<JudgingProxy> {
    const proxy = new JudgingProxy(context, maxBytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    proxy.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    await promise;
    context.signal.addEventListener("abort", () => proxy.close());
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the exceeded limit of the page, or the last failure of a destination; null if there is neither. */
  failureOf(host: string, port: number): Error | null {
    return this.#excess ?? this.#failures.get(formatDestination(host, port)) ?? null;
  }

  close() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket) {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    this.#serve(socket).catch(() => socket.destroy());
  }

  async #serve(socket: Socket) {
    // A copy, because a single connection must not change the step of the whole check.
    const context = { ...this.#context };
    const { host, port } = await readRequest(socket);
    const destination = formatDestination(host, port);
    let connection: Connection;
    try {
      connection = await dial(await context.addressesOf(host, port), port, context);
    } catch (error) {
      const reason = classifyFailure(error) ?? new TargetFailure("The connection failed.");
      setRecent(this.#failures, destination, reason, maxFailures);
      socket.end(rejectedReply);
      return;
    }
    this.#failures.delete(destination);
    socket.write(acceptedReply);
    await this.#relay(socket, connection);
    socket.end();
  }

  /** Copies data in both directions. Resolves when the target closes its side. */
  #relay(socket: Socket, connection: Connection): Promise<void> {
    const stop = (verb: string, limit: number) => {
      this.#excess ??= new TargetFailure(`The page ${verb} more than ${limit / 1024 / 1024} MiB.`);
      socket.destroy();
      connection.close();
    };
    socket.on("data", (chunk) => {
      this.#sentBytes += chunk.length;
      if (this.#sentBytes > maxSentBytes) stop("sends", maxSentBytes);
      else connection.write(chunk);
    });
    socket.on("close", () => connection.close());
    socket.on("drain", () => connection.resume());
    return connection.read((chunk) => {
      this.#receivedBytes += chunk.length;
      if (this.#receivedBytes > this.#maxBytes) stop("loads", this.#maxBytes);
      else if (!socket.write(chunk)) connection.pause();
    });
  }
}

function formatDestination(host: string, port: number): string {
  return `${host.replace(/^\[|\]$/g, "")} ${port}`;
}

/** Reads the client's greeting and its requested destination. */
function readRequest(socket: Socket): Promise<{ host: string; port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ host: string; port: number }>();
  let received = Buffer.alloc(0);
  let hasGreeted = false;
  function receive(chunk: Buffer) {
    received = Buffer.concat([received, chunk]);
    if (!hasGreeted) {
      if (received.length < 2 || received.length < 2 + (received[1] ?? 0)) return;
      received = received.subarray(2 + (received[1] ?? 0));
      hasGreeted = true;
      socket.write(Buffer.from([5, 0]));
    }
    const [, command, , kind = 0, length = 0] = received;
    const sizes: Record<number, number> = { 1: 4, 3: length + 1, 4: 16 };
    const size = sizes[kind] ?? 0;
    if (received.length < 5 || received.length < 4 + size + 2) return;
    socket.off("data", receive);
    const address = received.subarray(4, 4 + size);
    if (command !== 1 || size === 0) reject(new TargetFailure("The connection failed."));
    const host =
      kind === 3
        ? address.subarray(1).toString()
        : kind === 1
          ? address.join(".")
          : (address.toString("hex").match(/.{4}/g) ?? []).join(":");
    resolve({ host, port: received.readUInt16BE(4 + size) });
  }
  socket.on("data", receive);
  socket.on("close", () => reject(new TargetFailure("The connection failed.")));
  return promise;
}
