import { createSocket, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { firstOf } from "../../core/outgoing/first-of.ts";
import { ntpAnswerIn, ntpOffset, ntpQuestion } from "../../core/outgoing/ntp.ts";

const server = 4;

/**
 * By how many milliseconds this machine's clock is behind the server's, negative where it is ahead;
 * RFC 4330 §5. Rejects where nothing arrives in time or the server does not know the time itself.
 */
export async function clockOffset(host: string, port: number, timeoutMs: number): Promise<number> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(new Error("no answer")), timeoutMs);
  const sockets: Socket[] = [];
  try {
    const addresses = await Promise.race([lookup(host, { all: true }), promise]);
    const asking = firstOf(addresses, timeoutMs / 2, ({ address }) => {
      const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
      sockets.push(socket);
      return offsetOf(socket, address, port);
    });
    return await Promise.race([asking, promise]);
  } finally {
    clearTimeout(late);
    for (const socket of sockets) socket.close();
  }
}

function offsetOf(socket: Socket, address: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const mark = crypto.getRandomValues(new Uint8Array(8));
  const sentAt = Date.now();
  const sent = performance.now();
  socket.on("error", reject);
  socket.on("message", (message) => {
    const tookMs = performance.now() - sent;
    const answer = ntpAnswerIn(message, mark);
    if (answer === null) return;
    if (answer.mode !== server || !answer.isSynchronized || answer.stratum === 0)
      return reject(new Error("it does not know the time"));
    resolve(ntpOffset(answer, sentAt, sentAt + tookMs));
  });
  socket.send(ntpQuestion(mark), port, address, (error) => error && reject(error));
  return promise;
}
