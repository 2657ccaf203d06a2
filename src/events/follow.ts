import type { Log } from "../core/log.ts";
import type { Store } from "../database/store.ts";
import { lastSeq, type LoggedEvent, readSince } from "./log.ts";

/** Events that another process appended are seen this late at most. */
const pollMs = 500;
const batch = 500;
/** How long a follower that failed is left alone. */
const pauseMs = 1_000;

export type Following = { stop(): Promise<void> };

/**
 * Hands every event after `from` (the newest, where it is absent) to `onEvents`, in order and one
 * portion at a time. A write of this process wakes it at once. A portion whose handling throws comes
 * again.
 */
export function followEvents(
  store: Store,
  log: Log,
  onEvents: (events: readonly LoggedEvent[]) => Promise<void> | void,
  from?: number,
): Following {
  let cursor = from;
  let revision: string | null = null;
  let awake = false;
  let working: Promise<void> | null = null;
  let pausedUntil = 0;
  let stopped = false;

  const wake = () => {
    awake = true;
    working ??= work().finally(() => {
      working = null;
      if (awake && !stopped && performance.now() >= pausedUntil) wake();
    });
  };

  async function work() {
    if (performance.now() < pausedUntil) return;
    try {
      while (awake && !stopped) {
        awake = false;
        revision = store.revision();
        cursor ??= await lastSeq(store);
        while (!stopped) {
          const events = await readSince(store, cursor, batch);
          const last = events.at(-1);
          if (last === undefined) break;
          await onEvents(events);
          cursor = last.seq;
        }
      }
    } catch (error) {
      awake = true;
      pausedUntil = performance.now() + pauseMs;
      log.error("following events failed", { cause: String(error) });
    }
  }

  const unsubscribe = store.onCommit(wake);
  const poll = setInterval(() => {
    const now = store.revision();
    if (now === null || now !== revision || awake) wake();
  }, pollMs);
  wake();
  return {
    async stop() {
      stopped = true;
      unsubscribe();
      clearInterval(poll);
      await working;
    },
  };
}
