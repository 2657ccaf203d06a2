import { useEffect, useRef } from "react";
import { isMac } from "./page.tsx";

/** Keys as `n`, `shift+n`, `mod+k`, or two after one another as `g m`. */
type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

let first = "";
let firstAt = 0;

/** Whether the next key is the second of two, so that it means nothing by itself. */
export const isSecondKey = (): boolean => first === "g" && Date.now() - firstAt < 1_000;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Whether something lay over the page when the key went down: it may be gone by that key itself. */
let covered = false;
const look = () => (covered = document.querySelector("[role=dialog], [role=menu]") !== null);

function nameOf({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): string {
  const mod = isMac ? metaKey : ctrlKey;
  const name = key.length === 1 ? key.toLowerCase() : key;
  return `${mod ? "mod+" : ""}${altKey ? "alt+" : ""}${name}`;
}

/** Those of everything on the page, the shell's first. */
const active = new Set<{ readonly current: Shortcuts }>();

function onKey(event: KeyboardEvent) {
  const name = nameOf(event);
  if (event.defaultPrevented || covered) return;
  if (typing(event.target) && (!name.startsWith("mod+") || name === "mod+z")) return;
  const sequence = Date.now() - firstAt < 1_000 ? `${first} ${name}` : name;
  first = name;
  firstAt = Date.now();
  const all = Object.assign({}, ...[...active].map(({ current }) => current)) as Shortcuts;
  const run = all[sequence] ?? all[name];
  if (run === undefined) return;
  event.preventDefault();
  run(event);
}
window.addEventListener("keydown", look, { capture: true });
window.addEventListener("keydown", onKey);

/** Shortcuts of what is on the page; never while somebody types, except those with a modifier that fields have no use for. */
export function useShortcuts(shortcuts: Shortcuts) {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    active.add(latest);
    return () => void active.delete(latest);
  }, []);
}
