import { formatDay, getFormatter, isSameDay } from "../../../src/core/time/times.ts";
import { t } from "../../language/text.ts";

/** A heading such as `Today` or `Tue 24 Nov`. */
export function describeDay(zone: string, at: number, now: number): string {
  if (isSameDay(zone, at, now)) return t("Today");
  return `${getFormatter(zone, { weekday: "short" }).format(at)} ${formatDay(zone, at, now)}`;
}
