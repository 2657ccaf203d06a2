type Undoable = { finish: () => void; undo: () => void };

const open = new Set<Undoable>();

/** Remembers how to do at once what waits to be undone, and how to undo it; returns how to forget it. */
export function undoable(one: Undoable): () => void {
  open.add(one);
  return () => void open.delete(one);
}

/** Does everything that may still be undone: what follows would be asked of another organization. */
export function finishUndoable() {
  for (const { finish } of open) finish();
}

/** Takes back what was done last, as long as it can be; false where there is nothing. */
export function undoLast(): boolean {
  const last = [...open].at(-1);
  last?.undo();
  return last !== undefined;
}
