/** Shares one request between several checks that wait for its response, such as an access token. */

/** The check that sent the request ended before the response arrived. Other checks send the request again. */
class AbandonedRequest extends Error {}

/** Resolves with the response to a request. Rejects with Abandoned if the check that sent it ends first. */
export function awaitUnlessAbandoned<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: ending, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(new AbandonedRequest()));
  return Promise.race([response, ending]);
}

/** Calls `get`, and repeats the call if another check abandoned the shared request. */
export async function retryAbandoned<T>(get: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await get();
    } catch (error) {
      if (!(error instanceof AbandonedRequest) || signal.aborted) throw error;
    }
  }
}
