import { instant } from "../../core/fields.ts";
import { minuteMs } from "../../core/time/clock.ts";

/** Returns the first minute that a page can show: it exists, and the log still has its states. */
export function findFirstMinute({ createdAt }: { createdAt: string }, logStart: string | null) {
  const start = logStart !== null && logStart > createdAt ? logStart : createdAt;
  return Math.ceil(Date.parse(start) / minuteMs) * minuteMs;
}

/** Parses a past time to the start of its minute, in Unix milliseconds; null if it is not one from `first` to `now`. */
export function parseMinute(text: string, first: number, now: number): number | null {
  // The links of pages have no seconds.
  const timeWithSeconds = text.replace(/(T\d\d:\d\d)(?=Z|[+-]\d\d:\d\d$)/, "$1:00");
  const parsed = text.length > 40 ? null : instant.safeParse(timeWithSeconds);
  if (parsed?.success !== true || parsed.data > now) return null;
  const minute = Math.floor(parsed.data / minuteMs) * minuteMs;
  return minute < first ? null : minute;
}
