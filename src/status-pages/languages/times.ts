/** Formats dates and times in the language and time zone of a status page. */
import { toLocal } from "../../core/time/time-zones.ts";
import {
  formatDay,
  formatTimeSpan,
  getFormatter,
  isSameDay,
  minuteFormat,
} from "../../core/time/times.ts";
import type { Language } from "./language.ts";

/** A time in RFC 3339, and its text. */
export type Moment = { at: string; text: string };

export type TimeFormats = ReturnType<typeof createTimeFormats>;

export function createTimeFormats(language: Language, timeZone: string, now: number) {
  const { locale } = language;
  const createFormat = (options: Intl.DateTimeFormatOptions) => {
    const format = getFormatter(timeZone, options, locale);
    return (timestamp: string) => format.format(Date.parse(timestamp));
  };
  const day = createFormat({ day: "numeric", month: "long", year: "numeric" });
  const clock = createFormat(minuteFormat);
  const month = createFormat({ month: "long", year: "numeric" });
  const formatShortDay = (at: string) => formatDay(timeZone, Date.parse(at), now, locale);
  return {
    day,
    shortDay: formatShortDay,
    clock,
    /** Omits the end if it is within the same minute as the start. */
    range: (from: string, to: string) => {
      if (day(from) !== day(to)) return `${clock(from)} – ${formatShortDay(to)} ${clock(to)}`;
      return clock(from) === clock(to) ? clock(from) : `${clock(from)}–${clock(to)}`;
    },
    month: (at: string) => language.capitalize(month(at)),
    /** Includes the day even if it is today, because cached pages can be read tomorrow. */
    moment: (at: string): Moment => ({
      at,
      text: `${formatShortDay(at)} ${clock(at)}`,
    }),
    /** Includes the year. */
    full: (at: string): Moment => ({ at, text: `${day(at)} ${clock(at)}` }),
    /** A start such as `since 05:09` today, or `since 12 Sept` on another day. */
    since(at: number) {
      const timestamp = new Date(at).toISOString();
      const isToday = isSameDay(timeZone, at, now);
      const time = isToday ? clock(timestamp) : formatShortDay(timestamp);
      return language.translate("since", { time });
    },
    /** Whether clocks of the page and of another time zone show the same. */
    isSameLocally: (at: string, other: string) =>
      toLocal(Date.parse(at), timeZone) === toLocal(Date.parse(at), other),
    span: (from: string, to: string) =>
      formatTimeSpan(timeZone, Date.parse(from), Date.parse(to), now, locale),
  };
}
