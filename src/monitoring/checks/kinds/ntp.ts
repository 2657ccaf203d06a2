import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { queryTime } from "../../../core/outgoing/ntp.ts";
import type { CheckKind } from "../check.ts";

/** Up when the server is synchronized, and its stratum and clock offset are within the limits (RFC 5905 §7.3). */
export const checkNtp: CheckKind<"ntp"> = async (settings, context) => {
  const { host, port, maxOffsetMs, maxStratum } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const time = await queryTime(addresses, port, context, () => context.now());
  const { stratum, latencyMs } = time;
  if (stratum === 0) throw new TargetFailure("The server refuses requests (kiss-o'-death).");
  if (!time.isSynchronized) throw new TargetFailure("The server's clock is not synchronized.");
  const offsetMs = Math.round(time.offsetMs);
  const off = `its clock differs from this machine's by ${Math.abs(offsetMs)} ms`;
  const details = { offsetMs, stratum };
  const buildDown = (message: string) =>
    ({ status: "down", message, latencyMs: null, details }) as const;
  if (Math.abs(offsetMs) > maxOffsetMs)
    return buildDown(`The server responds, but ${off}, more than ${maxOffsetMs} ms.`);
  if (maxStratum !== null && stratum > maxStratum)
    return buildDown(`The server is of stratum ${stratum}, above ${maxStratum}.`);
  const message = `Stratum ${stratum}, ${off}, responded in ${latencyMs} ms.`;
  return { status: "up", message, latencyMs, details };
};
