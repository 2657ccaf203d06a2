/** The fields for the recurrence of a maintenance window. */
import { Select, TextInput } from "@mantine/core";
import { DayField } from "../../components/forms/date-time-field.tsx";
import { NumberField } from "../../components/forms/number-field.tsx";
import { WeekdayButtons } from "../../components/forms/weekday-buttons.tsx";
import {
  type Plan,
  weekNumbers,
  type Repeats,
  formatRule,
} from "../../../src/monitoring/maintenance/recurrence-rules.ts";
import { weekdays } from "../../components/forms/weekdays.ts";
import { t } from "../../language/text.ts";

const repeatOptions: { value: Repeats; label: string }[] = [
  { value: "never", label: t("Does not repeat") },
  { value: "daily", label: t("Daily") },
  { value: "weekly", label: t("Weekly") },
  { value: "monthly", label: t("Monthly") },
  { value: "rule", label: t("Custom rule") },
];

const repeatUnits = {
  daily: [t("day"), t("days")],
  weekly: [t("week"), t("weeks")],
  monthly: [t("month"), t("months")],
} as const;

const placeLabels = new Map([
  [1, t("First")],
  [2, t("Second")],
  [3, t("Third")],
  [4, t("Fourth")],
  [-1, t("Last")],
]);

type Props = { plan: Plan; onChange: (plan: Plan) => void; error: string | undefined };

/** Edits the recurrence of a window. Other rules can be entered as an RRULE. */
export function RecurrenceField({ plan, onChange, error }: Props) {
  const { repeats } = plan;
  const put = (change: Partial<Plan>) => onChange({ ...plan, ...change });
  const isPlain = repeats === "daily" || repeats === "weekly" || repeats === "monthly";
  return (
    <fieldset className="recurrence">
      <legend className="visually-hidden">{t("Recurrence")}</legend>
      <div className="field-row">
        <Select
          label={t("Repeats")}
          data={repeatOptions}
          value={repeats}
          allowDeselect={false}
          onChange={(next) =>
            // The custom rule starts with the rule of the fields.
            put({
              repeats: next as Repeats,
              ...(next === "rule" && { rule: formatRule(plan) ?? "" }),
            })
          }
          error={repeats === "rule" ? undefined : error}
        />
        {isPlain && (
          <NumberField
            label={t("Every")}
            suffix={` ${repeatUnits[repeats][plan.every === 1 ? 0 : 1]}`}
            min={1}
            max={999}
            allowDecimal={false}
            clampBehavior="strict"
            value={plan.every}
            onChange={(every) => put({ every: every || 1 })}
          />
        )}
      </div>
      {repeats === "weekly" && (
        <WeekdayButtons label={t("On")} days={plan.days} onChange={(days) => put({ days })} />
      )}
      {repeats === "monthly" && <MonthlyFields plan={plan} put={put} />}
      {isPlain && <Ends plan={plan} put={put} />}
      {repeats === "rule" && (
        <TextInput
          label={t("Rule")}
          description={t("An RRULE (RFC 5545), without DTSTART.")}
          placeholder="FREQ=YEARLY;BYMONTH=1;BYDAY=1SU"
          autoComplete="off"
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mono)" } }}
          value={plan.rule}
          onChange={({ currentTarget }) => put({ rule: currentTarget.value })}
          error={error}
        />
      )}
    </fieldset>
  );
}

type Part = { plan: Plan; put: (change: Partial<Plan>) => void };

const dates = [
  ...Array.from({ length: 31 }, (_, index) => ({
    value: String(index + 1),
    label: t("Day {number}", { number: index + 1 }),
  })),
  { value: "-1", label: t("Last day") },
];

function MonthlyFields({ plan: { monthly, date, nth, day }, put }: Part) {
  return (
    <div className="field-row field-row-narrow">
      <Select
        label={t("Repeat on")}
        allowDeselect={false}
        data={[
          { value: "date", label: t("Day of the month") },
          { value: "weekday", label: t("Weekday") },
        ]}
        value={monthly}
        onChange={(next) => put({ monthly: next as Plan["monthly"] })}
      />
      {monthly === "date" ? (
        <Select
          label={t("Day")}
          allowDeselect={false}
          data={dates}
          value={String(date)}
          onChange={(next) => put({ date: Number(next) })}
        />
      ) : (
        <>
          <Select
            label={t("Week")}
            allowDeselect={false}
            data={weekNumbers.map((weekNumber) => ({
              value: String(weekNumber),
              label: placeLabels.get(weekNumber) ?? "",
            }))}
            value={String(nth)}
            onChange={(next) => put({ nth: Number(next) })}
          />
          <Select
            label={t("Weekday")}
            allowDeselect={false}
            data={weekdays.map((label, index) => ({ value: String(index), label }))}
            value={String(day)}
            onChange={(next) => put({ day: Number(next) })}
          />
        </>
      )}
    </div>
  );
}

function Ends({ plan: { ends, until, count }, put }: Part) {
  return (
    <div className="field-row">
      <Select
        label={t("Stop repeating")}
        allowDeselect={false}
        data={[
          { value: "never", label: t("Never") },
          { value: "until", label: t("After a date") },
          { value: "count", label: t("After a number of occurrences") },
        ]}
        value={ends}
        onChange={(next) => put({ ends: next as Plan["ends"] })}
      />
      {ends === "until" && (
        <DayField label={t("Last day")} value={until} onChange={(day) => put({ until: day })} />
      )}
      {ends === "count" && (
        <NumberField
          label={t("Occurrences")}
          min={1}
          max={1000}
          allowDecimal={false}
          clampBehavior="strict"
          value={count}
          onChange={(next) => put({ count: next || 1 })}
        />
      )}
    </div>
  );
}
