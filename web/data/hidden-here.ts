import { storedSet } from "./stored-set.ts";

const hidden = storedSet("signalbox.hidden");

/** What somebody hid for good in this browser, by a name that says of which organization. */
export const hiddenHere = {
  use: hidden.use,
  add: (name: string) => hidden.set(new Set([...hidden.get(), name])),
  /** Forgets what begins so, but for this one. */
  forget(start: string, except?: string) {
    const names = [...hidden.get()];
    const left = names.filter((name) => name === except || !name.startsWith(start));
    if (left.length < names.length) hidden.set(new Set(left));
  },
};
