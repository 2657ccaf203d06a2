/** A date and time to type or choose: `now`, `in 2 h`, `until tomorrow 09:00`, `26 Nov 19:00`. */
import { Autocomplete } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { toInstant } from "../../../src/core/time/time-zones.ts";
import { formatTimestamp } from "../../../src/core/time/clock.ts";
import { durationInWords, Time, useNow } from "../display/time.tsx";
import { formatLocal, parseDateTime, parseLocal } from "./date-time-rules.ts";

/** Choices for the start of something, and for its end. */
const starts = ["now", "in 1 h", "tomorrow 09:00", "Monday 09:00"];
const ends = ["for 30 min", "for 1 h", "for 2 h", "for 4 h", "for 1 d", "until tomorrow 09:00"];

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
  error,
}: {
  label: string;
  zone: string;
  value: string;
  onChange: (local: string) => void;
  /** The start of the period that this field ends, local like the value. */
  from?: string;
  error?: ReactNode;
}) {
  const now = useNow();
  const [typed, setTyped] = useState<string | null>(null);
  const chosen = useRef<string | null>(null);
  const isKnown = !Number.isNaN(parseLocal(value));
  const written = formatLocal(value);
  const read = (text: string) => parseDateTime(text, { now: Date.now(), zone, from });
  // A chosen text is replaced by its meaning at once, a typed one when the field is left.
  const change = (text: string) => {
    setTyped(text === chosen.current ? null : text);
    chosen.current = null;
    onChange(read(text) ?? text);
  };
  return (
    <Autocomplete
      label={label}
      description={<Meaning zone={zone} value={value} now={now} from={from} />}
      inputWrapperOrder={["label", "input", "description", "error"]}
      placeholder="26 Nov 19:00"
      data={from === undefined ? starts : ends}
      // The choices stay in sight until something else is typed.
      filter={({ options, search }) =>
        options.filter(
          (option) =>
            "value" in option &&
            ((isKnown && search === written) ||
              option.value.toLowerCase().includes(search.toLowerCase())),
        )
      }
      autoComplete="off"
      value={typed ?? written}
      onChange={change}
      onOptionSubmit={(text) => (chosen.current = text)}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onBlur={() => setTyped(null)}
      error={error}
    />
  );
}

/** What the typed text means: its length, its distance from now, or examples of what can be typed. */
function Meaning({
  zone,
  value,
  now,
  from = "",
}: {
  zone: string;
  value: string;
  now: number;
  from?: string | undefined;
}) {
  const local = parseLocal(value);
  if (Number.isNaN(local)) return "Such as 26 Nov 19:00, tomorrow 09:00, in 2 h, or for 2 h.";
  const at = toInstant(local, zone);
  const start = parseLocal(from);
  const seconds = Number.isNaN(start) ? 0 : (at - toInstant(start, zone)) / 1_000;
  if (seconds > 0) return `${durationInWords(Math.round(seconds))} after the start`;
  const isPast = at < now;
  return <Time at={formatTimestamp(at)} as={isPast ? "ago" : "until"} />;
}
