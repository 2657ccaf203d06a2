import { connect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";

/** A connection, over TLS if `secure`, that sends bytes exactly as given. Throws when the port is closed. */
export async function dialPort(port: number, { secure = false } = {}) {
  const at = { host: "127.0.0.1", port };
  const socket: Socket = secure ? tlsConnect({ ...at, rejectUnauthorized: false }) : connect(at);
  let received = "";
  let closed = false;
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1");
    change();
  });
  socket.on("close", () => {
    closed = true;
    change();
  });
  const connected = Promise.withResolvers<void>();
  socket.on(secure ? "secureConnect" : "connect", () => connected.resolve());
  // A later reset is followed by `close`, which is handled below.
  socket.on("error", (error) => connected.reject(error));
  await connected.promise;
  return {
    send: (bytes: string) => void socket.write(bytes, "latin1"),
    hangUp: () => void socket.destroy(),
    /** The received text as soon as it matches. Throws when the server closes earlier. */
    async waitForText(pattern: RegExp): Promise<string> {
      while (!pattern.test(received)) {
        if (closed) throw new Error(`closed after ${JSON.stringify(received)}`);
        await changed.promise;
      }
      return received;
    },
    async waitUntilClosed(): Promise<string> {
      while (!closed) await changed.promise;
      return received;
    },
  };
}

/** The header of a request with an API key. */
export function buildRequestHead(
  start: string,
  key: string,
  headers: readonly string[] = ["Host: localhost"],
): string {
  const lines = [`${start} HTTP/1.1`, `Authorization: Bearer ${key}`, ...headers];
  return `${lines.join("\r\n")}\r\n\r\n`;
}
