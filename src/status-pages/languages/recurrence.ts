/** Describes recurring maintenance in the language of a status page. */
import { dayMs } from "../../core/time/clock.ts";
import { getFormatter } from "../../core/time/times.ts";
import { type Plan, weekNumbers } from "../../monitoring/maintenance/recurrence-rules.ts";
import type { Language } from "./language.ts";

/** A Monday, from which names of weekdays are formatted. */
const monday = Date.UTC(2024, 0, 1);

function nameWeekday(language: Language, day: number): string {
  return getFormatter("UTC", { weekday: "long" }, language.locale).format(monday + day * dayMs);
}

/** Describes a plan, such as `Every 2 weeks on Monday`. Null without recurrence, or if the language has no words for it. */
export function describeRecurrence(plan: Plan, language: Language): string | null {
  const rule = describeDays(plan, language);
  if (rule === null) return null;
  const { ends, until, count } = plan;
  const time = Date.parse(until);
  if (ends === "count") return language.count("repeatsTimes", count, { rule });
  if (ends === "never" || Number.isNaN(time)) return rule;
  const format = getFormatter("UTC", { dateStyle: "medium" }, language.locale);
  return language.translate("repeatsUntil", { rule, date: format.format(time) });
}

function describeDays(plan: Plan, language: Language): string | null {
  const { repeats, every, days, monthly, date, nth, day } = plan;
  switch (repeats) {
    case "never":
    case "rule":
      return null;
    case "daily":
      return every === 1 ? language.translate("everyDay") : language.count("everyDays", every);
    case "weekly": {
      const often =
        every === 1 ? language.translate("everyWeek") : language.count("everyWeeks", every);
      const names = days.map((one) => nameWeekday(language, one));
      return language.translate("onWeekdays", { often, days: language.list(names) });
    }
    case "monthly": {
      const often =
        every === 1 ? language.translate("everyMonth") : language.count("everyMonths", every);
      if (monthly === "date")
        return date === -1
          ? language.translate("onLastDay", { often })
          : language.translate("onDate", { often, date });
      const index = weekNumbers.indexOf(nth);
      const ordinal = language.translate("ordinals").split("|")[index] ?? "";
      const weekday = nameWeekday(language, day);
      return language.translate("onNthWeekday", { often, nth: ordinal, day: weekday }) || null;
    }
  }
}
