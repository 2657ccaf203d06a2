/** Lets people reorder short lists by mouse and keyboard. */
import { type DragEvent, type HTMLAttributes, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Icon } from "../display/icons.tsx";
import { t } from "../../language/text.ts";

/** Moves the item at `from` to `to`. */
function moveItem<T>(items: readonly T[], from: number, to: number): T[] {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return [...items];
  return items.toSpliced(from, 1).toSpliced(to, 0, item);
}

/** A short list that people reorder by dragging a grip, or with arrow keys on it. */
export function useReorder<T>(items: readonly T[], onChange: (items: T[]) => void) {
  const dragged = useRef<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const list = useRef<HTMLUListElement>(null);

  function move(from: number, to: number) {
    if (to < 0 || to >= items.length) return;
    flushSync(() => onChange(moveItem(items, from, to)));
    // The focus follows the moved item.
    list.current?.children[to]?.querySelector<HTMLElement>("[data-grip]")?.focus();
  }

  return {
    list,
    /** Props of the element of an item. */
    itemOf: (index: number): HTMLAttributes<HTMLElement> & { "data-drop"?: string } => ({
      onDragOver(event: DragEvent) {
        if (dragged.current === null) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(index);
      },
      onDrop(event: DragEvent) {
        if (dragged.current === null) return;
        event.preventDefault();
        event.stopPropagation();
        onChange(moveItem(items, dragged.current, index));
      },
      ...(over === index &&
        dragged.current !== null &&
        dragged.current !== index && {
          "data-drop": dragged.current < index ? "below" : "above",
        }),
    }),
    gripOf: (index: number, name: string) => (
      <Grip
        name={name}
        onStep={(step) => move(index, index + step)}
        onDragStart={(event) => {
          dragged.current = index;
          event.stopPropagation();
          event.dataTransfer.effectAllowed = "move";
          event.dataTransfer.setData("text/plain", "");
          const row = list.current?.children[index];
          if (row) event.dataTransfer.setDragImage(row, 16, 16);
        }}
        onDragEnd={() => {
          dragged.current = null;
          setOver(null);
        }}
      />
    ),
  };
}

const Grip = ({
  name,
  onStep,
  ...drag
}: {
  name: string;
  onStep: (step: number) => void;
} & Pick<HTMLAttributes<HTMLElement>, "onDragStart" | "onDragEnd">) => (
  <button
    type="button"
    data-grip
    className="reorder-grip"
    draggable
    aria-label={t("Move {name}", { name })}
    title={t("Drag, or press an arrow key")}
    {...drag}
    onKeyDown={(event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      onStep(step);
    }}
  >
    <Icon name="grip" size={14} />
  </button>
);
