import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** A time server with a clock offset in milliseconds and a scripted response. */
export async function startTimeServer(wrongMs: number, { stratum = 2, mark = true } = {}) {
  const socket = createSocket("udp4");
  socket.on("message", (question, from) => {
    const response = Buffer.alloc(48);
    response.set([(4 << 3) | 4, stratum]);
    if (mark) question.copy(response, 24, 40, 48);
    const now = Date.now() + wrongMs;
    for (const at of [32, 40]) {
      response.writeUInt32BE(Math.floor(now / 1000) + 2_208_988_800, at);
      response.writeUInt32BE(Math.floor(((now % 1000) / 1000) * 2 ** 32), at + 4);
    }
    socket.send(response, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    ntp: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void socket.close(),
  };
}
