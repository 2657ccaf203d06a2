import { monthPattern } from "../../../src/core/time/clock.ts";
import { getLocale } from "../../../src/core/text/locale.ts";

/**
 * URL parameters: the month (default: the current one), or its year, at most one subject (default: the
 * organization), and whether time in maintenance counts as down time.
 */
export type ReportSearch = {
  month?: string;
  view?: "year";
  monitorId?: string;
  groupId?: string;
  statusPageId?: string;
  maintenance?: "down";
};

const subjects = ["monitorId", "groupId", "statusPageId"] as const;

export function parseReportSearch(search: Record<string, unknown>): ReportSearch {
  const { month, view, maintenance } = search;
  const subject = subjects.find((name) => typeof search[name] === "string");
  return {
    ...(typeof month === "string" && monthPattern.test(month) && { month }),
    ...(view === "year" && { view }),
    ...(subject !== undefined && { [subject]: search[subject] as string }),
    ...(maintenance === "down" && { maintenance }),
  };
}

/** The name of a month, such as `October`. */
export const nameMonth = (month: string) =>
  new Intl.DateTimeFormat(getLocale(), { month: "long", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`),
  );

export const describeMonth = (month: string) =>
  new Intl.DateTimeFormat(getLocale(), { month: "long", year: "numeric", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`),
  );
