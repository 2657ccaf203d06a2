/** Other work gets its turn this often while a long list is worked through. */
const turnMs = 5;

/** Like `map`, for work that takes the processor: yields to the event loop every few milliseconds. */
export async function mapYielding<T, U>(items: Iterable<T>, use: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  let since = performance.now();
  for (const item of items) {
    results.push(use(item));
    if (performance.now() - since < turnMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  return results;
}
