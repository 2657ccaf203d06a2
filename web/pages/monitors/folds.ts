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
