import { TextInput } from "@mantine/core";
import { useState } from "react";
import { capitalized } from "../../../src/core/text/words.ts";
import { CopyLine } from "../copy.tsx";
import { LinesField } from "./lines-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { placeholderOf, type StoredSecrets } from "./stored-secrets.ts";

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

type FieldProps<V> = {
  name: string;
  label: string;
  error: string | undefined;
  value: V;
  onChange: (value: V) => void;
  secrets: StoredSecrets;
};

/** A value that is stored and not shown is null. */
type Headers = Record<string, string | null>;

/** HTTP headers and the like as lines of name and value; a stored value is kept when it is left empty. */
export function HeadersField({
  name: field,
  label,
  hint,
  item,
  isOpen,
  error,
  value,
  onChange,
  secrets,
}: FieldProps<Headers> & {
  hint: string | undefined;
  /** What one of them is called. */
  item: string;
  /** Whether the values are for all to see. */
  isOpen: boolean;
}) {
  const ValueField = isOpen ? TextInput : PasswordField;
  const [lines, setLines] = useState<[name: string, value: string | null][]>(Object.entries(value));
  function change(next: [string, string | null][]) {
    setLines(next);
    onChange(Object.fromEntries(next.filter(([name, text]) => name !== "" || text)));
  }
  const called = ([name]: readonly [string, ...unknown[]]) => name || `the ${item}`;
  const issues = lines.map(([name]) => secrets.errorOf(`${field}.${name}`));
  return (
    <LinesField
      label={label}
      hint={hint}
      error={issues.some(Boolean) ? undefined : error}
      item={item}
      nameOf={called}
      lines={lines}
      onAdd={() => setLines([...lines, ["", ""]])}
      onRemove={(index) => change(lines.toSpliced(index, 1))}
    >
      {([name, text], index) => (
        <>
          <TextInput
            aria-label={`${capitalized(item)} name`}
            placeholder={item === "header" ? "X-Team" : "token"}
            value={name}
            onChange={({ currentTarget }) => change(lines.with(index, [currentTarget.value, text]))}
          />
          <ValueField
            aria-label={`Value of ${called([name])}`}
            autoComplete="off"
            placeholder={
              text === null ? (placeholderOf(secrets, `${field}.${name}`) ?? "Enter the value") : ""
            }
            value={text ?? ""}
            onChange={({ currentTarget: { value: typed } }) =>
              change(lines.with(index, [name, typed === "" ? emptied(name) : typed]))
            }
            error={issues[index]}
          />
        </>
      )}
    </LinesField>
  );

  function emptied(name: string) {
    return secrets.isSet(`${field}.${name}`) ? null : "";
  }
}
