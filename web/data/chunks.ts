import { connection } from "./connection.ts";

const loaders = new Set<() => Promise<unknown>>();

/**
 * Wraps a dynamic import so that it waits for a lost connection and then retries once. It fails if
 * the server responds without the file, for example after an upgrade.
 */
export function createChunk<T>(load: () => Promise<T>): () => Promise<T> {
  const loadPatiently = async () => {
    try {
      return await load();
    } catch {
      await connection.waitForAnswer();
      return load();
    }
  };
  loaders.add(loadPatiently);
  return loadPatiently;
}

type SavingNavigator = { connection?: { saveData?: boolean } };

/** Delay before preloading, so that the first page loads undisturbed. */
const settleMs = 4_000;

export const waitUntilIdle = () =>
  new Promise<unknown>((resolve) =>
    "requestIdleCallback" in globalThis ? requestIdleCallback(resolve) : setTimeout(resolve, 200),
  );

/**
 * Preloads parts of the script, by default all, one by one while the browser is idle. Pages then open even
 * without a connection. Does nothing if the browser saves data.
 */
export function loadWhenIdle(
  chunks: Iterable<() => Promise<unknown>> = loaders,
  afterMs = settleMs,
): () => void {
  if ((navigator as SavingNavigator).connection?.saveData === true) return () => {};
  let isOver = false;
  const timer = setTimeout(async () => {
    for (const load of chunks) {
      await waitUntilIdle();
      if (isOver) return;
      await load().catch(() => {});
    }
  }, afterMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
