import { dayMs } from "../../../src/core/time/clock.ts";
import { getLocale } from "../../../src/core/text/locale.ts";

/** A Monday. */
const monday = Date.UTC(2024, 0, 1);

function nameWeekdays(weekday: "long" | "short"): string[] {
  const format = new Intl.DateTimeFormat(getLocale(), { weekday, timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, day) => format.format(monday + day * dayMs));
}

/** Names of the weekdays, from Monday. */
export const weekdays = nameWeekdays("long");

/** Short names of the weekdays, such as `Mon`. */
export const shortWeekdays = nameWeekdays("short");
