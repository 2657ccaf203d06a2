import { compareNumbers } from "../../../src/monitoring/maintenance/recurrence-rules.ts";
import { weekdays } from "./weekdays.ts";

/** Chooses days of the week, counted from Monday. At least one day stays selected. */
export function WeekdayButtons({
  label,
  days,
  onChange,
}: {
  label: string;
  days: readonly number[];
  onChange: (days: number[]) => void;
}) {
  const toggle = (day: number) =>
    days.includes(day) ? days.filter((one) => one !== day) : [...days, day].sort(compareNumbers);
  return (
    <div className="weekdays" role="group" aria-label={label}>
      {weekdays.map((name, day) => (
        <button
          key={name}
          type="button"
          aria-pressed={days.includes(day)}
          onClick={() => toggle(day).length > 0 && onChange(toggle(day))}
        >
          <span aria-hidden="true">{name.slice(0, 2)}</span>
          <span className="visually-hidden">{name}</span>
        </button>
      ))}
    </div>
  );
}
