import { ActionIcon, Button, Input } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "../display/icons.tsx";

type Props<T> = {
  label: string;
  hint: string | undefined;
  /** Of the list as a whole. */
  error: string | undefined;
  /** What one of them is called. */
  item: string;
  /** What this one is called. */
  nameOf?: (line: T, index: number) => string;
  lines: readonly T[];
  /** Null where no more fit. */
  onAdd: (() => void) | null;
  onRemove: (index: number) => void;
  /** The controls of a line. */
  children: (line: T, index: number) => ReactNode;
};

/** A list of which each entry is a line of controls. */
export function LinesField<T>({
  label,
  hint,
  error,
  item,
  nameOf = (_, index) => `${item} ${index + 1}`,
  lines,
  onAdd,
  onRemove,
  children,
}: Props<T>) {
  return (
    <Input.Wrapper label={label} description={hint} error={error} labelElement="div">
      <div className="flex flex-col items-start gap-8 mt-6" role="group" aria-label={label}>
        {lines.map((line, index) => (
          // One that goes takes what was typed into it along.
          <div
            className="field-line flex gap-6 items-start w-full"
            key={`${lines.length} ${index}`}
          >
            {children(line, index)}
            <ActionIcon
              aria-label={`Remove ${nameOf(line, index)}`}
              onClick={() => onRemove(index)}
            >
              <Icon name="close" />
            </ActionIcon>
          </div>
        ))}
        {onAdd !== null && (
          <Button size="xs" onClick={onAdd}>
            Add {item}
          </Button>
        )}
      </div>
    </Input.Wrapper>
  );
}
