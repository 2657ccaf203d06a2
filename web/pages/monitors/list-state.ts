import { createStore } from "../../data/store.ts";

const key = "signalbox.folded";

const stored = createStore<ReadonlySet<string>>(
  new Set(JSON.parse(localStorage.getItem(key) ?? "[]") as string[]),
);

/** Which folders this browser keeps closed. */
export const folds = {
  use: stored.use,
  toggle(id: string) {
    const next = new Set(stored.get());
    if (!next.delete(id)) next.add(id);
    stored.set(next);
    localStorage.setItem(key, JSON.stringify([...next]));
  },
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
    const next = new Set(selected.get());
    if (!next.delete(id)) next.add(id);
    anchor = id;
    selected.set(next);
  },
  /** From the one that was chosen last to this one, in the order of the page. */
  reach(id: string, order: readonly string[]) {
    const from = order.indexOf(anchor ?? id);
    const to = order.indexOf(id);
    const reached = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    selected.set(new Set([...selected.get(), ...reached]));
  },
  add: (ids: Iterable<string>) => selected.set(new Set([...selected.get(), ...ids])),
};
