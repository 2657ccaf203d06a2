import { leave, stay } from "../data/leaving.ts";
import { withUndo } from "./toasts.tsx";

/** Takes a record off every list at once and deletes it when its ten seconds are over. */
export function deleteWithUndo(text: string, id: string, commit: () => Promise<unknown>) {
  withUndo(text, { hide: () => leave(id), restore: () => stay(id), commit });
}
