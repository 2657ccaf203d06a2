/** Sends events, changed monitor rows and deliveries to all open pages, and reads them once per organization. */
import type { Clock } from "../core/time/clock.ts";
import type { Log } from "../core/log.ts";
import { type Collector, createFamily } from "../core/metrics.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { Store } from "../database/store.ts";
import type { LoggedEvent } from "../events/catalog.ts";
import { findLastSeq } from "../events/log.ts";
import type { EventReader, Subscription } from "../events/reader.ts";
import type { Signals, StoredResult } from "../events/signals.ts";
import type { Listener, LiveEvents, Reader } from "../http/responses/event-stream.ts";
import { OpenPages } from "./open-pages.ts";
import { mayListen } from "./stream-rules.ts";

/** Interval of checks whether pages may still listen, in addition to events about people. */
const authorizationIntervalMs = 2_000;
/** Maximum delay until pages show that results can't be stored. */
const writeHealthIntervalMs = 1_000;
/** Maximum delay of results and deliveries from other processes, in a cluster and on a single node. */
const rescanIntervalMs = { cluster: 5_000, singleNode: 30_000 };

type Dependencies = {
  store: Store;
  clock: Clock;
  vault: Vault;
  events: EventReader;
  signals: Signals;
  log: Log;
};

export class LivePages implements LiveEvents, Collector {
  readonly #dependencies: Dependencies;
  readonly #organizations = new Map<string, OpenPages>();
  #subscription: Subscription | null = null;
  #timers: ReturnType<typeof setInterval>[] = [];
  #isStopped = false;
  #failingSince: number | null = null;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async start() {
    const { store, events, signals } = this.#dependencies;
    this.#subscription = events.subscribe("live", await findLastSeq(store), (batch) =>
      this.#forwardEvents(batch),
    );
    signals.on("results", this.#takeResults).on("deliveries", this.#takeDeliveries);
    this.#timers = [
      this.#runEvery(authorizationIntervalMs, "sessions of open pages can't be read", () =>
        this.#endUnauthorized(),
      ),
      this.#runEvery(writeHealthIntervalMs, "changes can't be sent to open pages", () =>
        this.#followWrites(),
      ),
      setInterval(
        () => this.#rescan(),
        store.revision() === null ? rescanIntervalMs.cluster : rescanIntervalMs.singleNode,
      ),
    ];
  }

  /** Ends all streams. */
  async stop() {
    this.#isStopped = true;
    const { signals } = this.#dependencies;
    signals.off("results", this.#takeResults).off("deliveries", this.#takeDeliveries);
    for (const timer of this.#timers) clearInterval(timer);
    for (const pages of this.#organizations.values()) {
      pages.close();
      for (const { reader } of pages.subscribers) reader.end();
    }
    await this.#subscription?.stop();
  }

  isOpen() {
    return !this.#isStopped;
  }

  canListen(listener: Parameters<LiveEvents["canListen"]>[0]) {
    return mayListen(listener, this.#iterateSubscribers());
  }

  join(reader: Reader, listener: Listener) {
    const { organizationId } = listener;
    const pages =
      this.#organizations.get(organizationId) ?? new OpenPages(organizationId, this.#dependencies);
    this.#organizations.set(organizationId, pages);
    const subscriber = pages.join(reader, listener);
    return () => {
      if (!pages.subscribers.delete(subscriber) || pages.subscribers.size > 0) return;
      pages.close();
      if (this.#organizations.get(organizationId) === pages)
        this.#organizations.delete(organizationId);
    };
  }

  metrics() {
    return [
      createFamily(
        "signalbox_event_streams",
        "gauge",
        "Open pages with a live stream.",
        [...this.#iterateSubscribers()].length,
      ),
    ];
  }

  #runEvery(intervalMs: number, failure: string, run: () => Promise<void>) {
    const { log } = this.#dependencies;
    return setInterval(() => {
      run().catch((error: unknown) => log.error(failure, { cause: String(error) }));
    }, intervalMs);
  }

  *#iterateSubscribers() {
    for (const { subscribers } of this.#organizations.values()) yield* subscribers;
  }

  async #forwardEvents(events: readonly LoggedEvent[]) {
    for (const [id, own] of Map.groupBy(events, ({ organizationId }) => organizationId))
      await this.#organizations.get(id)?.sendEvents(own);
  }

  #takeResults = (organizationId: string, results: readonly StoredResult[]) =>
    this.#organizations.get(organizationId)?.noteResults(results);

  #takeDeliveries = (organizationId: string) =>
    this.#organizations.get(organizationId)?.planSearch({ deliveries: true });

  async #endUnauthorized() {
    for (const pages of this.#organizations.values()) await pages.endUnauthorized();
  }

  /** Reloads pages when writes start or stop failing, because all rows change without an event. */
  async #followWrites() {
    const failingSince = this.#dependencies.store.writes.getFailingSince();
    if (failingSince === this.#failingSince) return;
    this.#failingSince = failingSince;
    for (const pages of this.#organizations.values()) await pages.resetPages();
  }

  #rescan() {
    for (const pages of this.#organizations.values())
      pages.planSearch({ monitors: true, deliveries: true });
  }
}
