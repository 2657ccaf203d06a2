import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { copy } from "./curl-button.tsx";
import { Icon } from "./icons.tsx";

/** A secret that is told this one time, with a way to take it along. */
export function ShownOnce({
  label,
  text,
  children,
}: {
  /** `API key`. */
  label: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <div className="once">
      <p className="once-words">{children}</p>
      <div className="once-line">
        <code tabIndex={0} aria-label={label}>
          {text}
        </code>
        <Button
          variant="filled"
          data-autofocus
          leftSection={<Icon name="copy" size={15} />}
          onClick={() => void copy(text, label)}
        >
          Copy
        </Button>
      </div>
    </div>
  );
}
