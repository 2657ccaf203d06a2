/** Keyboard navigation between the rows of lists. */
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { useShortcuts } from "./shortcuts.ts";

const attribute = "data-item-focus";
const rows = `[${attribute}]`;

const keyOf = (target: EventTarget | null) =>
  target instanceof Element ? target.getAttribute(attribute) : null;
const keysHere = () => [...document.querySelectorAll(rows)].map(keyOf);
const elementOf = (key: string) =>
  document.querySelector<HTMLElement>(`[${attribute}="${CSS.escape(key)}"]`);

/**
 * Walks the rows of a page's lists with j, k and the arrow keys. Of each row, a `[data-item]`, what opens
 * it is marked with `data-item-focus`. `all`: of a list of which not all rows are drawn; null stands for
 * one that can't be gone to. `reveal` draws one. Returns which row is the current one.
 */
export function useRowKeys(
  all?: readonly (string | null)[],
  reveal?: (key: string) => void,
): { current: string | null; focus: (key: string) => void } {
  const [current, setCurrent] = useState<string | null>(null);
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const wanted = useRef<string | null>(null);

  const focus = useCallback((key: string) => {
    wanted.current = key;
    setCurrent(key);
    // Also where it was the current one already: the focus is given by what is drawn next.
    draw();
  }, []);

  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const key = keyOf(target);
      if (key !== null) setCurrent(key);
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);

  useEffect(() => {
    const key = wanted.current;
    if (key === null || all?.includes(key) === false) return;
    const element = elementOf(key);
    if (element === null && reveal) return reveal(key);
    wanted.current = null;
    element?.focus();
  });

  /** From elsewhere on the page: to where one was, or below or above what the pointer is on. */
  const walk = (step: 1 | -1) => (event: KeyboardEvent) => {
    const keys = all ?? keysHere();
    // A row that is not drawn yet gets the focus later than the next key may come.
    const from =
      wanted.current ??
      keyOf(event.target) ??
      keyOf(document.querySelector(`[data-item]:hover ${rows}`));
    const at = keys.indexOf(from ?? current);
    const key = keys[from === null ? at : at + step] ?? keys[at] ?? keys[0];
    if (key != null) focus(key);
  };
  useShortcuts({ ArrowDown: walk(1), j: walk(1), ArrowUp: walk(-1), k: walk(-1) });
  return { current, focus };
}
