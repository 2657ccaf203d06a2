import { Textarea } from "@mantine/core";
import { useRef } from "react";
import { flushSync } from "react-dom";
import { placeholders } from "../../../src/alerting/channels/kinds-schema.ts";

type Props = {
  value: string | null;
  onChange: (template: string | null) => void;
  error: string | undefined;
};

/** The text of alerts in one's own words; placeholders are put in where the cursor stands. */
export function TemplateField({ value, onChange, error }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = value ?? "";

  function insert(name: string) {
    const { selectionStart: from = text.length, selectionEnd: to = text.length } =
      area.current ?? {};
    const put = `{{${name}}}`;
    flushSync(() => onChange(text.slice(0, from) + put + text.slice(to)));
    area.current?.focus();
    area.current?.setSelectionRange(from + put.length, from + put.length);
  }

  return (
    <div>
      <Textarea
        ref={area}
        label="Alert text"
        description="For alerts about one monitor. Leave empty for the standard text."
        placeholder="{{monitor}} is {{status}}: {{message}}"
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
      />
      <div className="placeholders" role="group" aria-label="Insert a placeholder">
        {placeholders.map((name) => (
          <button key={name} type="button" onClick={() => insert(name)}>
            {name}
          </button>
        ))}
      </div>
    </div>
  );
}
