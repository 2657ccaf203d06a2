import { DateTimeField } from "../../../components/forms/date-time-field.tsx";
import { toClock, toInstantText } from "../../../components/forms/date-time-rules.ts";
import { useZone } from "../../../components/display/time.tsx";
import { t } from "../../../language/text.ts";

const examples = [t("in 1 h"), t("in 8 h"), t("tomorrow 09:00"), t("in 7 d")];

/** Field for the end of a manual status. The server rejects a text that is not understood. */
export function ManualEnd({
  label,
  value,
  onChange,
  error,
}: {
  label: string;
  value: string | null;
  onChange: (until: string | null) => void;
  error: string | undefined;
}) {
  const zone = useZone();
  const at = Date.parse(value ?? "");
  return (
    <DateTimeField
      label={label}
      zone={zone}
      choices={examples}
      placeholder={t("No end")}
      openOnFocus={false}
      value={value === null || Number.isNaN(at) ? (value ?? "") : toClock(at, zone)}
      onChange={(local) => onChange(local === "" ? null : (toInstantText(local, zone) ?? local))}
      error={error}
    />
  );
}
