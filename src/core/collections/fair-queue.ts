import { rateLimitError } from "../errors.ts";
import { type Entry, Turns } from "./turns.ts";

export type FairQueue = ReturnType<typeof createFairQueue>;

/** Runs up to `atOnce` tasks, at most one per client. Clients take turns. */
export function createFairQueue({ atOnce = 2, mostWaiting = 100 } = {}) {
  const turns = new Turns<Entry & { start: () => void }>({
    rank: ({ running }) => running,
    admits: (running, turns) => running === 0 && turns.running < atOnce,
  });
  const waiting = new Map<string, number>();
  let added = 0;

  function countWaiting(client: string, change: 1 | -1) {
    const count = (waiting.get(client) ?? 0) + change;
    if (count === 0) waiting.delete(client);
    else waiting.set(client, count);
  }

  function startNext() {
    for (let next = turns.beginNext(); next !== null; next = turns.beginNext()) {
      countWaiting(next.client, -1);
      next.start();
    }
  }

  return {
    /** Number of waiting tasks. */
    waiting: () => waiting.values().reduce((sum, count) => sum + count, 0),
    /** Runs a task when its client's turn is reached. Throws RATE_LIMITED if too many tasks of the client wait. */
    async run<T>(client: string, task: () => Promise<T>): Promise<T> {
      if ((waiting.get(client) ?? 0) >= mostWaiting)
        throw rateLimitError(1, "There are too many requests at the moment.");
      await new Promise<void>((start) => {
        countWaiting(client, 1);
        turns.add({ client, at: added++, start });
        startNext();
      });
      try {
        return await task();
      } finally {
        // Lets the event loop serve timers and connections between two tasks.
        setImmediate(() => {
          turns.end({ client });
          startNext();
        });
      }
    },
  };
}
