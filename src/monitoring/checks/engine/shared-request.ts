/** Requests whose answer several checks wait for, such as one for an access token. */

/** The check that sent the request ended before the answer. The others send it themselves. */
class Abandoned extends Error {}

/** The answer to a request of one check; rejects with Abandoned when that check ends first. */
export function untilAbandoned<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: ending, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(new Abandoned()));
  return Promise.race([answer, ending]);
}

/** Calls `get` again if it waited for a request that another check abandoned. */
export async function retryAbandoned<T>(get: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await get();
    } catch (error) {
      if (!(error instanceof Abandoned) || signal.aborted) throw error;
    }
  }
}
