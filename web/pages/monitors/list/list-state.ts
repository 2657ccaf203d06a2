import { createStore } from "../../../data/store.ts";
import { createStoredSet } from "../../../components/stored-set.ts";

/** Adds the ID to a set, or removes it if present. */
function toggleId(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

const folded = createStoredSet("signalbox.folded");

/** Groups that are collapsed in this browser. */
export const foldedGroups = {
  use: folded.use,
  toggle: (id: string) => folded.set(toggleId(folded.get(), id)),
};

const noIds: ReadonlySet<string> = new Set();
const selected = createStore(noIds);
let selectionAnchor: string | null = null;

/** Selected monitors, to which the next bulk action applies. */
export const selection = {
  use: selected.use,
  get: selected.get,
  clear: () => selected.set(noIds),
  set: (ids: Iterable<string>) => selected.set(new Set(ids)),
  toggle(id: string) {
    selectionAnchor = id;
    selected.set(toggleId(selected.get(), id));
  },
  /** Selects the range from the last chosen monitor to this one, in page order. */
  extendTo(id: string, order: readonly string[]) {
    const from = order.indexOf(selectionAnchor ?? id);
    const to = order.indexOf(id);
    const reached = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    selected.set(new Set([...selected.get(), ...reached]));
  },
};
