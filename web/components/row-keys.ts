/** Keyboard navigation between rows of lists, also of lists that render only visible rows. */
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { useShortcuts } from "./shortcuts.ts";

const attribute = "data-item-focus";
const rowSelector = `[${attribute}]`;

const rowKeyOf = (target: EventTarget | null) =>
  target instanceof Element ? target.getAttribute(attribute) : null;
const listKeysOnPage = () => [...document.querySelectorAll(rowSelector)].map(rowKeyOf);
const findElement = (key: string) =>
  document.querySelector<HTMLElement>(`[${attribute}="${CSS.escape(key)}"]`);

/** The main control of the first record below an element. Skips the headers of groups. */
export const findFirstRowBelow = (element: Element): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>(`a${rowSelector}`)].find(
    (row) => element.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING,
  );

/**
 * Moves the focus between rows with j, k and the arrow keys. Each row has `data-item`, and its main
 * control has `data-item-focus`. A list that renders only visible rows passes `all` its keys (null
 * for a row without focus) and `reveal`, which renders a row. Returns the key of the current row.
 */
export function useRowKeys(
  all?: readonly (string | null)[],
  reveal?: (key: string) => void,
): { current: string | null; focus: (key: string) => void } {
  const [current, setCurrent] = useState<string | null>(null);
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const nextFocus = useRef<string | null>(null);

  const focus = useCallback((key: string) => {
    nextFocus.current = key;
    setCurrent(key);
    // Renders even if the key is unchanged: the effect below sets the focus.
    draw();
  }, []);

  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const key = rowKeyOf(target);
      if (key !== null) setCurrent(key);
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);

  useEffect(() => {
    const key = nextFocus.current;
    if (key === null || all?.includes(key) === false) return;
    const element = findElement(key);
    if (element === null && reveal) return reveal(key);
    nextFocus.current = null;
    element?.focus();
  });

  /** Starts at the focused row, else at the row under the pointer, else at the last current row. */
  const walkRows = (step: 1 | -1) => (event: KeyboardEvent) => {
    const keys = all ?? listKeysOnPage();
    // The row of the previous key press may still wait to be rendered and focused.
    const from =
      nextFocus.current ??
      rowKeyOf(event.target) ??
      rowKeyOf(document.querySelector(`[data-item]:hover ${rowSelector}`));
    const at = keys.indexOf(from ?? current);
    const key = keys[from === null ? at : at + step] ?? keys[at] ?? keys[0];
    if (key != null) focus(key);
  };
  useShortcuts({ ArrowDown: walkRows(1), j: walkRows(1), ArrowUp: walkRows(-1), k: walkRows(-1) });
  return { current, focus };
}
