import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";

/** Seconds from 1900, where NTP counts from, to 1970. */
const since1900 = 2_208_988_800;
const server = 4;
const unsynchronized = 3;

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
    // The server sends this back: no other answer is to this question.
    const mark = crypto.getRandomValues(new Uint8Array(8));
    let sentAt = Date.now();
    const sent = performance.now();
    socket.on("error", reject);
    socket.on("message", (answer) => {
      const tookMs = performance.now() - sent;
      if (answer.length < 48 || !answer.subarray(24, 32).equals(mark)) return;
      const [first = 0, stratum = 0] = answer;
      if ((first & 7) !== server || first >> 6 === unsynchronized || stratum < 1 || stratum > 15)
        return reject(new Error("it does not know the time"));
      const receivedAt = timeIn(answer, 32);
      const answeredAt = timeIn(answer, 40);
      resolve((receivedAt - sentAt + (answeredAt - (sentAt + tookMs))) / 2);
    });
    const question = Buffer.alloc(48);
    // Version 4, mode client.
    question[0] = (4 << 3) | 3;
    question.set(mark, 40);
    sentAt = Date.now();
    socket.send(question, port, address, (error) => error && reject(error));
  };
  asking().catch(reject);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    close();
  }
}

/** Seconds and their fraction as Unix milliseconds; below 2^31 they are of the era from 2036 on. */
function timeIn(bytes: Buffer, at: number): number {
  const seconds = bytes.readUInt32BE(at);
  const era = seconds < 2 ** 31 ? 2 ** 32 : 0;
  return (seconds + era - since1900) * 1000 + (bytes.readUInt32BE(at + 4) / 2 ** 32) * 1000;
}
