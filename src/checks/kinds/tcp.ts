import { connect, type Socket } from "node:net";
import { lookupOf } from "../addresses.ts";
import { type CheckContext, CheckFailure, type CheckKind, since } from "../check.ts";

/** So much of an answer is searched for what is expected. */
const maxBytes = 64 * 1024;

/** Up when the port accepts a connection and, where something is expected, says it. */
export const checkTcp: CheckKind<"tcp"> = async ({ host, port, send, expect }, context) => {
  const startedAt = performance.now();
  const socket = await connected(host, port, context);
  context.step = "waiting for the answer";
  if (send !== null) socket.write(send);
  if (expect !== null) await heard(socket, Buffer.from(expect));
  const latencyMs = since(startedAt);
  const what = expect === null ? "Connected" : "Answered as expected";
  return { status: "up", message: `${what} in ${latencyMs} ms.`, latencyMs };
};

/** An open connection to the first address that takes one. */
export async function connected(
  host: string,
  port: number,
  context: CheckContext,
): Promise<Socket> {
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  context.step = "connecting";
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host, port, lookup: lookupOf(addresses) });
  context.signal.addEventListener("abort", () => socket.destroy());
  socket.on("connect", () => resolve(socket));
  socket.on("error", reject);
  return promise;
}

function heard(socket: Socket, wanted: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.includes(wanted)) resolve();
    else if (received.length >= maxBytes)
      reject(new CheckFailure("The first 64 KiB of the answer lack what was expected."));
  });
  socket.on("error", reject);
  socket.on("close", () =>
    reject(new CheckFailure("The connection was closed without the expected answer.")),
  );
  return promise;
}
