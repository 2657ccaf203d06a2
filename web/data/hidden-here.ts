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
  remove: (name: string) => keep(new Set([...stored.get()].filter((other) => other !== name))),
};
