import { createStore } from "./store.ts";

const key = "signalbox.hidden";

const stored = createStore<ReadonlySet<string>>(
  new Set(JSON.parse(localStorage.getItem(key) ?? "[]") as string[]),
);

function keep(names: ReadonlySet<string>) {
  stored.set(names);
  localStorage.setItem(key, JSON.stringify([...names]));
}

/** What somebody hid for good in this browser, by a name that says of which organization. */
export const hiddenHere = {
  use: stored.use,
  add: (name: string) => keep(new Set([...stored.get(), name])),
  /** Forgets what begins so, but for this one. */
  forget(start: string, except?: string) {
    const names = [...stored.get()];
    const left = names.filter((name) => name === except || !name.startsWith(start));
    if (left.length < names.length) keep(new Set(left));
  },
};
