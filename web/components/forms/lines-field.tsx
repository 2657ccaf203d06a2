/** A field for a list with several controls per entry. */
import { ActionIcon, Button, Input } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "../display/icons.tsx";
import { t, tNode } from "../../language/text.ts";

type Props<T> = {
  label: string;
  hint: string | undefined;
  /** Error about the whole list. */
  error: string | undefined;
  /** Name of one entry, such as `header`, for the button that adds one. */
  item: string;
  /** Name of this entry, for screen readers. Default: `item` with its number. */
  nameOf?: (line: T, index: number) => string;
  lines: readonly T[];
  /** Adds an entry; null if the list is full. */
  onAdd: (() => void) | null;
  onRemove: (index: number) => void;
  /** Renders the controls of an entry. */
  children: (line: T, index: number) => ReactNode;
};

/** A list whose entries are lines of controls, with buttons to add and remove them. */
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
          // The key contains the length: after a removal, all lines are new and show their values.
          <div
            className="field-line flex gap-6 items-start w-full"
            key={`${lines.length} ${index}`}
          >
            {children(line, index)}
            <ActionIcon
              aria-label={t("Remove {name}", { name: nameOf(line, index) })}
              onClick={() => onRemove(index)}
            >
              <Icon name="close" />
            </ActionIcon>
          </div>
        ))}
        {onAdd !== null && (
          <Button size="xs" onClick={onAdd}>
            {tNode("Add {item}", { item })}
          </Button>
        )}
      </div>
    </Input.Wrapper>
  );
}
