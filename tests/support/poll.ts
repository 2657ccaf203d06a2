/** Waits for conditions that no event announces. A wait that never ends fails with its reason, before the test times out. */

const longestMs = 120_000;

/** Asks until the value is right. Throws with the last value after two minutes. */
export async function pollUntil<T>(
  request: () => T | Promise<T>,
  is: (value: T) => boolean,
  everyMs = 20,
): Promise<T> {
  const end = performance.now() + longestMs;
  for (;;) {
    const value = await request();
    if (is(value)) return value;
    if (performance.now() > end)
      throw new Error(`After two minutes it was still ${Bun.inspect(value)}`);
    await Bun.sleep(everyMs);
  }
}

/** Waits until the condition is true. Throws with its code after two minutes. */
export async function waitUntil(isReached: () => boolean | Promise<boolean>, everyMs = 5) {
  const end = performance.now() + longestMs;
  while (!(await isReached())) {
    if (performance.now() > end)
      throw new Error(`After two minutes still not: ${isReached.toString()}`);
    await Bun.sleep(everyMs);
  }
}
