/** A field for times of the week, such as quiet hours. */
import { ActionIcon } from "@mantine/core";
import { type ScheduleHours, weekdays } from "../../../src/alerting/hours/schema.ts";
import { Icon } from "../display/icons.tsx";
import { ClockField } from "./clock-field.tsx";
import { WeekdayButtons } from "./weekday-buttons.tsx";
import { t } from "../../language/text.ts";

/** A list of times of the week. `verb` adds the first one. */
export function WeekHours({
  hours,
  initial,
  verb,
  onChange,
  errorOf,
}: {
  hours: readonly ScheduleHours[];
  initial: ScheduleHours;
  verb: string;
  onChange: (hours: ScheduleHours[]) => void;
  /** Returns the error of a field such as `hours[0].from`. */
  errorOf: (field: string) => string | undefined;
}) {
  const change = (index: number, fields: Partial<ScheduleHours>) =>
    onChange(hours.with(index, { ...(hours[index] as ScheduleHours), ...fields }));
  return (
    <div className="week-hours">
      {hours.map((one, index) => (
        <div key={index} className="week-times">
          <WeekdayButtons
            label={t("Days")}
            days={one.days.map((day) => weekdays.indexOf(day))}
            onChange={(days) =>
              change(index, { days: weekdays.filter((_, day) => days.includes(day)) })
            }
          />
          <ClockField
            aria-label={t("From")}
            value={one.from}
            onChange={(from) => change(index, { from })}
            error={errorOf(`hours[${index}].from`)}
          />
          <span>{t("to")}</span>
          <ClockField
            aria-label={t("Until")}
            value={one.until}
            onChange={(until) => change(index, { until })}
            error={errorOf(`hours[${index}].until`)}
          />
          <ActionIcon
            size={30}
            aria-label={t("Remove these hours")}
            onClick={() => onChange(hours.toSpliced(index, 1))}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        </div>
      ))}
      <button
        type="button"
        className="plain-button link"
        onClick={() => onChange([...hours, initial])}
      >
        {hours.length === 0 ? verb : t("Add hours")}
      </button>
    </div>
  );
}
