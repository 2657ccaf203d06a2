import { createStore } from "../../data/store.ts";

export type Editing =
  | { kind: "new-monitor"; groupId?: string | null; like?: string }
  | { kind: "edit-monitor"; id: string }
  | { kind: "new-group"; monitorIds?: readonly string[] }
  | { kind: "edit-group"; id: string };

/** Which editor lies over the page. */
export const editing = createStore<Editing | null>(null);
