type Undoable = { finish: () => void; undo: () => void };

const open = new Set<Undoable>();

/** Registers an action that can be undone. Returns the function that removes it. */
export function undoable(one: Undoable): () => void {
  open.add(one);
  return () => void open.delete(one);
}

/**
 * Completes all actions that can still be undone. Otherwise they would run in another organization.
 */
export function finishUndoable() {
  for (const { finish } of open) finish();
}

/** Undoes the latest action. Returns false if there is nothing to undo. */
export function undoLast(): boolean {
  const last = [...open].at(-1);
  last?.undo();
  return last !== undefined;
}
