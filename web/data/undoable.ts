type UndoableChange = { finish: () => void; undo: () => void };

const openUndoables = new Set<UndoableChange>();

/** Registers an action that can be undone. Returns the function that removes it. */
export function registerUndoable(one: UndoableChange): () => void {
  openUndoables.add(one);
  return () => void openUndoables.delete(one);
}

/**
 * Completes all actions that can still be undone. Otherwise they would run in another organization.
 */
export function finishUndoable() {
  for (const { finish } of openUndoables) finish();
}

/** Undoes the latest action. Returns false if there is nothing to undo. */
export function undoLast(): boolean {
  const last = [...openUndoables].at(-1);
  last?.undo();
  return last !== undefined;
}
