/** Starts fake servers over TCP, TLS and UDP on loopback. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { type certificates, writeCertificates } from "../certificates.ts";
import { listener } from "../checking.ts";
import type { Answers, Served } from "./fake.ts";

export type Certificate = (typeof certificates)[number];

let made: Record<string, { key: Buffer; cert: Buffer }> | null = null;
let authority = "";

/** The authority that signed the certificates, in PEM. */
export const authorityOf = () => (certificatesOf("good"), authority);

function certificatesOf(name: Certificate) {
  if (made === null) {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    writeCertificates(folder);
    const read = (file: string) => readFileSync(join(folder, file));
    authority = read("authority.pem").toString();
    made = Object.fromEntries(
      ["good", "wrongName"].map((one) => [
        one,
        { key: read(`${one}.key`), cert: read(`${one}.pem`) },
      ]),
    );
    rmSync(folder, { recursive: true });
  }
  return made[name];
}

/** A fake server on loopback, with TLS if `tls` names a certificate. */
export async function serving(
  fake: Served,
  answers = fake.answers,
  tls: Certificate | null = null,
  begins = fake.over === "tcp" ? fake.tls : undefined,
) {
  if (fake.over === "udp")
    return servingDatagrams(answers as (message: Buffer) => Uint8Array | null);
  const secure = (socket: Duplex, unread?: Buffer) => {
    const own = certificatesOf(tls ?? "good");
    const secured = new TLSSocket(
      (unread === undefined ? socket : continued(socket, unread)) as never,
      { isServer: true, ...own },
    );
    secured.on("error", () => {});
    return secured;
  };
  return listener((socket) => {
    const isSecureAtOnce = tls !== null && begins === "first";
    (answers as Answers)(isSecureAtOnce ? secure(socket) : socket, secure);
  });
}

/** A connection with already read bytes. */
function continued(socket: Duplex, unread: Buffer): Duplex {
  const whole = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()),
    final: (done) => void socket.end(() => done()),
  });
  whole.push(unread);
  socket.on("data", (chunk) => whole.push(chunk));
  socket.on("close", () => whole.push(null));
  return whole;
}

/** A UDP service that responds to each datagram; null sends no response. */
export async function servingDatagrams(
  answers: (message: Buffer) => Uint8Array | null,
  { hostname = "127.0.0.1", port = 0 } = {},
) {
  let received = 0;
  const socket = await Bun.udpSocket({
    hostname,
    port,
    socket: {
      data(own, message, port, address) {
        received++;
        const reply = answers(message);
        if (reply !== null) own.send(reply, port, address);
      },
    },
  });
  return {
    port: socket.port,
    accepted: () => received,
    untilAllClosed: async () => {},
    [Symbol.asyncDispose]: async () => socket.close(),
  };
}
