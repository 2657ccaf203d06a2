import { connect, type Socket } from "node:net";

const unfinished =
  "POST /api/v1/incidents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";

/**
 * Opens connections from up to 4,000 loopback addresses. They are silent, or with `drip` start a
 * request and send a byte of its body now and then. Each `sends` a text once it is open, and
 * without `reads` reads no byte. Resolves when all are open.
 */
export async function openManyConnections(
  port: number,
  count: number,
  { drips = false, sends = "", reads = true } = {},
) {
  const sockets: Socket[] = [];
  let taken = 0;
  for (let number = 0; number < count; number++) {
    const localAddress = `127.1.${1 + (number % 20)}.${1 + (Math.floor(number / 20) % 200)}`;
    const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {});
    socket.once("connect", () => taken++);
    if (!reads) socket.pause();
    if (sends !== "") socket.write(sends);
    sockets.push(socket);
    // Batches of the size of the listen backlog.
    if (sockets.length % 250 === 0) await Promise.all(sockets.slice(-250).map(waitUntilConnected));
  }
  await Promise.all(sockets.map(waitUntilConnected));
  const dripBytes = () => {
    for (const socket of sockets) if (!socket.destroyed) socket.write("x");
  };
  if (drips) for (const socket of sockets) socket.write(unfinished);
  const timer = drips ? setInterval(dripBytes, 1_000) : undefined;
  return {
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    /** Accepted connections. On a busy machine the first can already be closed as idle when the last is open. */
    countAccepted: () => taken,
    drip: dripBytes,
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function waitUntilConnected(socket: Socket): Promise<void> {
  if (!socket.connecting) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("close", () => resolve());
  });
}
