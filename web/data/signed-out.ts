import { createStore } from "./store.ts";

let waiting: PromiseWithResolvers<void> | null = null;
const store = createStore(false);

/** Whether the session ended while the page was open. Requests wait here for the next sign-in. */
export const signedOut = {
  use: store.use,
  subscribe: store.subscribe,
  wait(): Promise<void> {
    waiting ??= Promise.withResolvers();
    store.set(true);
    return waiting.promise;
  },
  over() {
    waiting?.resolve();
    waiting = null;
    store.set(false);
  },
};
