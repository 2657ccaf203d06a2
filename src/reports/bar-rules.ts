import type { ReportDay } from "./schema.ts";

/** Upper bounds of a share of time, and the percentage of a bar that it colors. */
const barSteps = [
  [0.01, 18],
  [0.1, 40],
  [0.5, 65],
] as const;

/** The percentage of a bar that a share of time with problems colors. Small shares stay visible. */
export const findPartOfShare = (share: number): number =>
  barSteps.find(([below]) => share < below)?.[1] ?? 100;

/** The percentage of a day's bar in the color of its problem; null without a problem. */
export function findBarPart(day: ReportDay): number | null {
  const { tone, upSeconds, degradedSeconds, downSeconds } = day;
  if (tone !== "down" && tone !== "degraded") return null;
  const measured = upSeconds + degradedSeconds + downSeconds;
  const affected = tone === "down" ? downSeconds : degradedSeconds;
  return findPartOfShare(affected / measured);
}
