import { dlopen, ptr } from "bun:ffi";
import { getFreePort } from "./binary.ts";

/** Whether this machine can create a silent address. */
export const canBeSilent = process.platform === "linux";

const addressFamily = 2;
const streams = 1;

/**
 * A loopback port that neither accepts nor refuses connections. It listens with a full queue, so
 * that Linux drops further requests.
 */
export function openSilentAddress() {
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    listen: { args: ["i32", "i32"], returns: "i32" },
    connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  });
  const port = getFreePort();
  const name = new Uint8Array(16);
  name.set([addressFamily, 0, port >> 8, port & 0xff, 127, 0, 0, 1]);
  const [listening, waiting] = [0, 1].map(() => libc.socket(addressFamily, streams, 0));
  const done = [
    libc.bind(listening ?? -1, ptr(name), name.length),
    libc.listen(listening ?? -1, 0),
    libc.connect(waiting ?? -1, ptr(name), name.length),
  ];
  if (done.some((result) => result !== 0)) throw new Error("No address could be made silent.");
  return {
    address: "127.0.0.1",
    port,
    [Symbol.dispose]() {
      for (const socket of [waiting, listening]) libc.close(socket ?? -1);
    },
  };
}
