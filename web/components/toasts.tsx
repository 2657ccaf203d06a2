/** Toasts, and the ten seconds in which an action can be undone. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { createStore } from "../data/store.ts";
import { retryUntilConnected } from "../data/client.ts";
import { registerUndoable } from "../data/undoable.ts";
import { Icon } from "./display/icons.tsx";
import { t } from "../language/text.ts";

type Toast = {
  id: number;
  text: string;
  isError: boolean;
  /** Display time in milliseconds. */
  life: number;
  action?: { label: string; do: () => void };
};

const isSame = (one: Omit<Toast, "id">, other: Omit<Toast, "id">) =>
  one.text === other.text && one.isError === other.isError && one.action === undefined;

const toasts = createStore<readonly Toast[]>([]);
let lastToastId = 0;

function showToast(toast: Omit<Toast, "id">): () => void {
  const id = ++lastToastId;
  const remove = () => toasts.set(toasts.get().filter((other) => other.id !== id));
  // Replace an equal toast instead of repeating it.
  const others = toasts.get().filter((other) => toast.action || !isSame(other, toast));
  toasts.set([...others.slice(-3), { ...toast, id }]);
  setTimeout(remove, toast.life);
  return remove;
}

/** Confirms an action for 4 s. */
export const notify = (text: string) => showToast({ text, isError: false, life: 4_000 });

/** Reports an error for 8 s, if no form field can show it. */
export const notifyError = (error: unknown) =>
  showToast({
    text: error instanceof Error ? error.message : String(error),
    isError: true,
    life: 8_000,
  });

/** The action of a button that takes some time. Errors appear as a toast. */
export function useAction(act: () => Promise<unknown>) {
  const { mutate, isPending } = useMutation({ mutationFn: act, onError: notifyError });
  return { isPending, run: () => mutate() };
}

/** Reports that a change is visible but waits for the connection to be saved. */
export const notifyWaiting = () => {
  notify(t("Will be saved once the connection is back"));
};

const undoMs = 10_000;

/**
 * Confirms a completed action and offers to undo it for 10 s. The returned function removes the
 * offer, and returns false if it had already expired.
 */
export function notifyDone(text: string, takeBack: () => Promise<unknown>): () => boolean {
  let open = true;
  const undo = () => {
    endUndo();
    retryUntilConnected(takeBack, notifyWaiting).catch(notifyError);
  };
  const close = showToast({
    text,
    isError: false,
    life: undoMs,
    action: { label: t("Undo"), do: undo },
  });
  const forget = registerUndoable({ finish: endUndo, undo });
  const timer = setTimeout(endUndo, undoMs);
  function endUndo() {
    const wasOpen = open;
    open = false;
    clearTimeout(timer);
    forget();
    close();
    return wasOpen;
  }
  return endUndo;
}

export function Toasts() {
  const shownToasts = toasts.use();
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (shownToasts.length > 0)
      box.current?.style.setProperty("bottom", findFreeBottom(box.current));
  });
  return (
    <section className="toasts" aria-label={t("Notifications")} aria-live="polite" ref={box}>
      {shownToasts.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

/** Elements that toasts must not cover: all that act, or if there are too many, those of forms and toolbars. */
const uncoveredSelectors = [
  "button, a.mantine-Button-root, input, textarea",
  ".form-buttons :is(button, a), [role=toolbar] button",
];
const toastGap = 8;

/** Distance of the toasts from the lower edge of the window, above all buttons in their way. */
function findFreeBottom(box: HTMLElement): string {
  box.style.bottom = "";
  const { left, right, height, bottom } = box.getBoundingClientRect();
  for (const selector of uncoveredSelectors) {
    const obstacles = [...document.querySelectorAll(selector)]
      .filter((element) => !box.contains(element))
      .map((element) => element.getBoundingClientRect())
      .filter((one) => one.height > 0 && one.left < right && one.right > left)
      .sort((one, other) => other.bottom - one.bottom);
    let free = bottom;
    for (const one of obstacles)
      if (one.top < free && one.bottom > free - height) free = one.top - toastGap;
    if (free === bottom) return "";
    if (free - height > innerHeight / 2) return `${innerHeight - free}px`;
  }
  return "";
}

function ToastLine({ toast: { text, isError, action, life } }: { toast: Toast }) {
  return (
    <div className={`toast ${isError ? "toast-bad" : ""}`}>
      <Icon name={isError ? "warning" : "check"} size={16} />
      <span>{text}</span>
      {action && (
        <button type="button" onClick={action.do}>
          {action.label} <Countdown seconds={life / 1000} />
        </button>
      )}
    </div>
  );
}

function Countdown({ seconds }: { seconds: number }) {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft((value) => Math.max(0, value - 1)), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="num" aria-hidden="true">
      {left}
    </span>
  );
}
