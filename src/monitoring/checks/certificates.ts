import { dayMs } from "../uptime/rules.ts";

/** The sentence about a certificate that ends within so many days; null when there is nothing to say. */
export function expiryOf(expiresAt: string | undefined, withinDays: number | null, nowMs: number) {
  if (expiresAt === undefined || withinDays === null) return null;
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs > withinDays * dayMs) return null;
  if (leftMs <= 0) return `The certificate expired on ${expiresAt.slice(0, 10)}.`;
  const days = Math.floor(leftMs / dayMs);
  const left = days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
  return `The certificate expires in ${left}, on ${expiresAt.slice(0, 10)}.`;
}
