import { formatUtcMinute } from "../../../core/time/clock.ts";
import type { CheckKind } from "../check.ts";

/** Returns the status that people set, until its end. */
export const checkManual: CheckKind<"manual"> = async (
  { manualStatus, manualMessage, manualUntil },
  context,
) => {
  if (manualStatus === "up") return { status: "up", message: "Set to up.", latencyMs: null };
  if (manualUntil !== null && Date.parse(manualUntil) <= context.now()) {
    const message = `Up again since ${formatUtcMinute(manualUntil)}, as planned.`;
    return { status: "up", message, latencyMs: null };
  }
  const message = `Set to ${manualStatus}.`;
  return {
    status: manualStatus,
    message,
    ...(manualMessage !== null && { serverText: `${message} ${manualMessage}` }),
    latencyMs: null,
    isFinal: true,
  };
};
