import { createStore } from "../../data/store.ts";

export type Planning =
  /** Perhaps on this day of the calendar, such as `2026-11-22`. */
  { kind: "new"; date?: string; like?: string } | { kind: "edit"; id: string };

/** Which maintenance is being planned or changed, over whichever page. */
export const planning = createStore<Planning | null>(null);
