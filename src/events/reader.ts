/**
 * Reads the event log once for all followers of this process. Reads after each write of this process, and polls for
 * writes of others.
 */
import type { Log } from "../core/log.ts";
import { createFamily, type Family } from "../core/metrics.ts";
import type { Store } from "../database/store.ts";
import type { LoggedEvent } from "./catalog.ts";
import { countBacklogs } from "./cursor.ts";
import { findLastSeq, readSince } from "./log.ts";
import { countProblems } from "./problems.ts";

/** Poll interval, in milliseconds, and thus the maximum delay of other processes' events. */
const pollMs = 100;
/** Maximum events that a follower handles at once. */
const batchSize = 500;
/** Number of recent events that followers share. Followers further behind read the log themselves. */
const recentSize = 2_000;
/** Pause after a failure of a follower, in milliseconds. */
const retryMs = 1_000;

type Handler = (events: readonly LoggedEvent[]) => Promise<void> | void;

/** The most recent events that this process has read. */
class RecentEvents {
  /** Position after which `events` is complete; null before the first read. */
  start: number | null = null;
  #events: LoggedEvent[] = [];

  add(events: readonly LoggedEvent[]) {
    this.#events.push(...events);
    const surplus = this.#events.splice(0, Math.max(0, this.#events.length - recentSize));
    this.start = surplus.at(-1)?.seq ?? this.start;
  }

  listAfter(position: number): LoggedEvent[] {
    const from = this.#events.findLastIndex(({ seq }) => seq <= position) + 1;
    return this.#events.slice(from, from + batchSize);
  }
}

export class EventReader {
  readonly #store: Store;
  readonly #log: Log;
  readonly #subscriptions = new Set<Subscription>();
  readonly #recent = new RecentEvents();
  #head = 0;
  #revision: string | null = null;
  #isStale = false;
  #isReading = false;
  #isFailing = false;
  #stopPolling = () => {};

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  async metrics(): Promise<Family[]> {
    const last = await findLastSeq(this.#store);
    return [
      createFamily(
        "signalbox_event_follower_lag",
        "gauge",
        "Events that a follower has not processed yet.",
        this.progress().map(({ name, seq }) => ({
          labels: { follower: name },
          value: Math.max(0, last - seq),
        })),
      ),
      createFamily(
        "signalbox_event_backlog_organizations",
        "gauge",
        "Organizations with a backlog of events at a follower.",
        (await countBacklogs(this.#store)).map(({ follower, count }) => ({
          labels: { follower },
          value: count,
        })),
      ),
      createFamily(
        "signalbox_problems",
        "gauge",
        "Organizations with an open problem of the appliance, by its name.",
        (await countProblems(this.#store)).map(({ name, count }) => ({
          labels: { problem: name },
          value: count,
        })),
      ),
    ];
  }

  /** Last event that each follower has handled. */
  progress(): { name: string; seq: number }[] {
    return [...this.#subscriptions].map(({ name, position }) => ({ name, seq: position }));
  }

  /** Last event that all followers have handled. */
  position(): number {
    return Math.min(...[...this.#subscriptions].map(({ position }) => position));
  }

  /**
   * Passes each event after `seq` to `handle`, in order and in batches. A slow or failing follower delays no other. A
   * failed batch is passed again.
   */
  subscribe(name: string, seq: number, handle: Handler): Subscription {
    const removeSubscription = () => {
      if (this.#subscriptions.delete(subscription) && this.#subscriptions.size === 0)
        this.#stopPolling();
    };
    const source = { store: this.#store, log: this.#log, recent: this.#recent };
    const subscription = new Subscription(name, seq, handle, source, removeSubscription);
    this.#subscriptions.add(subscription);
    if (this.#subscriptions.size === 1) this.#poll();
    else subscription.wake();
    return subscription;
  }

  #poll() {
    const unsubscribe = this.#store.onCommit(() => this.#read());
    const timer = setInterval(() => {
      const now = this.#store.revision();
      if (now === null || now !== this.#revision || this.#isStale) this.#read();
    }, pollMs);
    this.#stopPolling = () => {
      unsubscribe();
      clearInterval(timer);
    };
    this.#read();
  }

  #read() {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readAll().catch((error: unknown) => {
      this.#isReading = false;
      this.#isStale = true;
      if (!this.#isFailing) this.#log.error("events can't be read", { cause: String(error) });
      this.#isFailing = true;
    });
  }

  async #readAll() {
    if (this.#recent.start === null) {
      this.#head = await findLastSeq(this.#store);
      this.#recent.start = this.#head;
      this.#wakeAll();
    }
    while (this.#isStale && this.#subscriptions.size > 0) {
      this.#isStale = false;
      this.#revision = this.#store.revision();
      await this.#readNew();
    }
    // Reset in the same event-loop turn as the empty read, so that later writes start a new read.
    this.#isReading = false;
  }

  async #readNew() {
    for (;;) {
      const events = await readSince(this.#store, this.#head, batchSize);
      this.#isFailing = false;
      this.#head = events.at(-1)?.seq ?? this.#head;
      this.#recent.add(events);
      if (events.length > 0) this.#wakeAll();
      if (events.length < batchSize) return;
    }
  }

  #wakeAll() {
    for (const subscription of this.#subscriptions) subscription.wake();
  }
}

type Source = { store: Store; log: Log; recent: RecentEvents };

export class Subscription {
  readonly name: string;
  /** Position of the last handled event. */
  position: number;
  readonly #handle: Handler;
  readonly #source: Source;
  readonly #end: () => void;
  #isWorking = false;
  #working = Promise.resolve();
  #retry: ReturnType<typeof setTimeout> | null = null;
  #isStopped = false;

  constructor(name: string, seq: number, handle: Handler, source: Source, end: () => void) {
    this.name = name;
    this.position = seq;
    this.#handle = handle;
    this.#source = source;
    this.#end = end;
  }

  /** Handles new events, unless a batch or a pause is in progress. */
  wake() {
    if (this.#isStopped || this.#isWorking || this.#retry !== null) return;
    this.#isWorking = true;
    this.#working = this.#processEvents().catch((error: unknown) => {
      this.#isWorking = false;
      const facts = { follower: this.name, cause: String(error) };
      this.#source.log.error("handling events failed", facts);
      if (this.#isStopped) return;
      this.#retry = setTimeout(() => {
        this.#retry = null;
        this.wake();
      }, retryMs);
    });
  }

  /** Stops passing events. Resolves when the current batch is handled. */
  async stop() {
    this.#isStopped = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#end();
    await this.#working;
  }

  async #processEvents() {
    const { store, recent } = this.#source;
    while (!this.#isStopped && recent.start !== null) {
      const known = recent.start;
      const isBehind = this.position < known;
      const events = isBehind
        ? await readSince(store, this.position, batchSize)
        : recent.listAfter(this.position);
      const last = events.at(-1);
      if (last !== undefined) {
        await this.#handle(events);
        this.position = last.seq;
      } else if (isBehind) this.position = known;
      else break;
    }
    this.#isWorking = false;
  }
}
