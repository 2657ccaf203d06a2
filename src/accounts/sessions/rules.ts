import { dayMs, hourMs, minuteMs } from "../../core/time/clock.ts";

/** A session expires after this time without requests. */
export const maxIdleMs = 12 * hourMs;
/** Maximum age of a session. */
export const maxSessionAgeMs = 30 * dayMs;
/** Time limit to enter the two-factor code during a sign-in. */
export const waitingSessionMs = 10 * minuteMs;

/** Whether a session has expired. A start farther in the future than its lifetime was set by a wrong clock. */
export function isExpired(
  session: { stage: "two-factor" | "signed-in"; createdAtMs: number; lastSeenAtMs: number },
  now: number,
): boolean {
  const age = Math.abs(now - session.createdAtMs);
  if (session.stage === "two-factor") return age >= waitingSessionMs;
  return age >= maxSessionAgeMs || now - session.lastSeenAtMs >= maxIdleMs;
}
