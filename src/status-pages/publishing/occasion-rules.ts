/**
 * When a file is rendered: each minute, because it contains the current time or a duration; after a change of a state;
 * or only after other changes.
 */
export type RenderOccasion = "time" | "state" | "content";

/** Occasions from the most frequent. Each includes those before it. */
const occasions: readonly RenderOccasion[] = ["time", "state", "content"];

export const isRenderedAt = (file: RenderOccasion, now: RenderOccasion) =>
  occasions.indexOf(file) <= occasions.indexOf(now);

/** Returns the occasion that includes both. */
export const joinOccasions = (one: RenderOccasion | null, other: RenderOccasion): RenderOccasion =>
  one !== null && isRenderedAt(other, one) ? one : other;

/** Name of the file with the time of the last publication. */
export const asOfFile = "as-of.json";
