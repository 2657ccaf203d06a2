import { createStore } from "../data/store.ts";

/** A set of names in the browser's local storage. */
export function createStoredSet(key: string) {
  const names = createStore<ReadonlySet<string>>(
    new Set(JSON.parse(localStorage.getItem(key) ?? "[]") as string[]),
  );
  return {
    get: names.get,
    use: names.use,
    set(next: ReadonlySet<string>) {
      names.set(next);
      localStorage.setItem(key, JSON.stringify([...next]));
    },
  };
}

const hiddenStore = createStoredSet("signalbox.hidden");

/** Hints that a person dismissed in this browser. Names contain the organization's ID. */
export const hiddenItems = {
  use: hiddenStore.use,
  add: (name: string) => hiddenStore.set(new Set([...hiddenStore.get(), name])),
  /** Removes all names with this prefix except one. */
  forget(prefix: string, except?: string) {
    const names = [...hiddenStore.get()];
    const remainingNames = names.filter((name) => name === except || !name.startsWith(prefix));
    if (remainingNames.length < names.length) hiddenStore.set(new Set(remainingNames));
  },
};
