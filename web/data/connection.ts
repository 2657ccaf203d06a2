import { createStore } from "./store.ts";

type ConnectionState = "good" | "lost";

const state = createStore<ConnectionState>("good");
let looking: ReturnType<typeof setTimeout> | null = null;
const restoredListeners = new Set<() => void>();

/** Whether the server answers. Once lost, it is looked for every two seconds until it does. */
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
  /** Resolves when the server answers: at once where it does, else once it is found again. */
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
  /** Calls back each time the server is found again. */
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
