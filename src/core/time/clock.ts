/** Wall-clock time in Unix milliseconds; tests hand in their own. */

export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** RFC 3339 in UTC with milliseconds: the form of every timestamp on the wire and in people's records. */
export function timestamp(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** `2026-11-22 13:01 UTC`, for sentences without a time zone of the reader. */
export const minuteInUtc = (at: number | string): string =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** `2026-11-22-130112`, in UTC: for names of files, which then sort by age. */
export const fileStamp = (unixMs: number): string =>
  timestamp(unixMs).slice(0, 19).replace("T", "-").replaceAll(":", "");
