/** Drag and drop of monitors and groups: drop targets, marks and moves. */
import { moveGroup, moveMonitors } from "../actions.ts";
import type { Item } from "./rows.ts";

/** The dragged item. Browsers do not reveal it to drop targets during the drag. */
let draggedItem:
  { kind: "monitors"; ids: readonly string[] } | { kind: "group"; id: string } | null = null;
let markedElement: HTMLElement | null = null;

function markDropTarget(element: HTMLElement | null, edge: "above" | "below" = "above") {
  markedElement?.removeAttribute("data-drop");
  markedElement = element;
  element?.setAttribute("data-drop", edge);
}

export function startDrag(event: React.DragEvent, dragged: NonNullable<typeof draggedItem>) {
  draggedItem = dragged;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
  const row = (event.target as HTMLElement).closest<HTMLElement>("[data-item]");
  if (row !== null) event.dataTransfer.setDragImage(row, 20, 20);
}

export function endDrag() {
  draggedItem = null;
  markDropTarget(null);
}

const isBelow = (event: React.DragEvent) => {
  const { top, height } = event.currentTarget.getBoundingClientRect();
  return event.clientY > top + height / 2;
};

export function handleDragOver(event: React.DragEvent<HTMLElement>, item: Item) {
  if (draggedItem === null) return;
  if (draggedItem.kind === "group" && (item.kind !== "head" || item.group === null)) return;
  event.preventDefault();
  const below = isBelow(event) || (item.kind !== "row" && draggedItem.kind === "monitors");
  markDropTarget(event.currentTarget, below ? "below" : "above");
}

export function handleDrop(
  event: React.DragEvent<HTMLElement>,
  items: readonly Item[],
  index: number,
) {
  event.preventDefault();
  const item = items[index];
  const dragged = draggedItem;
  const below = isBelow(event);
  endDrag();
  if (dragged === null || item === undefined) return;
  if (dragged.kind === "group") {
    if (item.kind !== "head" || item.group === null) return;
    const heads = items.filter((one) => one.kind === "head" && one.group !== null);
    const next = heads[heads.indexOf(item) + 1];
    const after = next?.kind === "head" ? (next.group?.id ?? null) : null;
    moveGroup(dragged.id, below ? after : item.group.id);
    return;
  }
  if (item.kind === "row") {
    const next = items[index + 1];
    const sibling = next?.kind === "row" ? next.monitor.id : null;
    const before = below ? (item.last ? null : sibling) : item.monitor.id;
    if (before === null || !dragged.ids.includes(before) || dragged.ids.length > 1)
      moveMonitors(dragged.ids, item.monitor.groupId, before);
    return;
  }
  const head = items.slice(0, index + 1).findLast((one) => one.kind === "head");
  const first = items[items.indexOf(head ?? item) + 1];
  moveMonitors(
    dragged.ids,
    head?.kind === "head" ? (head.group?.id ?? null) : null,
    first?.kind === "row" ? first.monitor.id : null,
  );
}
