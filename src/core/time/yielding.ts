/** Yields one turn of the event loop. */

export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Time after which a long loop yields to the event loop. */
const turnMs = 5;

/** Like `forEach`, for CPU-bound work. Yields to the event loop every few milliseconds. */
export async function eachYielding<T>(items: Iterable<T>, use: (item: T) => void | Promise<void>) {
  let since = performance.now();
  for (const item of items) {
    const used = use(item);
    if (used !== undefined) await used;
    if (performance.now() - since < turnMs) continue;
    await turn();
    since = performance.now();
  }
}

/** Like `map`, for CPU-bound work. Yields to the event loop every few milliseconds. */
export async function mapYielding<T, U>(items: Iterable<T>, use: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  await eachYielding(items, (item) => void results.push(use(item)));
  return results;
}
