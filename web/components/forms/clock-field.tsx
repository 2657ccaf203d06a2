import { TextInput } from "@mantine/core";
import { completeClock } from "./date-time-rules.ts";

/** A time of day. Browsers would show a field of type `time` by their own clock, not by the person's. */
export const ClockField = ({
  value,
  onChange,
  ...props
}: {
  label?: string;
  "aria-label"?: string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
}) => (
  <TextInput
    {...props}
    placeholder="09:00"
    autoComplete="off"
    maxLength={5}
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    onBlur={() => onChange(completeClock(value))}
  />
);
