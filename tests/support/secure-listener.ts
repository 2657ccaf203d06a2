import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { type certificates, writeCertificates } from "./certificates.ts";

type How = { address?: string; port?: number; greets?: (socket: TLSSocket) => void };

const reads = (socket: TLSSocket) => void socket.resume();

/** A TLS server on loopback with this certificate, which treats each connection as the test says. */
export async function secureListener(
  name: (typeof certificates)[number],
  { address = "127.0.0.1", port: wanted = 0, greets = reads }: How = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  writeCertificates(folder);
  const file = (kind: string) => readFileSync(join(folder, `${name}.${kind}`));
  const tls = { key: file("key"), cert: file("pem") };
  rmSync(folder, { recursive: true });
  const open = new Set<TLSSocket>();
  let changed = Promise.withResolvers<void>();
  const server = createServer(tls, (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      changed.resolve();
      changed = Promise.withResolvers();
    });
    greets(socket);
  });
  await new Promise<void>((resolve) => server.listen(wanted, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Resolves once the other side has given up every connection. */
    async untilAllClosed() {
      while (open.size > 0) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
