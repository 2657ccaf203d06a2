/** Yields one turn of the event loop. */

export const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Time after which a long loop yields to the event loop. */
const maxTurnMs = 5;

/** Like `forEach`, for CPU-bound work. Yields to the event loop every few milliseconds. */
export async function forEachYielding<T>(
  items: Iterable<T>,
  use: (item: T) => void | Promise<void>,
) {
  let since = performance.now();
  for (const item of items) {
    const pending = use(item);
    if (pending !== undefined) await pending;
    if (performance.now() - since < maxTurnMs) continue;
    await yieldToEventLoop();
    since = performance.now();
  }
}

/** Like `map`, for CPU-bound work. Yields to the event loop every few milliseconds. */
export async function mapYielding<T, U>(items: Iterable<T>, use: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  await forEachYielding(items, (item) => void results.push(use(item)));
  return results;
}
