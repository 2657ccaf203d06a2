import { useState } from "react";
import { CopyLine } from "./copy-line.tsx";
import { PasswordField } from "./password-field.tsx";

type Props = {
  label: string;
  hint?: string | undefined;
  placeholder?: string | undefined;
  error: string | undefined;
  /** What is stored has to be entered again, so an empty field does not keep it. */
  isAsked?: boolean;
  /** Undefined keeps what is stored, null clears it. */
  value: string | null | undefined;
  onChange: (value: string | null | undefined) => void;
  isSet: boolean;
  mayBeNone: boolean;
  /** Makes one up, where both sides may agree on any. */
  generate?: (() => string) | undefined;
};

/** A secret: never shown, kept when left empty, and cleared only on purpose. */
export function SecretField({
  label,
  hint,
  placeholder,
  error,
  value,
  onChange,
  isSet,
  isAsked = false,
  mayBeNone,
  generate,
}: Props) {
  const [generated, setGenerated] = useState<string | null>(null);
  const clears = isSet && value === null;
  const nothing = isSet ? undefined : mayBeNone ? null : "";
  return (
    <div className="secret-field">
      <PasswordField
        label={label}
        description={hint}
        error={error}
        autoComplete="off"
        placeholder={
          clears
            ? "Will be cleared when you save"
            : isAsked
              ? "Enter it again for the new address"
              : isSet
                ? "Set; leave empty to keep it"
                : placeholder
        }
        value={value ?? ""}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === "" ? nothing : currentTarget.value)
        }
      />
      {generated !== null && generated === value && (
        <>
          <CopyLine label={label} text={generated} />
          <small>Copy it for the receiver now. It is not shown again after saving.</small>
        </>
      )}
      {generate !== undefined && (
        <button
          type="button"
          className="plain-button link"
          onClick={() => {
            const made = generate();
            setGenerated(made);
            onChange(made);
          }}
        >
          Generate
        </button>
      )}
      {isSet && mayBeNone && (
        <button
          type="button"
          className="plain-button link"
          onClick={() => onChange(clears ? undefined : null)}
        >
          {clears ? "Keep it" : "Clear"}
        </button>
      )}
    </div>
  );
}
