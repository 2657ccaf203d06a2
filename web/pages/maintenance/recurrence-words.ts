/** Describes the recurrence of a maintenance window. */
import type { Plan } from "../../../src/monitoring/maintenance/recurrence-rules.ts";
import { weekdays } from "../../components/forms/weekdays.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t, tCount } from "../../language/text.ts";

const placeWords = new Map([
  [1, t("first")],
  [2, t("second")],
  [3, t("third")],
  [4, t("fourth")],
  [-1, t("last")],
]);

const list = new Intl.ListFormat(getLocale());
const dateFormat = new Intl.DateTimeFormat(getLocale(), { dateStyle: "medium", timeZone: "UTC" });

/** Describes a plan, such as `Every 2 weeks on Monday and Friday, until 31 Jan 2027`. */
export function describePlan(plan: Plan): string {
  const { repeats, ends, until, count } = plan;
  if (repeats === "never") return t("Once");
  if (repeats === "rule") return plan.rule;
  const rule = describeDays(plan, repeats);
  const time = Date.parse(until);
  if (ends === "count")
    return tCount(count, "{rule}, {count} time", "{rule}, {count} times", { rule });
  if (ends === "never" || Number.isNaN(time)) return rule;
  return t("{rule}, until {date}", { rule, date: dateFormat.format(time) });
}

function describeDays(plan: Plan, repeats: "daily" | "weekly" | "monthly"): string {
  const { every, days, monthly, date, nth, day } = plan;
  if (repeats === "daily")
    return every === 1 ? t("Every day") : tCount(every, "Every {count} day", "Every {count} days");
  if (repeats === "weekly") {
    const often =
      every === 1 ? t("Every week") : tCount(every, "Every {count} week", "Every {count} weeks");
    return t("{often} on {days}", {
      often,
      days: list.format(days.map((one) => weekdays[one] ?? "")),
    });
  }
  const often =
    every === 1 ? t("Every month") : tCount(every, "Every {count} month", "Every {count} months");
  if (monthly === "weekday")
    return t("{often} on the {place} {weekday}", {
      often,
      place: placeWords.get(nth) ?? "",
      weekday: weekdays[day] ?? "",
    });
  return date === -1
    ? t("{often} on the last day", { often })
    : t("{often} on day {date}", { often, date });
}
