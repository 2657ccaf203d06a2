/** Texts of the admin page with elements in them. See `src/core/text/texts.ts`. */
import { createElement, Fragment, type ReactNode } from "react";
import { placeholders, type Values } from "../../src/core/text/texts.ts";

export { t, tCount } from "../../src/core/text/texts.ts";

/** Like `t`, with elements as values. */
export const tNode = <const Text extends string>(
  text: Text,
  ...[values]: Values<Text, ReactNode>
): ReactNode =>
  createElement(
    Fragment,
    null,
    ...text
      .split(placeholders)
      .map((part, index) =>
        index % 2 === 0 ? part : (values as Record<string, ReactNode> | undefined)?.[part],
      ),
  );
