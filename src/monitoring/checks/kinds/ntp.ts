import { randomBytes } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { askByDatagram, datagramsTo } from "../../../core/outgoing/datagrams.ts";
import { type CheckKind, since } from "../check.ts";

/** Seconds from 1900, where NTP begins, to 1970. */
const era = 2_208_988_800;
const length = 48;

/** Up when the server is synchronized, near enough to a reference clock, and its clock to that of this machine. RFC 5905 §7.3 */
export const checkNtp: CheckKind<"ntp"> = async (settings, context) => {
  const { host, port, maxOffsetMs, maxStratum } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const socket = await datagramsTo(addresses, port, context);
  context.step = "waiting for the answer";
  // What the answer repeats tells nobody the time here.
  const mark = randomBytes(8);
  let startedAt = 0;
  let sentAt = 0;
  const question = () => {
    const message = Buffer.alloc(length);
    message[0] = 0b00_100_011;
    message.set(mark, 40);
    startedAt = performance.now();
    sentAt = context.now();
    return message;
  };
  const { answer, receivedAt, latencyMs } = await askByDatagram(
    socket,
    question,
    (answer) => {
      if (answer.length < length || !answer.subarray(24, 32).equals(mark)) return null;
      return { answer, receivedAt: context.now(), latencyMs: since(startedAt) };
    },
    context,
  );
  const stratum = answer[1] ?? 0;
  if (stratum === 0) throw new TargetFailure("The server refuses requests (kiss-o'-death).");
  if ((answer[0] ?? 0) >> 6 === 0b11 || stratum > 15)
    throw new TargetFailure("The server's clock is not synchronized.");
  const offset = Math.round((timeIn(answer, 32) - sentAt + (timeIn(answer, 40) - receivedAt)) / 2);
  const off = `its clock differs from this machine's by ${Math.abs(offset)} ms`;
  const details = { offsetMs: offset, stratum };
  const down = (message: string) =>
    ({ status: "down", message, latencyMs: null, details }) as const;
  if (Math.abs(offset) > maxOffsetMs)
    return down(`The server answers, but ${off}, more than ${maxOffsetMs} ms.`);
  if (maxStratum !== null && stratum > maxStratum)
    return down(`The server is of stratum ${stratum}, above ${maxStratum}.`);
  const message = `Stratum ${stratum}, ${off}, answered in ${latencyMs} ms.`;
  return { status: "up", message, latencyMs, details };
};

/** In Unix milliseconds. */
function timeIn(message: Buffer, at: number): number {
  const seconds = message.readUInt32BE(at) - era;
  return (seconds + message.readUInt32BE(at + 4) / 2 ** 32) * 1000;
}
