/** A day to choose, next to other filters. */
export const DayField = ({
  label,
  value,
  max,
  onChange,
}: {
  label: string;
  value: string | undefined;
  /** The last day that can be chosen, such as `2026-11-22`. */
  max?: string;
  onChange: (day: string) => void;
}) => (
  <label className={`chip day-field ${value === undefined ? "" : "chip-on"}`}>
    <span>{label}</span>
    <input
      type="date"
      value={value ?? ""}
      max={max}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </label>
);
