/**
 * Tries addresses until one succeeds (RFC 8305 §5). The next attempt starts when one fails, or in parallel after
 * `headStartMs` without a result. Rejects with the last failure.
 */
export function raceAttempts<A, T>(
  addresses: readonly A[],
  headStartMs: number,
  attempt: (address: A) => Promise<T>,
  discard: (late: T) => void = () => {},
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let next = 0;
  let open = 0;
  let isOver = false;
  const startNextAttempt = () => {
    const address = addresses[next++];
    if (isOver || address === undefined) return;
    open++;
    const timer = setTimeout(startNextAttempt, headStartMs);
    attempt(address).then(
      (found) => {
        clearTimeout(timer);
        if (isOver) discard(found);
        isOver = true;
        resolve(found);
      },
      (error: unknown) => {
        clearTimeout(timer);
        open--;
        if (next < addresses.length) startNextAttempt();
        else if (open === 0) reject(error);
      },
    );
  };
  startNextAttempt();
  return promise;
}
