import { TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { parsePercent, toPercent } from "./percent.ts";
import { t } from "../../language/text.ts";

type Props = {
  value: number | null;
  onChange: (share: number | null) => void;
  error?: ReactNode;
};

const parseTarget = (text: string) => (text.trim() === "" ? null : parsePercent(text));
const formatTarget = (share: number | null) => (share === null ? "" : String(toPercent(share)));

/** Edits the uptime target of a group or a page, in percent. */
export function SlaTargetField({ value, onChange, error }: Props) {
  const [typed, setTyped] = useState("");
  return (
    <TextInput
      label={t("SLA target in percent")}
      description={t(
        "The uptime that reports compare with, such as 99.9. Leave it empty for the target of the organization.",
      )}
      inputMode="decimal"
      value={parseTarget(typed) === value ? typed : formatTarget(value)}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(parseTarget(currentTarget.value));
      }}
      error={error}
    />
  );
}
