/** Requests the time from an SNTP server (RFC 4330), and computes the offset of its clock. */
import type { Address, OutgoingContext } from "./context.ts";
import { queryByDatagram } from "./datagrams.ts";

/** Seconds between 1900, the NTP epoch, and 1970. */
const since1900 = 2_208_988_800;
const messageBytes = 48;
const version = 4;
const client = 3;
const server = 4;
const unsynchronized = 3;

type ServerTime = {
  /** Distance to a reference clock; 0 if the server rejects requests. */
  stratum: number;
  isSynchronized: boolean;
  /** Milliseconds by which the server's clock is ahead of the local clock. */
  offsetMs: number;
  latencyMs: number;
};

/**
 * Returns the first response among the addresses. `now` is the wall clock in Unix milliseconds. Throws TargetFailure.
 */
export const queryTime = (
  addresses: readonly Address[],
  port: number,
  context: OutgoingContext,
  now: () => number,
): Promise<ServerTime> =>
  queryByDatagram(addresses, port, context, () => {
    const nonce = crypto.getRandomValues(new Uint8Array(8));
    let startedAt = 0;
    let sentAt = 0;
    return {
      buildQuery() {
        startedAt = performance.now();
        sentAt = now();
        return buildNtpQuery(nonce);
      },
      parseResponse: (message) => parseResponse(message, nonce, { startedAt, sentAt, now }),
    };
  });

/** Creates a query (RFC 5905 §7.3) with a nonce instead of the local time. */
function buildNtpQuery(nonce: Uint8Array): Buffer {
  const message = Buffer.alloc(messageBytes);
  message[0] = (version << 3) | client;
  message.set(nonce, 40);
  return message;
}

/** Parses the response of a server (RFC 4330 §5) to the query with this nonce; null for any other message. */
function parseResponse(
  message: Buffer,
  nonce: Uint8Array,
  { startedAt, sentAt, now }: { startedAt: number; sentAt: number; now: () => number },
): ServerTime | null {
  if (message.length < messageBytes || !message.subarray(24, 32).equals(nonce)) return null;
  const [first = 0, stratum = 0] = message;
  if ((first & 0x07) !== server) return null;
  const [receivedThere, sentThere] = [readTime(message, 32), readTime(message, 40)];
  return {
    stratum,
    isSynchronized: first >> 6 !== unsynchronized && stratum <= 15,
    offsetMs: (receivedThere - sentAt + (sentThere - now())) / 2,
    latencyMs: Math.round(performance.now() - startedAt),
  };
}

/** Converts an NTP timestamp to Unix milliseconds. Seconds below 2^31 belong to the era that starts in 2036. */
function readTime(message: Buffer, at: number): number {
  const seconds = message.readUInt32BE(at);
  const era = seconds < 2 ** 31 ? 2 ** 32 : 0;
  return (seconds + era - since1900) * 1000 + (message.readUInt32BE(at + 4) / 2 ** 32) * 1000;
}
