import { createStore } from "../../../data/store.ts";
import { storedSet } from "../../../components/stored-set.ts";

/** A set with this id, or without it where it had it. */
function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

const folded = storedSet("signalbox.folded");

/** Which folders this browser keeps closed. */
export const folds = {
  use: folded.use,
  toggle: (id: string) => folded.set(toggled(folded.get(), id)),
};

const none: ReadonlySet<string> = new Set();
const selected = createStore(none);
let anchor: string | null = null;

/** Monitors that the next bulk change is for. */
export const selection = {
  use: selected.use,
  get: selected.get,
  clear: () => selected.set(none),
  toggle(id: string) {
    anchor = id;
    selected.set(toggled(selected.get(), id));
  },
  /** From the one that was chosen last to this one, in the order of the page. */
  reach(id: string, order: readonly string[]) {
    const from = order.indexOf(anchor ?? id);
    const to = order.indexOf(id);
    const reached = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    selected.set(new Set([...selected.get(), ...reached]));
  },
};
