import { ActionIcon, Button, Input, TextInput } from "@mantine/core";
import { useState } from "react";
import { Icon } from "./icons.tsx";

/** HTTP headers as lines of name and value. */
export function HeadersField({
  label,
  error,
  value,
  onChange,
}: {
  label: string;
  error: string | undefined;
  value: Record<string, string>;
  onChange: (headers: Record<string, string>) => void;
}) {
  const [lines, setLines] = useState<[name: string, value: string][]>(Object.entries(value));
  function change(next: [string, string][]) {
    setLines(next);
    onChange(Object.fromEntries(next.filter(([name, text]) => name !== "" || text !== "")));
  }
  return (
    <Input.Wrapper label={label} error={error} labelElement="div">
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
            <TextInput
              aria-label={`Value of ${name || "the header"}`}
              value={text}
              onChange={({ currentTarget }) =>
                change(lines.with(index, [name, currentTarget.value]))
              }
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
          Add a header
        </Button>
      </div>
    </Input.Wrapper>
  );
}
