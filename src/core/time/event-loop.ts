/** Yields turns of the event loop, and shares each turn among all loops that have yielded. */

/** Time after which a long loop yields, and in which one turn resumes loops. */
const maxTurnMs = 5;

/** Loops that have yielded, in order. */
let waiting: (() => void)[] = [];

/** Yields at least one turn of the event loop. Any number of loops together takes a few milliseconds per turn. */
export const yieldToEventLoop = () =>
  new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeWaiting);
  });

async function resumeWaiting() {
  const until = performance.now() + maxTurnMs;
  const batch = waiting;
  waiting = [];
  let resumed = 0;
  do {
    batch[resumed++]?.();
    // The loop runs until its next await before this function continues.
    await Promise.resolve();
  } while (resumed < batch.length && performance.now() < until);
  const isScheduled = waiting.length > 0;
  waiting = [...batch.slice(resumed), ...waiting];
  if (waiting.length > 0 && !isScheduled) setImmediate(resumeWaiting);
}

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
