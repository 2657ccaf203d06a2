import type { Log } from "../core/log.ts";
import { family, type Family } from "../core/metrics.ts";
import type { Store } from "../database/store.ts";
import type { LoggedEvent } from "./catalogue.ts";
import { countBacklogs } from "./cursor.ts";
import { lastSeq, readSince } from "./log.ts";

/** Events that another process appended are seen this late at most, and the time of one read. */
const pollMs = 100;
/** Events that a subscriber is handed at one time. */
const batchSize = 500;
/** The newest events are kept for all subscribers; one that is further behind reads the log by itself. */
const recentSize = 2_000;
/** How long a subscriber that failed is left alone. */
const retryMs = 1_000;

export type EventReader = ReturnType<typeof eventReader>;
export type Subscription = ReturnType<EventReader["subscribe"]>;

/** Reads the log once for all subscribers of this process: at each of its own writes, and whenever another one has written. */
export function eventReader(store: Store, log: Log) {
  const subscribers = new Set<{ name: string; wake: () => void; position: () => number }>();
  /** Everything after `start`, oldest first; nothing is known before the first read. */
  let recent: LoggedEvent[] = [];
  let start: number | null = null;
  let head = 0;
  let revision: string | null = null;
  let isStale = false;
  let isReading = false;
  let isFailing = false;
  let stopPolling = () => {};

  function poll() {
    const unsubscribe = store.onCommit(read);
    const timer = setInterval(() => {
      const now = store.revision();
      if (now === null || now !== revision || isStale) read();
    }, pollMs);
    stopPolling = () => {
      unsubscribe();
      clearInterval(timer);
    };
    read();
  }

  function read() {
    isStale = true;
    if (isReading) return;
    isReading = true;
    readAll().catch((error: unknown) => {
      isReading = false;
      isStale = true;
      if (!isFailing) log.error("events can't be read", { cause: String(error) });
      isFailing = true;
    });
  }

  async function readAll() {
    if (start === null) {
      head = await lastSeq(store);
      start = head;
      wakeAll();
    }
    while (isStale && subscribers.size > 0) {
      isStale = false;
      revision = store.revision();
      await readOn();
    }
    // In the same turn as the look that found nothing: a write from here on begins anew.
    isReading = false;
  }

  async function readOn() {
    for (;;) {
      const events = await readSince(store, head, batchSize);
      isFailing = false;
      head = events.at(-1)?.seq ?? head;
      recent.push(...events);
      const surplus = recent.splice(0, Math.max(0, recent.length - recentSize));
      start = surplus.at(-1)?.seq ?? start;
      if (events.length > 0) wakeAll();
      if (events.length < batchSize) return;
    }
  }

  function wakeAll() {
    for (const { wake } of subscribers) wake();
  }

  /** How far each subscriber has come. */
  const progress = () => [...subscribers].map(({ name, position }) => ({ name, seq: position() }));

  return {
    async metrics(): Promise<Family[]> {
      const last = await lastSeq(store);
      return [
        family(
          "signalbox_event_follower_lag",
          "gauge",
          "Events that a follower of the log has not handled yet.",
          progress().map(({ name, seq }) => ({
            labels: { follower: name },
            value: Math.max(0, last - seq),
          })),
        ),
        family(
          "signalbox_event_backlog_organizations",
          "gauge",
          "Organizations with more events than a follower of the log has handled in their turns.",
          (await countBacklogs(store)).map(({ follower, count }) => ({
            labels: { follower },
            value: count,
          })),
        ),
      ];
    },
    progress,
    /** Up to here all subscribers have handled every event. */
    position: () => Math.min(...[...subscribers].map((subscriber) => subscriber.position())),
    /**
     * Hands every event after `seq` to `handle`, in order and one batch at a time: a subscriber that is
     * slow or fails keeps no other from its events. A batch whose handling throws comes again.
     */
    subscribe(
      name: string,
      seq: number,
      handle: (events: readonly LoggedEvent[]) => Promise<void> | void,
    ) {
      let position = seq;
      let isWorking = false;
      let working = Promise.resolve();
      let retry: ReturnType<typeof setTimeout> | null = null;
      let isStopped = false;

      function wake() {
        if (isStopped || isWorking || retry !== null) return;
        isWorking = true;
        working = work().catch((error: unknown) => {
          isWorking = false;
          log.error("handling events failed", { subscriber: name, cause: String(error) });
          if (isStopped) return;
          retry = setTimeout(() => {
            retry = null;
            wake();
          }, retryMs);
        });
      }

      async function work() {
        while (!isStopped && start !== null) {
          const known = start;
          const events =
            position < known ? await readSince(store, position, batchSize) : recentAfter(position);
          const last = events.at(-1);
          if (last !== undefined) {
            await handle(events);
            position = last.seq;
          } else if (position < known) position = known;
          else break;
        }
        isWorking = false;
      }

      const subscriber = { name, wake, position: () => position };
      subscribers.add(subscriber);
      if (subscribers.size === 1) poll();
      else wake();
      return {
        /** Hands over nothing further; resolves when the batch under way is handled. */
        async stop() {
          isStopped = true;
          if (retry !== null) clearTimeout(retry);
          if (subscribers.delete(subscriber) && subscribers.size === 0) stopPolling();
          await working;
        },
      };
    },
  };

  function recentAfter(position: number): LoggedEvent[] {
    const from = recent.findLastIndex(({ seq }) => seq <= position) + 1;
    return recent.slice(from, from + batchSize);
  }
}
