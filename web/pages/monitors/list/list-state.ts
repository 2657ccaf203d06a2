import { createStore } from "../../../data/store.ts";
import { storedSet } from "../../../components/stored-set.ts";

/** Adds the ID to a set, or removes it if present. */
function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

const folded = storedSet("signalbox.folded");

/** Groups that are collapsed in this browser. */
export const folds = {
  use: folded.use,
  toggle: (id: string) => folded.set(toggled(folded.get(), id)),
};

const none: ReadonlySet<string> = new Set();
const selected = createStore(none);
let anchor: string | null = null;

/** Selected monitors, to which the next bulk action applies. */
export const selection = {
  use: selected.use,
  get: selected.get,
  clear: () => selected.set(none),
  toggle(id: string) {
    anchor = id;
    selected.set(toggled(selected.get(), id));
  },
  /** Selects the range from the last chosen monitor to this one, in page order. */
  reach(id: string, order: readonly string[]) {
    const from = order.indexOf(anchor ?? id);
    const to = order.indexOf(id);
    const reached = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    selected.set(new Set([...selected.get(), ...reached]));
  },
};
