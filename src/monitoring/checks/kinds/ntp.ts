import { randomBytes } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { askByDatagram } from "../../../core/outgoing/datagrams.ts";
import { type CheckKind, since } from "../check.ts";
import { ntpAnswerIn, ntpOffset, ntpQuestion } from "../../../core/outgoing/ntp.ts";

/** Up when the server is synchronized, near enough to a reference clock, and its clock to that of this machine. RFC 5905 §7.3 */
export const checkNtp: CheckKind<"ntp"> = async (settings, context) => {
  const { host, port, maxOffsetMs, maxStratum } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const asking = () => {
    const mark = randomBytes(8);
    let startedAt = 0;
    let sentAt = 0;
    return {
      question() {
        startedAt = performance.now();
        sentAt = context.now();
        return ntpQuestion(mark);
      },
      understood(message: Buffer) {
        const answer = ntpAnswerIn(message, mark);
        return answer && { answer, sentAt, receivedAt: context.now(), latencyMs: since(startedAt) };
      },
    };
  };
  const { answer, sentAt, receivedAt, latencyMs } = await askByDatagram(
    addresses,
    port,
    context,
    asking,
  );
  const { stratum } = answer;
  if (stratum === 0) throw new TargetFailure("The server refuses requests (kiss-o'-death).");
  if (!answer.isSynchronized) throw new TargetFailure("The server's clock is not synchronized.");
  const offset = Math.round(ntpOffset(answer, sentAt, receivedAt));
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
