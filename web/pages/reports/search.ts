import { monthPattern } from "../../../src/core/time/clock.ts";

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
    ...(typeof month === "string" && monthPattern.test(month) && { month }),
    ...(subject !== undefined && { [subject]: search[subject] as string }),
  };
}

/** The name of a month, such as `October`. */
export const nameMonth = (month: string) =>
  new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`),
  );

export const describeMonth = (month: string) =>
  new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`),
  );
