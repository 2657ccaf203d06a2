import { PasswordInput } from "@mantine/core";

type Props = {
  label: string;
  hint?: string | undefined;
  placeholder?: string | undefined;
  error: string | undefined;
  /** Undefined keeps what is stored, null clears it. */
  value: string | null | undefined;
  onChange: (value: string | null | undefined) => void;
  isSet: boolean;
  mayBeNone: boolean;
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
  mayBeNone,
}: Props) {
  const clears = isSet && value === null;
  const nothing = isSet ? undefined : mayBeNone ? null : "";
  return (
    <div className="secret-field">
      <PasswordInput
        label={label}
        description={hint}
        error={error}
        autoComplete="off"
        placeholder={
          clears ? "Cleared when you save" : isSet ? "Set; leave empty to keep it" : placeholder
        }
        value={value ?? ""}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === "" ? nothing : currentTarget.value)
        }
      />
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
