/** Describes escalation policies and their monthly drills. */
import type { MonthlyDrill } from "../../../src/alerting/drills/schema.ts";
import { weekdays as weekdayNames } from "../../../src/alerting/hours/schema.ts";
import type { EscalationStep, EscalationTarget } from "../../../src/alerting/policies/schema.ts";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import { weekdays } from "../../components/forms/weekdays.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t, tCount } from "../../language/text.ts";

type NameOf = (target: EscalationTarget) => string | null;

const list = new Intl.ListFormat(getLocale());

/** Describes a policy in one sentence per part, such as `At once Ada; after 10 min #ops. Repeated twice.` */
export function describePolicy(
  { steps, repeat }: { steps: readonly EscalationStep[]; repeat: number },
  nameOf: NameOf,
): string {
  if (steps.length === 0) return t("Notifies no one.");
  const parts = steps.map(({ afterMinutes, targets }, index) => {
    const names = list.format(targets.map((target) => describeTarget(target, nameOf)));
    if (afterMinutes === 0)
      return index === 0
        ? t("At once {targets}", { targets: names })
        : t("at once {targets}", { targets: names });
    const duration = formatDuration(afterMinutes * 60);
    return index === 0
      ? t("After {duration} {targets}", { duration, targets: names })
      : t("after {duration} {targets}", { duration, targets: names });
  });
  const end = repeat === 0 ? "" : ` ${describeRepeat(repeat)}`;
  return `${parts.join("; ")}.${end}`;
}

function describeTarget(target: EscalationTarget, nameOf: NameOf): string {
  const name = nameOf(target) ?? t("a deleted record");
  return target.type === "schedule"
    ? t("the person on call in {schedule}", { schedule: name })
    : name;
}

function describeRepeat(repeat: number): string {
  if (repeat === 2) return t("Repeated twice.");
  if (repeat === 3) return t("Repeated three times.");
  return tCount(repeat, "Repeated once.", "Repeated {count} times.");
}

/** Describes a monthly drill, such as `Drilled monthly, on the first Tuesday, 10:00–16:00 (Europe/Berlin).` */
export function describeDrill({ day, from, until, timeZone }: MonthlyDrill): string {
  return typeof day === "number"
    ? t("Drilled monthly, on day {day}, {from}–{until} ({timeZone}).", {
        day,
        from,
        until,
        timeZone,
      })
    : t("Drilled monthly, on the first {weekday}, {from}–{until} ({timeZone}).", {
        weekday: weekdays[weekdayNames.indexOf(day)] ?? day,
        from,
        until,
        timeZone,
      });
}
