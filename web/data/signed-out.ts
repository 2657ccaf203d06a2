import { createStore } from "./store.ts";

let waitingRequests: PromiseWithResolvers<void> | null = null;
const signedOutStore = createStore(false);

/** Whether the session ended while the page was open. Requests wait here for the next sign-in. */
export const signedOut = {
  use: signedOutStore.use,
  subscribe: signedOutStore.subscribe,
  wait(): Promise<void> {
    waitingRequests ??= Promise.withResolvers();
    signedOutStore.set(true);
    return waitingRequests.promise;
  },
  endWait() {
    waitingRequests?.resolve();
    waitingRequests = null;
    signedOutStore.set(false);
  },
};
