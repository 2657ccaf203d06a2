import type { ClientHttp2Session } from "node:http2";
import { Duplex } from "node:stream";
import type { Wire } from "../../../core/outgoing/http/wire.ts";

/** Starts HTTP/2 over an open connection. `reject` gets the failure of the connection or of the protocol. */
export async function openHttp2(
  wire: Wire,
  origin: string,
  signal: AbortSignal,
  reject: (error: unknown) => void,
  invalidError: () => Error,
): Promise<ClientHttp2Session> {
  const { connect, constants } = await import("node:http2");
  const line = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      wire.write(chunk);
      done();
    },
  });
  line.on("error", () => {});
  wire
    .readRest((chunk) => void line.push(chunk))
    .catch((error: unknown) => {
      reject(error);
      line.destroy();
    });
  const session = connect(origin, {
    createConnection: () => line,
    settings: { enablePush: false },
  });
  signal.addEventListener("abort", () => session.destroy());
  session.on("error", () => reject(invalidError()));
  session.on("goaway", (code) => {
    if (code !== constants.NGHTTP2_NO_ERROR) reject(invalidError());
  });
  return session;
}
