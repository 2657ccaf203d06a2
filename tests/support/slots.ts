import { phaseOf } from "../../src/monitoring/checks/rules.ts";

/** A result of a check in its turn. */
export type Slotted = { key: number; at: number; latencyMs: number | null };

/** Rounding of two times to milliseconds: their difference can be this much before the start of a check. */
const roundingMs = 2;

/**
 * Slots of their interval in which monitors have several results, and of those that lie wholly between two
 * moments the ones in which they have none; each in words.
 */
export function wrongSlots(
  rows: readonly Slotted[],
  keys: readonly number[],
  intervalMs: number,
  [from, until]: readonly [number, number],
): { repeated: string[]; missing: string[] } {
  const own = Map.groupBy(rows, ({ key }) => key);
  const [repeated, missing]: [string[], string[]] = [[], []];
  for (const key of keys) {
    const phase = phaseOf(key, intervalMs);
    const slotAt = (at: number) => Math.floor((at - phase) / intervalMs);
    // The check can have ended in the next slot.
    const slots = Map.groupBy(own.get(key) ?? [], ({ at, latencyMs }) =>
      slotAt(at - (latencyMs ?? 0) + roundingMs),
    );
    for (const [slot, its] of slots)
      if (its.length > 1) {
        const times = its.map(({ at, latencyMs }) => `${at - from} ms (took ${latencyMs})`);
        repeated.push(`monitor ${key} in slot ${slot} at ${times.join(", ")}`);
      }
    for (let slot = slotAt(from) + 1; slot < slotAt(until); slot++)
      if (!slots.has(slot)) missing.push(`monitor ${key} in slot ${slot}`);
  }
  return { repeated, missing };
}
