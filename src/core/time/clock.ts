/** Wall-clock time in Unix milliseconds. Tests pass a fake clock. */

export type Clock = () => number;

export const readSystemClock: Clock = () => Date.now();

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Months such as `2026-11`. */
export const monthPattern = /^(19[7-9]\d|2\d{3})-(0[1-9]|1[0-2])$/;

/** Adds months to a month such as `2026-11`. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

/**
 * Formats an RFC 3339 time in UTC with milliseconds, the format of all timestamps in the API and in stored records.
 */
export function formatTimestamp(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** Formats a time such as `2026-11-22 13:01 UTC`, if the reader's time zone is unknown. */
export const formatUtcMinute = (at: number | string): string =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Formats a time in UTC such as `2026-11-22-130112`, for file names that sort by age. */
export const formatFileStamp = (unixMs: number): string =>
  formatTimestamp(unixMs).slice(0, 19).replace("T", "-").replaceAll(":", "");
