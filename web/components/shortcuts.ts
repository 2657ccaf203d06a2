/** Keyboard shortcuts of the mounted components, and the setting that turns single keys off. */
import { useEffect, useRef } from "react";
import { createStore } from "../data/store.ts";
import { isDialogOpen } from "./open-dialog.ts";
import { isMac } from "./page.tsx";

/** Handlers by key: `n`, `mod+k` (Ctrl or ⌘), `alt+n`, or a sequence such as `g m`. */
type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const singleKeysItem = "signalbox.single-keys";
const singleKeysStore = createStore(localStorage.getItem(singleKeysItem) !== "off");

/**
 * Whether shortcuts of letters and characters apply in this browser. Speech input types such keys
 * by mistake, so people can turn them off (WCAG 2.1.4). Keys with Ctrl or ⌘ always apply.
 */
export const singleKeys = {
  use: singleKeysStore.use,
  set(areOn: boolean) {
    singleKeysStore.set(areOn);
    if (areOn) localStorage.removeItem(singleKeysItem);
    else localStorage.setItem(singleKeysItem, "off");
  },
  /** Whether this key is a character that the person turned off as a shortcut. */
  isOff: ({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">) =>
    !singleKeysStore.get() && !ctrlKey && !metaKey && key.length === 1 && key !== " ",
};

let pendingKey = "";
let firstAt = 0;

/** Whether the next key completes a sequence that started with `g`, within one second. */
export const isSecondKey = (): boolean => pendingKey === "g" && Date.now() - firstAt < 1_000;

const isTypingTarget = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Whether a dialog or menu was open at key down, or a dialog was about to open: people start typing
 * before its script has loaded. The same key can close it before `handleKey` runs.
 */
let isCovered = false;
const updateCovered = () =>
  (isCovered = isDialogOpen() || document.querySelector("[role=dialog], [role=menu]") !== null);

function keyNameOf({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): string {
  const mod = isMac ? metaKey : ctrlKey;
  const name = key.length === 1 ? key.toLowerCase() : key;
  return `${mod ? "mod+" : ""}${altKey ? "alt+" : ""}${name}`;
}

/** Shortcuts of all mounted components. Later ones override the shell's. */
const active = new Set<{ readonly current: Shortcuts }>();

function handleKey(event: KeyboardEvent) {
  const name = keyNameOf(event);
  if (event.defaultPrevented || isCovered || singleKeys.isOff(event)) return;
  if (isTypingTarget(event.target) && (!name.startsWith("mod+") || name === "mod+z")) return;
  const sequence = Date.now() - firstAt < 1_000 ? `${pendingKey} ${name}` : name;
  pendingKey = name;
  firstAt = Date.now();
  const all = Object.assign({}, ...[...active].map(({ current }) => current)) as Shortcuts;
  const run = all[sequence] ?? all[name];
  if (run === undefined) return;
  event.preventDefault();
  run(event);
}
window.addEventListener("keydown", updateCovered, { capture: true });
window.addEventListener("keydown", handleKey);

/**
 * Registers shortcuts while a component is mounted. In text fields only shortcuts with Ctrl or ⌘
 * apply, except undo (`mod+z`).
 */
export function useShortcuts(shortcuts: Shortcuts) {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    active.add(latest);
    return () => void active.delete(latest);
  }, []);
}
