const open = new Set<() => void>();

/** Remembers how to do at once what waits to be undone; returns how to forget it. */
export function undoable(finish: () => void): () => void {
  open.add(finish);
  return () => void open.delete(finish);
}

/** Does everything that may still be undone: what follows would be asked of another organization. */
export function finishUndoable() {
  for (const finish of open) finish();
}
