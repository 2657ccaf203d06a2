import { createStore } from "./store.ts";

/** Names that this browser keeps. */
export function storedSet(key: string) {
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
