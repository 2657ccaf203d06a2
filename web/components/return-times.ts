import { dayMs, hourMs } from "../../src/core/time/clock.ts";
import { toInstant, toLocal } from "../../src/core/time/time-zones.ts";
import { t } from "../language/text.ts";

/** A choice of a time, counted from the click. */
type ReturnTime = { label: string; getEnd: () => number };

/** Returns the choices of when a snoozed alert or a paused monitor returns. */
export function listReturnTimes(zone: string): ReturnTime[] {
  const countSecondsToMorning = () => {
    const today = Math.floor(toLocal(Date.now(), zone) / dayMs) * dayMs;
    return toInstant(today + dayMs + 9 * hourMs, zone);
  };
  return [
    { label: t("for 1 hour"), getEnd: () => Date.now() + hourMs },
    { label: t("for 8 hours"), getEnd: () => Date.now() + 8 * hourMs },
    { label: t("until tomorrow, 09:00"), getEnd: countSecondsToMorning },
    { label: t("for 1 week"), getEnd: () => Date.now() + 7 * dayMs },
  ];
}
