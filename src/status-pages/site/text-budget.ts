import { statusPageBounds } from "../../core/limits.ts";
import type { PublicIncident } from "../formats/public-data.ts";

/** Bytes of text that one output has left. */
export type TextBudget = { left: number };

export const textBudget = (bytes: number = statusPageBounds.texts.value): TextBudget => ({
  left: bytes,
});

/** Length in UTF-8. */
export const bytesOfText = (text: string) => Buffer.byteLength(text);

/** Descriptions of maintenance in one output. */
export const windowBudget = () => textBudget(statusPageBounds.texts.value / 4);

/** Takes a text from the budget; false where it has no room for it. */
export function takeText(budget: TextBudget, size: number): boolean {
  if (size > budget.left) return false;
  budget.left -= size;
  return true;
}

/**
 * The incidents with the updates that the budget has room for: of each the newest, then half of the budget for
 * further ones. Updates that are left out count as earlier ones.
 */
export function withinBudget(
  incidents: readonly PublicIncident[],
  sizeOf: (text: string) => number,
  budget: TextBudget,
): PublicIncident[] {
  const reserved = budget.left / 2;
  return incidents.map((incident) => {
    const { postmortem } = incident;
    let shown = 0;
    for (const { message } of incident.updates) {
      if (shown > 0 && budget.left <= reserved) break;
      if (!takeText(budget, sizeOf(message))) break;
      shown += 1;
    }
    const hasRoom = postmortem === null || takeText(budget, sizeOf(postmortem.message));
    return {
      ...incident,
      updates: incident.updates.slice(0, shown),
      earlier: incident.earlier + incident.updates.length - shown,
      postmortem: hasRoom ? postmortem : null,
    };
  });
}

/** Windows with their descriptions, as far as the budget has room for these. */
export function windowsWithin<T extends { description: string }>(
  windows: readonly T[],
  sizeOf: (text: string) => number,
  budget: TextBudget,
): T[] {
  return windows.map((window) =>
    takeText(budget, sizeOf(window.description)) ? window : { ...window, description: "" },
  );
}
