import { createStore } from "../../../data/store.ts";
import { createStoredSet } from "../../../components/stored-set.ts";

/** Adds the ID to a set, or removes it if present. */
function toggleId(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

const foldedStore = createStoredSet("signalbox.folded");

/** Groups that are collapsed in this browser. */
export const foldedGroups = {
  use: foldedStore.use,
  toggle: (id: string) => foldedStore.set(toggleId(foldedStore.get(), id)),
};

const noIds: ReadonlySet<string> = new Set();
const selectedIds = createStore(noIds);
let selectionAnchor: string | null = null;

/** Selected monitors, to which the next bulk action applies. */
export const selection = {
  use: selectedIds.use,
  get: selectedIds.get,
  clear: () => selectedIds.set(noIds),
  set: (ids: Iterable<string>) => selectedIds.set(new Set(ids)),
  toggle(id: string) {
    selectionAnchor = id;
    selectedIds.set(toggleId(selectedIds.get(), id));
  },
  /** Selects the range from the last chosen monitor to this one, in page order. */
  extendTo(id: string, order: readonly string[]) {
    const from = order.indexOf(selectionAnchor ?? id);
    const to = order.indexOf(id);
    const reached = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    selectedIds.set(new Set([...selectedIds.get(), ...reached]));
  },
};
