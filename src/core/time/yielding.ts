/** Lets other work have its turn. */

export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Other work gets its turn this often while a long list is worked through. */
const turnMs = 5;

/** Like `forEach`, for work that needs the processor: yields to the event loop every few milliseconds. */
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

/** Like `map`, in the same way. */
export async function mapYielding<T, U>(items: Iterable<T>, use: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  await eachYielding(items, (item) => void results.push(use(item)));
  return results;
}
