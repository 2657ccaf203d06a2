/** A date, with or without a time, to type or choose: `now`, `in 2 h`, `until tomorrow 09:00`, `26 Nov 19:00`. */
import { Autocomplete, type AutocompleteProps } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { toInstant } from "../../../src/core/time/time-zones.ts";
import { formatTimestamp } from "../../../src/core/time/clock.ts";
import { formatUnbrokenDuration, Time, useNow, useZone } from "../display/time.tsx";
import {
  formatDay,
  formatLocal,
  parseDateTime,
  parseDay,
  parseLocal,
  parsePastTime,
  toClock,
} from "./date-time-rules.ts";
import { t } from "../../language/text.ts";

/** Choices for the start of something, for its end, and for days of the past and of the future. */
const starts = [t("now"), t("in 1 h"), t("tomorrow 09:00"), t("Monday 09:00")];
const examples = [
  t("for 30 min"),
  t("for 1 h"),
  t("for 2 h"),
  t("for 4 h"),
  t("for 1 d"),
  t("until tomorrow 09:00"),
];
const pastDays = [t("today"), t("yesterday"), t("7 days ago"), t("30 days ago")];
const pastTimes = [t("15 min ago"), t("1 h ago"), t("6 h ago"), t("1 d ago"), t("yesterday 09:00")];
const futureDays = [t("in 4 weeks"), t("in 90 days"), t("in 365 days")];

type WrittenTime = {
  value: string;
  choices: readonly string[];
  /** The text of a value; another text unchanged. */
  format: (value: string) => string;
  /** The value of a typed text; null if it is not understood. */
  parse: (text: string) => string | null;
  /** Receives a text that is not understood unchanged. */
  onChange: (value: string) => void;
};

/** The properties of a field in which a value is typed or chosen as text. */
function useWritten({ value, choices, format, parse, onChange }: WrittenTime) {
  const [typed, setTyped] = useState<string | null>(null);
  const chosen = useRef<string | null>(null);
  const formattedValue = format(value);
  return {
    data: choices as string[],
    // The choices stay in sight until something else is typed.
    filter: (({ options, search }) =>
      options.filter(
        (option) =>
          "value" in option &&
          ((parse(value) !== null && search === formattedValue) ||
            option.value.toLowerCase().includes(search.toLowerCase())),
      )) satisfies AutocompleteProps["filter"],
    autoComplete: "off",
    value: typed ?? formattedValue,
    // A chosen text is replaced by its meaning at once, a typed one when the field is left.
    onChange: (text: string) => {
      setTyped(text === chosen.current ? null : text);
      chosen.current = null;
      onChange(parse(text) ?? text);
    },
    onOptionSubmit: (text: string) => (chosen.current = text),
    onFocus: ({ currentTarget }: React.FocusEvent<HTMLInputElement>) => currentTarget.select(),
    onBlur: () => setTyped(null),
  };
}

type FieldProps = {
  label: string;
  value: string;
  onChange: (local: string) => void;
  error?: ReactNode;
};

/**
 * The value is local to `zone`, such as `2026-11-22T02:00`. A text that is not understood is passed on unchanged, so
 * that the server rejects it at its field.
 */
export function DateTimeField({
  label,
  zone,
  value,
  onChange,
  from,
  choices = from === undefined ? starts : examples,
  placeholder = t("26 Nov 19:00"),
  openOnFocus = true,
  error,
}: FieldProps & {
  zone: string;
  /** The start of the period that this field ends, local like the value. */
  from?: string;
  choices?: readonly string[];
  /** What an empty field means, if it can stay empty. */
  placeholder?: string;
  /** False for the first field of a small dialog, whose buttons the open choices would cover. */
  openOnFocus?: boolean;
}) {
  const parse = (text: string) => parseDateTime(text, { now: Date.now(), zone, from });
  const field = useWritten({ value, choices, format: formatLocal, parse, onChange });
  return (
    <Autocomplete
      {...field}
      label={label}
      description={<Meaning zone={zone} value={value} from={from} />}
      inputWrapperOrder={["label", "input", "description", "error"]}
      placeholder={placeholder}
      openOnFocus={openOnFocus}
      error={error}
    />
  );
}

/** A day of the future, such as `2026-11-22`. A text that is not understood is passed on unchanged. */
export function DayField({ label, value, onChange, error }: FieldProps) {
  const zone = useZone();
  const parse = (text: string) => parseDay(text, { now: Date.now(), zone });
  const field = useWritten({ value, choices: futureDays, format: formatDay, parse, onChange });
  return (
    <Autocomplete
      {...field}
      label={label}
      description={t("Such as 26 Nov, Monday, or in 4 weeks.")}
      inputWrapperOrder={["label", "input", "description", "error"]}
      placeholder={t("26 Nov 2026")}
      error={error}
    />
  );
}

/** Filter for a past day. Calls `onChange` only with a valid day, or with an empty text. */
export function DayChip({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string) => void;
}) {
  const zone = useZone();
  const parse = (text: string) => parseDay(text, { now: Date.now(), zone });
  return (
    <ChipField
      label={label}
      placeholder={t("Any day")}
      value={value ?? ""}
      choices={pastDays}
      format={formatDay}
      parse={parse}
      onChange={(day) => (day === "" || parse(day) === day) && onChange(day)}
    />
  );
}

/** A time of the past in a bar. Reports only times in Unix milliseconds. */
export function PastTimeChip({
  label,
  at,
  onChange,
}: {
  label: string;
  at: number;
  onChange: (at: number) => void;
}) {
  const zone = useZone();
  const parse = (text: string) => parsePastTime(text, { now: Date.now(), zone });
  return (
    <ChipField
      label={label}
      placeholder={t("26 Nov 15:05")}
      value={toClock(at, zone)}
      choices={pastTimes}
      format={formatLocal}
      parse={parse}
      onChange={(local) => parse(local) === local && onChange(toInstant(parseLocal(local), zone))}
    />
  );
}

function ChipField({
  label,
  placeholder,
  ...written
}: WrittenTime & { label: string; placeholder: string }) {
  const field = useWritten(written);
  return (
    <label className={`chip day-field ${written.value === "" ? "" : "chip-on"}`}>
      <span>{label}</span>
      <Autocomplete
        {...field}
        variant="unstyled"
        size="xs"
        placeholder={placeholder}
        comboboxProps={{ width: 160, position: "bottom-start" }}
      />
    </label>
  );
}

/** Interprets the typed text: shows the duration, the distance from now, or examples. */
function Meaning({
  zone,
  value,
  from = "",
}: {
  zone: string;
  value: string;
  from?: string | undefined;
}) {
  const now = useNow();
  const local = parseLocal(value);
  if (Number.isNaN(local)) return t("Such as 26 Nov 19:00, tomorrow 09:00, in 2 h, or for 2 h.");
  const at = toInstant(local, zone);
  const start = parseLocal(from);
  const seconds = Number.isNaN(start) ? 0 : (at - toInstant(start, zone)) / 1_000;
  if (seconds > 0)
    return t("{duration} after the start", {
      duration: formatUnbrokenDuration(Math.round(seconds)),
    });
  const isPast = at < now;
  return <Time at={formatTimestamp(at)} as={isPast ? "ago" : "until"} />;
}
