import { createStore } from "../data/store.ts";
import { withUndo } from "./toasts.tsx";

const ids = createStore<ReadonlySet<string>>(new Set());

/** Records that are deleted, or about to be unless somebody takes it back: no list shows them. */
export const useDeleting = ids.use;

function change(id: string, isDeleting: boolean) {
  const next = new Set(ids.get());
  if (isDeleting) next.add(id);
  else next.delete(id);
  ids.set(next);
}

/** Deletes a record by `commit` after the time in which it can be undone. */
export function deleteWithUndo(
  { id, title }: { id: string; title: string },
  commit: () => Promise<unknown>,
) {
  withUndo(`Deleted ${title}`, {
    hide: () => change(id, true),
    restore: () => change(id, false),
    commit,
  });
}
