/** Fields for secrets and for headers, whose stored values are never displayed. */
import { TextInput } from "@mantine/core";
import { useState } from "react";
import { capitalize } from "../../../src/core/text/formatting.ts";
import { CopyLine } from "../copy.tsx";
import { LinesField } from "./lines-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { placeholderOf, type StoredSecrets } from "./stored-secrets.ts";
import { t } from "../../language/text.ts";

type Props = {
  label: string;
  hint?: string | undefined;
  placeholder?: string | undefined;
  error: string | undefined;
  /** Whether the stored secret must be entered again. An empty field would not preserve it. */
  needsReentry?: boolean;
  /** Undefined leaves the stored secret unchanged, null clears it. */
  value: string | null | undefined;
  onChange: (value: string | null | undefined) => void;
  isSet: boolean;
  mayBeNone: boolean;
  /** Generates a secret, for services that accept any. */
  generate?: (() => string) | undefined;
};

/** Field of a secret. The stored value is never displayed; an empty field leaves it unchanged. */
export function SecretField({
  label,
  hint,
  placeholder,
  error,
  value,
  onChange,
  isSet,
  needsReentry = false,
  mayBeNone,
  generate,
}: Props) {
  const [generated, setGenerated] = useState<string | null>(null);
  const clears = isSet && value === null;
  const emptyValue = isSet ? undefined : mayBeNone ? null : "";
  return (
    <div className="secret-field">
      <PasswordField
        label={label}
        description={hint}
        error={error}
        autoComplete="off"
        placeholder={describePlaceholder(clears, needsReentry, isSet) ?? placeholder}
        value={value ?? ""}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === "" ? emptyValue : currentTarget.value)
        }
      />
      {generated !== null && generated === value && (
        <>
          <CopyLine label={label} text={generated} />
          <small>{t("Copy it for the receiver now. It is not shown again after saving.")}</small>
        </>
      )}
      {generate !== undefined && (
        <button
          type="button"
          className="plain-button link"
          onClick={() => {
            const secret = generate();
            setGenerated(secret);
            onChange(secret);
          }}
        >
          {t("Generate")}
        </button>
      )}
      {isSet && mayBeNone && (
        <button
          type="button"
          className="plain-button link"
          onClick={() => onChange(clears ? undefined : null)}
        >
          {clears ? t("Keep it") : t("Clear")}
        </button>
      )}
    </div>
  );
}

function describePlaceholder(clears: boolean, needsReentry: boolean, isSet: boolean) {
  if (clears) return t("Will be cleared when you save");
  if (needsReentry) return t("Enter it again for the new address");
  return isSet ? t("Set; leave empty to keep it") : undefined;
}

type FieldProps<V> = {
  name: string;
  label: string;
  error: string | undefined;
  value: V;
  onChange: (value: V) => void;
  secrets: StoredSecrets;
};

/** Values by name. Null is a stored value, which is not displayed. */
type Headers = Record<string, string | null>;

type HeadersProps = FieldProps<Headers> & {
  hint: string | undefined;
  /** Name of one entry, such as `header`. */
  item: string;
  /** Whether the values are visible. */
  isOpen: boolean;
};

/**
 * Lines of name and value, such as HTTP headers. An empty value leaves the stored one unchanged.
 */
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
}: HeadersProps) {
  const ValueField = isOpen ? TextInput : PasswordField;
  const [lines, setLines] = useState<[name: string, value: string | null][]>(Object.entries(value));
  function change(next: [string, string | null][]) {
    setLines(next);
    onChange(Object.fromEntries(next.filter(([name, text]) => name !== "" || text)));
  }
  const describeLine = ([name]: readonly [string, ...unknown[]]) =>
    name || t("the {item}", { item });
  const buildPath = (name: string) => `${field}.${name}`;
  const issues = lines.map(([name]) => secrets.errorOf(buildPath(name)));
  const emptyValueOf = (name: string) => (secrets.isSet(buildPath(name)) ? null : "");
  return (
    <LinesField
      label={label}
      hint={hint}
      error={issues.some(Boolean) ? undefined : error}
      item={item}
      nameOf={describeLine}
      lines={lines}
      onAdd={() => setLines([...lines, ["", ""]])}
      onRemove={(index) => change(lines.toSpliced(index, 1))}
    >
      {([name, text], index) => (
        <>
          <TextInput
            aria-label={t("{item} name", { item: capitalize(item) })}
            placeholder={item === t("header") ? "X-Team" : "token"}
            value={name}
            onChange={({ currentTarget }) => change(lines.with(index, [currentTarget.value, text]))}
          />
          <ValueField
            aria-label={t("Value of {line}", { line: describeLine([name]) })}
            autoComplete="off"
            placeholder={
              text === null ? (placeholderOf(secrets, buildPath(name)) ?? t("Enter the value")) : ""
            }
            value={text ?? ""}
            onChange={({ currentTarget: { value: typed } }) =>
              change(lines.with(index, [name, typed === "" ? emptyValueOf(name) : typed]))
            }
            error={issues[index]}
          />
        </>
      )}
    </LinesField>
  );
}
