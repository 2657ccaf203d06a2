import { withUndo } from "../parts/toasts.tsx";
import { external } from "./external.ts";

/** Ids of records that are being deleted: gone from every list unless that is taken back. */
const store = external<ReadonlySet<string>>(new Set());

export const useLeaving = store.use;

/** Takes a record off the page at once and deletes it when its ten seconds are over. */
export function deleteWithUndo(text: string, id: string, commit: () => Promise<unknown>) {
  withUndo(text, {
    hide: () => store.set(new Set([...store.get(), id])),
    restore: () => store.set(new Set([...store.get()].filter((other) => other !== id))),
    commit,
  });
}
