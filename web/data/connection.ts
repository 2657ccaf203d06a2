import { createStore } from "./store.ts";

type ConnectionState = "good" | "lost";

const connectionState = createStore<ConnectionState>("good");
let lookTimer: ReturnType<typeof setTimeout> | null = null;
const restoredListeners = new Set<() => void>();

/** State of the connection to the server. While it is lost, polls the server every 2 s. */
export const connection = {
  use: connectionState.use,
  get: connectionState.get,
  subscribe: connectionState.subscribe,
  markAnswered() {
    if (connectionState.get() === "good") return;
    connectionState.set("good");
    for (const listener of restoredListeners) listener();
  },
  markFailed() {
    connectionState.set("lost");
    lookTimer ??= setTimeout(() => void checkConnection(), 2_000);
  },
  /** Resolves once the server responds, immediately if it does now. */
  async waitForAnswer(): Promise<void> {
    if (await isAnswering()) return connection.markAnswered();
    connection.markFailed();
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

async function checkConnection() {
  lookTimer = null;
  if (connectionState.get() === "good") return;
  if (await isAnswering()) connection.markAnswered();
  else connection.markFailed();
}

async function isAnswering(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
