const minuteMs = 60_000;

/** A session ends so long after the last request it was sent with. */
export const idleMs = 12 * 60 * minuteMs;
/** No session gets older. */
export const oldestMs = 30 * 24 * 60 * minuteMs;
/** How long a sign-in waits for its code. */
export const waitingMs = 10 * minuteMs;

/** Whether a session is over at this moment. One that begins as far ahead as it could last was begun by a clock that was ahead. */
export function isOver(
  session: { stage: "two-factor" | "signed-in"; createdAtMs: number; lastSeenAtMs: number },
  now: number,
): boolean {
  const age = Math.abs(now - session.createdAtMs);
  if (session.stage === "two-factor") return age >= waitingMs;
  return age >= oldestMs || now - session.lastSeenAtMs >= idleMs;
}
