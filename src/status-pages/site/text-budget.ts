/** Limits the text in one output by leaving out updates, postmortems and descriptions. */
import { statusPageBounds } from "../../core/limits.ts";
import type { PublicIncident } from "../formats/public-data.ts";
import type { MessageSources } from "../languages/updates.ts";

/** Bytes of text that still fit into one output. */
type TextBudget = { left: number };

export const createTextBudget = (bytes: number = statusPageBounds.texts.value): TextBudget => ({
  left: bytes,
});

/** Returns the length of a text in UTF-8. */
export const measureText = (text: string) => Buffer.byteLength(text);

/** Creates the budget for descriptions of maintenance in one output. */
export const createWindowBudget = () => createTextBudget(statusPageBounds.texts.value / 4);

/** Subtracts the size of a text from the budget; false if it does not fit. */
function spendText(budget: TextBudget, size: number): boolean {
  if (size > budget.left) return false;
  budget.left -= size;
  return true;
}

/**
 * Limits the updates of incidents to the budget. Older updates use only half of it, so that the newest update of
 * each incident fits. Omitted updates count as earlier ones.
 */
export function limitUpdates(
  incidents: readonly PublicIncident[],
  sizeOf: (text: string) => number,
  budget: TextBudget,
): PublicIncident[] {
  const reserved = budget.left / 2;
  return incidents.map((incident) => {
    const { postmortem } = incident;
    let shownUpdates = 0;
    for (const { message, sources } of incident.updates) {
      if (shownUpdates > 0 && budget.left <= reserved) break;
      if (!spendText(budget, sizeOf(message) + measureTranslations(sources, sizeOf))) break;
      shownUpdates += 1;
    }
    const hasRoom = postmortem === null || spendText(budget, sizeOf(postmortem.message));
    return {
      ...incident,
      updates: incident.updates.slice(0, shownUpdates),
      earlier: incident.earlier + incident.updates.length - shownUpdates,
      postmortem: hasRoom ? postmortem : null,
    };
  });
}

/** Returns the size of the texts in other languages, until one language has been chosen. */
function measureTranslations(
  sources: MessageSources | undefined,
  sizeOf: (text: string) => number,
): number {
  const texts = Object.values(sources?.translations ?? {});
  return texts.reduce((sum, text) => sum + (text === undefined ? 0 : sizeOf(text.message)), 0);
}

/** Clears the descriptions of windows that don't fit into the budget. */
export function limitDescriptions<T extends { description: string }>(
  windows: readonly T[],
  sizeOf: (text: string) => number,
  budget: TextBudget,
): T[] {
  return windows.map((window) =>
    spendText(budget, sizeOf(window.description)) ? window : { ...window, description: "" },
  );
}
