type HoldTimes = { createdAt: string; dueAt: string };

/**
 * Milliseconds until a held change is sent; 0 if it is due. A change whose creation is further away than its hold is
 * due too, because the clock was set back.
 */
export function computeWaitMs({ createdAt, dueAt }: HoldTimes, now: number): number {
  const created = Date.parse(createdAt);
  const holdMs = Date.parse(dueAt) - created;
  return Math.max(0, holdMs - Math.abs(now - created));
}
