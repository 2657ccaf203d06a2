import { createServer, type AddressInfo, type Socket } from "node:net";
import { setRecent } from "../collections/recent-set.ts";
import { type Connection, dial } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";
import { TargetFailure } from "./failures.ts";
import { reasonFor } from "./reasons.ts";

/** So many are known, of the last places. */
const maxFailures = 1_000;

/** So much may be sent: where a target does not read it, it is kept. */
const maxSentBytes = 8 * 1024 * 1024;

const placeOf = (host: string, port: number) => `${host.replace(/^\[|\]$/g, "")} ${port}`;

/** RFC 1928 §6 */
const refused = Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
const accepted = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

export type JudgingProxy = {
  port: number;
  /** Why the last connection there did not come about, or why no more comes through; null otherwise. */
  failureOf(host: string, port: number): Error | null;
  close(): void;
};

/**
 * A SOCKS5 proxy on loopback for a program that resolves names by itself: each address that it leads to
 * is judged, and so many bytes come through, either way. Ends with its context.
 */
export async function judgingProxy(
  context: OutgoingContext,
  maxBytes: number,
): Promise<JudgingProxy> {
  const sockets = new Set<Socket>();
  const failures = new Map<string, Error>();
  let tooMuch: Error | null = null;
  let bytes = 0;
  let sentBytes = 0;

  async function serve(socket: Socket) {
    // What is said of the whole check is not what one of its connections does.
    const own = { ...context };
    const { host, port } = await requested(socket);
    const place = placeOf(host, port);
    let connection: Connection;
    try {
      connection = await dial(await own.addressesOf(host, port), port, own);
    } catch (error) {
      const reason = reasonFor(error) ?? new TargetFailure("The connection failed.");
      setRecent(failures, place, reason, maxFailures);
      socket.end(refused);
      return;
    }
    failures.delete(place);
    socket.write(accepted);
    const stop = (does: string, most: number) => {
      tooMuch ??= new TargetFailure(`The page ${does} more than ${most / 1024 / 1024} MiB.`);
      socket.destroy();
      connection.close();
    };
    socket.on("data", (chunk) => {
      sentBytes += chunk.length;
      if (sentBytes > maxSentBytes) stop("sends", maxSentBytes);
      else connection.write(chunk);
    });
    socket.on("close", () => connection.close());
    socket.on("drain", () => connection.resume());
    const all = connection.read((chunk) => {
      bytes += chunk.length;
      if (bytes > maxBytes) stop("loads", maxBytes);
      else if (!socket.write(chunk)) connection.pause();
    });
    await all;
    socket.end();
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(socket).catch(() => socket.destroy());
  });

  function close() {
    server.close();
    for (const socket of sockets) socket.destroy();
  }

  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(0, "127.0.0.1", resolve);
  await promise;
  context.signal.addEventListener("abort", close);
  return {
    port: (server.address() as AddressInfo).port,
    failureOf: (host: string, port: number) => tooMuch ?? failures.get(placeOf(host, port)) ?? null,
    close,
  };
}

/** What a client asks to be connected to. */
function requested(socket: Socket): Promise<{ host: string; port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ host: string; port: number }>();
  let received = Buffer.alloc(0);
  let hasGreeted = false;
  function take(chunk: Buffer) {
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
    socket.off("data", take);
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
  socket.on("data", take);
  socket.on("close", () => reject(new TargetFailure("The connection failed.")));
  return promise;
}
