import { connection } from "./connection.ts";

const loaders = new Set<() => Promise<unknown>>();

/**
 * Loads a part of the page's script. While the server is away it waits for it: only where the server
 * answers and the file still can't be had, which another version of the page explains, it fails.
 */
export function chunk<T>(load: () => Promise<T>): () => Promise<T> {
  const patient = async () => {
    try {
      return await load();
    } catch {
      await connection.answers();
      return load();
    }
  };
  loaders.add(patient);
  return patient;
}

/** The first page has this long for itself. */
const settleMs = 4_000;

export const whenIdle = () =>
  new Promise<unknown>((resolve) =>
    "requestIdleCallback" in globalThis ? requestIdleCallback(resolve) : setTimeout(resolve, 200),
  );

/** Loads all parts, one after the other, while there is nothing else to do: each page opens without the server from then on. */
export function loadWhenIdle(): () => void {
  let isOver = false;
  const timer = setTimeout(async () => {
    for (const load of loaders) {
      await whenIdle();
      if (isOver) return;
      await load().catch(() => {});
    }
  }, settleMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
