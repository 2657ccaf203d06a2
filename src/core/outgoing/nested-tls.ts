import { createServer, type AddressInfo, type Socket } from "node:net";
import { type Connection, dial, type Tls } from "./connection.ts";
import type { OutgoingContext } from "./context.ts";

/**
 * Starts TLS within a connection that already uses TLS, as behind an HTTPS proxy. Bun can't upgrade such a connection
 * (observed with 1.4.5), so the inner TLS runs over a loopback connection whose bytes are copied.
 */
export async function secureAgain(
  outer: Connection,
  tls: Tls,
  context: OutgoingContext,
): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    server.close();
    relayData(socket, outer);
  });
  server.once("error", reject).listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  try {
    const inner = { address: "127.0.0.1", family: 4, isPrivate: true } as const;
    return await dial([inner], port, context, tls);
  } catch (error) {
    outer.close();
    throw error;
  } finally {
    server.close();
  }
}

function relayData(socket: Socket, outer: Connection) {
  socket.on("error", () => {});
  socket.on("data", outer.write);
  socket.on("close", outer.close);
  socket.on("drain", outer.resume);
  outer
    .read((chunk) => {
      if (!socket.write(chunk)) outer.pause();
    })
    .then(
      () => socket.end(),
      () => socket.resetAndDestroy(),
    );
}
