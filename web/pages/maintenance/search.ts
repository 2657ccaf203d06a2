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
    ...(typeof month === "string" &&
      /^(19[7-9]\d|[2-8]\d{3})-(0[1-9]|1[0-2])$/.test(month) && { month }),
    ...(Number.isSafeInteger(number) && number > 1 && { page: number }),
  };
}
