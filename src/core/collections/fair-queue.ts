import { rateLimited } from "../errors.ts";

export type FairQueue = ReturnType<typeof fairQueue>;

/** Works on so many at once, and on one of each lane; lanes take turns, so that nobody's many hold up another's one. */
export function fairQueue({ atOnce = 2, mostWaiting = 100 } = {}) {
  /** In the order of their turns. */
  const lanes = new Map<string, (() => void)[]>();
  const busy = new Set<string>();

  function startNext() {
    for (const [lane, waiting] of lanes) {
      if (busy.size >= atOnce) return;
      if (busy.has(lane)) continue;
      const start = waiting.shift();
      if (waiting.length === 0) lanes.delete(lane);
      busy.add(lane);
      start?.();
    }
  }

  return {
    /** How much waits for its turn. */
    waiting: () => lanes.values().reduce((sum, { length }) => sum + length, 0),
    /** Does the work in its lane's turn. Throws RATE_LIMITED where too many wait in the lane already. */
    async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
      const waiting = lanes.get(lane) ?? [];
      if (waiting.length >= mostWaiting)
        throw rateLimited(1, "There are too many requests at the moment.");
      await new Promise<void>((start) => {
        waiting.push(start);
        lanes.set(lane, waiting);
        startNext();
      });
      try {
        return await work();
      } finally {
        // Others of the event loop have their turn between two.
        setImmediate(() => {
          busy.delete(lane);
          const others = lanes.get(lane);
          // Set anew, it stands behind all the others.
          lanes.delete(lane);
          if (others !== undefined) lanes.set(lane, others);
          startNext();
        });
      }
    },
  };
}
