import { computePhase } from "../../src/monitoring/checks/rules.ts";

/** A result of a scheduled check. */
export type SlottedResult = { key: number; at: number; latencyMs: number | null };

/**
 * Times are rounded to milliseconds, so their difference can be this much before the start of a
 * check.
 */
const roundingMs = 2;

/**
 * Slots in which a monitor has several results, and slots fully between the two times without a
 * result; each as a sentence.
 */
export function findWrongSlots(
  rows: readonly SlottedResult[],
  keys: readonly number[],
  intervalMs: number,
  [from, until]: readonly [number, number],
): { repeated: string[]; missing: string[] } {
  const rowsByMonitor = Map.groupBy(rows, ({ key }) => key);
  const [repeated, missing]: [string[], string[]] = [[], []];
  for (const key of keys) {
    const phase = computePhase(key, intervalMs);
    const getSlot = (at: number) => Math.floor((at - phase) / intervalMs);
    // The check can have ended in the next slot.
    const slots = Map.groupBy(rowsByMonitor.get(key) ?? [], ({ at, latencyMs }) =>
      getSlot(at - (latencyMs ?? 0) + roundingMs),
    );
    for (const [slot, slotRows] of slots)
      if (slotRows.length > 1) {
        const times = slotRows.map(({ at, latencyMs }) => `${at - from} ms (took ${latencyMs})`);
        repeated.push(`monitor ${key} in slot ${slot} at ${times.join(", ")}`);
      }
    for (let slot = getSlot(from) + 1; slot < getSlot(until); slot++)
      if (!slots.has(slot)) missing.push(`monitor ${key} in slot ${slot}`);
  }
  return { repeated, missing };
}
