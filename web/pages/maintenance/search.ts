import { monthPattern } from "../../../src/core/time/clock.ts";

/** URL parameters of the page. Without a view it shows running and scheduled windows. */
export type MaintenanceSearch = { view?: "calendar" | "over"; month?: string; page?: number };

export function parseMaintenanceSearch({
  view,
  month,
  page,
}: Record<string, unknown>): MaintenanceSearch {
  const number = Number(page);
  return {
    ...((view === "calendar" || view === "over") && { view }),
    ...(typeof month === "string" && monthPattern.test(month) && { month }),
    ...(Number.isSafeInteger(number) && number > 1 && { page: number }),
  };
}
