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
  /** Calls back each time the server is found again. */
  onRestored(listener: () => void) {
    restoredListeners.add(listener);
    return () => void restoredListeners.delete(listener);
  },
};

async function look() {
  looking = null;
  if (state.get() === "good") return;
  try {
    const { ok } = await fetch("/healthz", { cache: "no-store" });
    if (ok) return connection.answered();
  } catch {
    // Still away.
  }
  connection.failed();
}
