import { ActionIcon, Button, Input, TextInput } from "@mantine/core";
import { useState } from "react";
import { Icon } from "./icons.tsx";
import { PasswordField } from "./password-field.tsx";
import { placeholderOf, type StoredSecrets } from "./stored-secrets.ts";

/** A value that is stored and not shown is null. */
type Headers = Record<string, string | null>;

/** HTTP headers as lines of name and value; a stored value is kept when it is left empty. */
export function HeadersField({
  name: field,
  label,
  error,
  value,
  onChange,
  secrets,
}: {
  name: string;
  label: string;
  error: string | undefined;
  value: Headers;
  onChange: (headers: Headers) => void;
  secrets: StoredSecrets;
}) {
  const [lines, setLines] = useState<[name: string, value: string | null][]>(Object.entries(value));
  function change(next: [string, string | null][]) {
    setLines(next);
    onChange(Object.fromEntries(next.filter(([name, text]) => name !== "" || text)));
  }
  const issues = lines.map(([name]) => secrets.errorOf(`${field}.${name}`));
  return (
    <Input.Wrapper
      label={label}
      error={issues.some(Boolean) ? undefined : error}
      labelElement="div"
    >
      <div className="headers">
        {lines.map(([name, text], index) => (
          <div className="headers-line" key={index}>
            <TextInput
              aria-label="Header name"
              placeholder="X-Team"
              value={name}
              onChange={({ currentTarget }) =>
                change(lines.with(index, [currentTarget.value, text]))
              }
            />
            <PasswordField
              aria-label={`Value of ${name || "the header"}`}
              autoComplete="off"
              placeholder={
                text === null
                  ? (placeholderOf(secrets, `${field}.${name}`) ?? "Enter the value")
                  : ""
              }
              value={text ?? ""}
              onChange={({ currentTarget: { value: typed } }) =>
                change(lines.with(index, [name, typed === "" ? emptied(name) : typed]))
              }
              error={issues[index]}
            />
            <ActionIcon
              aria-label={`Remove ${name || "the header"}`}
              onClick={() => change(lines.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </ActionIcon>
          </div>
        ))}
        <Button size="xs" onClick={() => setLines([...lines, ["", ""]])}>
          Add header
        </Button>
      </div>
    </Input.Wrapper>
  );

  function emptied(name: string) {
    return secrets.isSet(`${field}.${name}`) ? null : "";
  }
}
