const minuteMs = 60_000;

/** A session expires after this time without requests. */
export const idleMs = 12 * 60 * minuteMs;
/** Maximum age of a session. */
export const maxSessionAgeMs = 30 * 24 * 60 * minuteMs;
/** Time limit to enter the two-factor code during a sign-in. */
export const waitingSessionMs = 10 * minuteMs;

/** Whether a session has expired. A start farther in the future than its lifetime was set by a wrong clock. */
export function isOver(
  session: { stage: "two-factor" | "signed-in"; createdAtMs: number; lastSeenAtMs: number },
  now: number,
): boolean {
  const age = Math.abs(now - session.createdAtMs);
  if (session.stage === "two-factor") return age >= waitingSessionMs;
  return age >= maxSessionAgeMs || now - session.lastSeenAtMs >= idleMs;
}
