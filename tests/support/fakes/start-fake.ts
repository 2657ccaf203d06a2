/** Starts fake servers over TCP, TLS and UDP on loopback. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { type certificates, writeCertificates } from "../certificates.ts";
import { startListener } from "../check-runs.ts";
import type { ServeSocket, ServedFake } from "./fake.ts";

export type Certificate = (typeof certificates)[number];

let certificateFiles: Record<string, { key: Buffer; cert: Buffer }> | null = null;
let authority = "";

/** The authority that signed the certificates, in PEM. */
export const getAuthority = () => (getCertificate("good"), authority);

function getCertificate(name: Certificate) {
  if (certificateFiles === null) {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    writeCertificates(folder);
    const read = (file: string) => readFileSync(join(folder, file));
    authority = read("authority.pem").toString();
    certificateFiles = Object.fromEntries(
      ["good", "wrongName"].map((one) => [
        one,
        { key: read(`${one}.key`), cert: read(`${one}.pem`) },
      ]),
    );
    rmSync(folder, { recursive: true });
  }
  return certificateFiles[name];
}

/** A fake server on loopback, with TLS if `tls` names a certificate. */
export async function startFake(
  fake: ServedFake,
  responses = fake.serve,
  tls: Certificate | null = null,
  begins = fake.transport === "tcp" ? fake.tls : undefined,
) {
  if (fake.transport === "udp")
    return startDatagrams(responses as (message: Buffer) => Uint8Array | null);
  const secureSocket = (socket: Duplex, unread?: Buffer) => {
    const certificate = getCertificate(tls ?? "good");
    const secured = new TLSSocket(
      (unread === undefined ? socket : prependBytes(socket, unread)) as never,
      { isServer: true, ...certificate },
    );
    secured.on("error", () => {});
    return secured;
  };
  return startListener((socket) => {
    const isSecureAtOnce = tls !== null && begins === "first";
    (responses as ServeSocket)(isSecureAtOnce ? secureSocket(socket) : socket, secureSocket);
  });
}

/** A connection with already read bytes. */
function prependBytes(socket: Duplex, unread: Buffer): Duplex {
  const joined = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()),
    final: (done) => void socket.end(() => done()),
  });
  joined.push(unread);
  socket.on("data", (chunk) => joined.push(chunk));
  socket.on("close", () => joined.push(null));
  return joined;
}

/** A UDP service that responds to each datagram; null sends no response. */
export async function startDatagrams(
  responses: (message: Buffer) => Uint8Array | null,
  { hostname = "127.0.0.1", port = 0 } = {},
) {
  let received = 0;
  const socket = await Bun.udpSocket({
    hostname,
    port,
    socket: {
      data(own, message, port, address) {
        received++;
        const reply = responses(message);
        if (reply !== null) own.send(reply, port, address);
      },
    },
  });
  return {
    port: socket.port,
    countAccepted: () => received,
    waitUntilAllClosed: async () => {},
    [Symbol.asyncDispose]: async () => socket.close(),
  };
}
