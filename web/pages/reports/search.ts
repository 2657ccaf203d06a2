/**
 * URL parameters: the month (default: the current one) and at most one subject (default: the
 * organization).
 */
export type ReportSearch = {
  month?: string;
  monitorId?: string;
  groupId?: string;
  statusPageId?: string;
};

const subjects = ["monitorId", "groupId", "statusPageId"] as const;

export function parseReportSearch(search: Record<string, unknown>): ReportSearch {
  const { month } = search;
  const subject = subjects.find((name) => typeof search[name] === "string");
  return {
    ...(typeof month === "string" &&
      /^(19[7-9]\d|[2-8]\d{3})-(0[1-9]|1[0-2])$/.test(month) && { month }),
    ...(subject !== undefined && { [subject]: search[subject] as string }),
  };
}

/** Adds months to a month such as `2026-11`. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

export const describeMonth = (month: string) =>
  new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`),
  );
