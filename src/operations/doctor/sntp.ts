import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { ntpAnswerIn, ntpOffset, ntpQuestion } from "../../core/outgoing/ntp.ts";

const server = 4;

/**
 * By how many milliseconds this machine's clock is behind the server's, negative where it is ahead;
 * RFC 4330 §5. Rejects where nothing arrives in time or the server does not know the time itself.
 */
export async function clockOffset(host: string, port: number, timeoutMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const late = setTimeout(() => reject(new Error("no answer")), timeoutMs);
  let close = () => {};
  const asking = async () => {
    const { address } = await lookup(host);
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    close = () => socket.close();
    const mark = crypto.getRandomValues(new Uint8Array(8));
    let sentAt = Date.now();
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
    sentAt = Date.now();
    socket.send(ntpQuestion(mark), port, address, (error) => error && reject(error));
  };
  asking().catch(reject);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    close();
  }
}
