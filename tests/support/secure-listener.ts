/** A TLS server with scripted behavior and client certificates. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type SecureVersion, type TLSSocket } from "node:tls";
import { type certificates, writeCertificates } from "./certificates.ts";

type ListenerOptions = {
  address?: string;
  port?: number;
  /** Protocols for ALPN (RFC 7301). */
  protocols?: string[];
  /** The only group of its key exchange. */
  curve?: string;
  onConnect?: (socket: TLSSocket) => void;
  /** Accepted client certificates; null accepts any or none. */
  clients?: { ca: string; required: boolean; version?: SecureVersion } | null;
};

const resumeSocket = (socket: TLSSocket) => void socket.resume();

/** A TLS server on loopback with this certificate and a scripted behavior. */
export async function startSecureListener(
  name: (typeof certificates)[number],
  {
    address = "127.0.0.1",
    port: wanted = 0,
    onConnect = resumeSocket,
    clients = null,
    protocols,
    curve,
  }: ListenerOptions = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  writeCertificates(folder);
  const readCertificateFile = (kind: string) => readFileSync(join(folder, `${name}.${kind}`));
  const authority = readFileSync(join(folder, "authority.pem"), "utf8");
  const tls = {
    key: readCertificateFile("key"),
    cert: readCertificateFile("pem"),
    ...(protocols && { ALPNProtocols: protocols }),
    ...(curve !== undefined && { ecdhCurve: curve }),
    ...(clients && {
      ca: clients.ca,
      requestCert: true,
      rejectUnauthorized: clients.required,
      maxVersion: clients.version ?? "TLSv1.3",
    }),
  };
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
    onConnect(socket);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(wanted, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** The authority of its certificate, in PEM. */
    authority,
    /** Resolves when the other side has closed every connection. */
    async waitUntilAllClosed() {
      while (open.size > 0) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
