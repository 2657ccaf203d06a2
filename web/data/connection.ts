import { createStore } from "./store.ts";

type ConnectionState = "good" | "lost";

const state = createStore<ConnectionState>("good");
let looking: ReturnType<typeof setTimeout> | null = null;
const restoredListeners = new Set<() => void>();

/** State of the connection to the server. While it is lost, polls the server every 2 s. */
export const connection = {
  use: state.use,
  get: state.get,
  answered() {
    if (state.get() === "good") return;
    state.set("good");
    for (const listener of restoredListeners) listener();
  },
  failed() {
    state.set("lost");
    looking ??= setTimeout(() => void look(), 2_000);
  },
  /** Resolves once the server responds, immediately if it does now. */
  async answers(): Promise<void> {
    if (await isAnswering()) return connection.answered();
    connection.failed();
    return new Promise((resolve) => {
      const stop = connection.onRestored(() => {
        stop();
        resolve();
      });
    });
  },
  /**
   * Calls the listener each time the connection is restored. Returns the function that removes it.
   */
  onRestored(listener: () => void) {
    restoredListeners.add(listener);
    return () => void restoredListeners.delete(listener);
  },
};

async function look() {
  looking = null;
  if (state.get() === "good") return;
  if (await isAnswering()) connection.answered();
  else connection.failed();
}

async function isAnswering(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
