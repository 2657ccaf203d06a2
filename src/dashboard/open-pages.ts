/** Finds changed monitors and deliveries, and sends them with events to the open pages of one organization. */
import type { Clock } from "../core/time/clock.ts";
import type { Log } from "../core/log.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { Store } from "../database/store.ts";
import { canSeeGroup } from "../database/group-limit.ts";
import { nounOf, type LoggedEvent } from "../events/catalog.ts";
import { findLastSeqOfOrganization, findRemovedSeq } from "../events/log.ts";
import type { StoredResult } from "../events/signals.ts";
import { type Listener, encodeMessage, type Reader } from "../http/responses/event-stream.ts";
import { effectOf, sealPosition, replayable, openPosition } from "./rules.ts";
import type { CompactMonitor } from "./schema.ts";
import { selectVisibleEvents } from "./visible-events-store.ts";
import {
  findChannelSignatures,
  findEventsAfter,
  type LiveEvent,
  neverUsed,
  findMonitorVersions,
} from "./store.ts";

/** Minimum time between two batches of monitor rows. */
const batchMs = 500;
/** Maximum rows per batch. Further rows follow in the next batch. */
const maxRows = 500;
/** With more events at once, pages reload everything. */
const maxEvents = 200;

type Subscriber = Listener & {
  reader: Reader;
  /** Messages queued while missed events are read; null afterwards. */
  early: { seq: number; message: Uint8Array }[] | null;
  /** Log position up to which it received events when it joined. It can be ahead of the event reader. */
  caughtUpTo: number;
};

type Dependencies = { store: Store; clock: Clock; vault: Vault; log: Log };

/** Monitor groups to which a page is limited; null for all monitors. */
type Limit = readonly string[] | null;

/** Creates a message with the rows that a page can see; null without any. */
function buildRowsMessage(rows: readonly CompactMonitor[], groupIds: Limit, more = {}) {
  const monitors = rows.filter((row) => canSeeGroup({ groupIds }, row.groupId ?? null));
  return monitors.length === 0 ? null : encodeMessage("monitors", { monitors, ...more });
}

/** Changes that the next batch searches for. */
type Pending = { monitors: boolean; deliveries: boolean };

export class OpenPages {
  readonly organizationId: string;
  readonly subscribers = new Set<Subscriber>();
  readonly #dependencies: Dependencies;
  readonly #source: { store: Store; clock: Clock; organizationId: string };
  /** Resolves when the initial versions and signatures are loaded, for comparison. */
  readonly #ready: Promise<unknown>;
  /** Version and group of each monitor when its row last changed. */
  readonly #monitors = new Map<
    string,
    { version: string; checkedAt: string; groupId: string | null }
  >();
  /** Signature of the deliveries of each alert channel. */
  readonly #deliveries = new Map<string, string>();
  /** Ids of monitors whose rows must be sent, oldest change first. The value is true if a check changed the row. */
  readonly #changed = new Map<string, boolean>();
  #pending: Pending = { monitors: false, deliveries: false };
  /** Timer of the next batch, which is also set while a batch is being sent. */
  #batch: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(organizationId: string, dependencies: Dependencies) {
    const { store, clock } = dependencies;
    this.organizationId = organizationId;
    this.#dependencies = dependencies;
    this.#source = { store, clock, organizationId };
    // The initial state does not count as a change.
    this.#ready = Promise.all([
      this.#findMonitors().then(() => this.#changed.clear()),
      this.#findDeliveries(),
    ]);
  }

  join(reader: Reader, listener: Listener): Subscriber {
    const subscriber: Subscriber = { ...listener, reader, early: [], caughtUpTo: 0 };
    this.subscribers.add(subscriber);
    this.#ready
      .then(() => this.#catchUp(subscriber))
      .catch((error: unknown) => {
        this.#dependencies.log.error("live updates can't be sent to a page", {
          cause: String(error),
        });
        reader.end();
      });
    return subscriber;
  }

  close() {
    this.#isClosed = true;
    if (this.#batch !== null) clearTimeout(this.#batch);
  }

  async sendEvents(events: readonly LoggedEvent[]) {
    const effects = new Set(events.map(({ type }) => effectOf(type)));
    // A reader without access must not receive the following events.
    if (effects.has("access")) await this.endUnauthorized();
    const last = events.at(-1)?.seq ?? 0;
    if (events.length > maxEvents) this.#sendReset(last);
    else await this.#sendChanges(events);
    if (effects.has("rows") || effects.has("overview")) this.planSearch({ monitors: true });
  }

  noteResults(results: readonly StoredResult[]) {
    for (const { monitorId, at } of results) {
      this.#changed.set(monitorId, true);
      const known = this.#monitors.get(monitorId);
      if (known !== undefined) known.checkedAt = at;
    }
    this.planSearch({});
  }

  /** Schedules a batch that searches for these changes. */
  planSearch(changes: Partial<Pending>) {
    Object.assign(this.#pending, changes);
    this.#batch ??= setTimeout(() => void this.#sendBatch(), 0);
  }

  /** Makes all pages reload everything. */
  async resetPages() {
    const { store } = this.#dependencies;
    this.#sendReset(await findLastSeqOfOrganization(store, this.organizationId), Infinity);
  }

  /** Ends the streams of readers after a sign-out, an expired session or a changed role. */
  async endUnauthorized() {
    const pending = new Map<string, Promise<boolean>>();
    for (const { sessionId, role, groupIds, isAuthorized, reader } of this.subscribers) {
      const key = `${sessionId} ${role} ${JSON.stringify(groupIds)}`;
      const response = pending.get(key) ?? isAuthorized();
      pending.set(key, response);
      if (!(await response)) reader.end();
    }
  }

  /** Sends a message to all pages. It is built once for all pages with the same limit; null sends none. */
  #send(build: (limit: Limit) => Uint8Array | null, seq = Infinity) {
    const messages = new Map<string, Uint8Array | null>();
    for (const { groupIds, early, caughtUpTo, reader } of this.subscribers) {
      const key = JSON.stringify(groupIds);
      const message = messages.has(key) ? messages.get(key) : build(groupIds);
      messages.set(key, message ?? null);
      if (message == null) continue;
      if (early !== null) early.push({ seq, message });
      else if (seq > caughtUpTo) reader.send(message);
    }
  }

  #sendReset(position: number, seq = position) {
    this.#send((limit) => this.#buildMessage("reset", position, limit), seq);
  }

  async #sendChanges(events: readonly LiveEvent[]) {
    const limits = new Map(
      [...this.subscribers].map(({ groupIds }) => [JSON.stringify(groupIds), groupIds]),
    );
    const visible = new Map<string, ReadonlyMap<number, LiveEvent>>();
    for (const [key, limit] of limits) {
      if (limit === null) continue;
      const visibleByLimit = await this.#selectEvents(events, limit);
      visible.set(key, new Map(visibleByLimit.map((event) => [event.seq, event])));
    }
    for (const event of events)
      this.#send((limit) => {
        const visibleEvent =
          limit === null ? event : visible.get(JSON.stringify(limit))?.get(event.seq);
        return visibleEvent === undefined ? null : this.#buildChangeMessage(visibleEvent, limit);
      }, event.seq);
  }

  /** Returns the events that a page can receive. */
  async #selectEvents(events: readonly LiveEvent[], groupIds: Limit): Promise<LiveEvent[]> {
    if (groupIds === null) return [...events];
    const tenant = { ...this.#source, groupIds };
    return selectVisibleEvents(tenant, events, (id) => this.#monitors.get(id)?.groupId ?? null);
  }

  async #sendBatch() {
    const pending = this.#pending;
    this.#pending = { monitors: false, deliveries: false };
    try {
      if (pending.monitors) await this.#findMonitors();
      await this.#sendRows();
      const channelIds = pending.deliveries ? await this.#findDeliveries() : [];
      // A limited page refreshes its alerts, but sees no deliveries of channels.
      if (channelIds.length > 0)
        this.#send((limit) =>
          encodeMessage("deliveries", { channelIds: limit === null ? channelIds : [] }),
        );
    } catch (error) {
      Object.assign(this.#pending, pending);
      this.#dependencies.log.error("changes can't be sent to open pages", {
        cause: String(error),
      });
    }
    this.#batch = setTimeout(() => {
      this.#batch = null;
      const { monitors, deliveries } = this.#pending;
      if (!this.#isClosed && (monitors || deliveries || this.#changed.size > 0))
        this.planSearch({});
    }, batchMs);
  }

  async #findMonitors() {
    const found = await findMonitorVersions(this.#source);
    for (const { id, version, checkedAt, groupId } of found) {
      const known = this.#monitors.get(id);
      if (known?.version === version && known.checkedAt === checkedAt) continue;
      const isChecked = known !== undefined && known.checkedAt !== checkedAt;
      this.#changed.set(id, isChecked || this.#changed.get(id) === true);
      this.#monitors.set(id, { version, checkedAt, groupId });
    }
    if (this.#monitors.size === found.length) return;
    const foundIds = new Set(found.map(({ id }) => id));
    for (const id of this.#monitors.keys()) if (!foundIds.has(id)) this.#monitors.delete(id);
  }

  /** Returns the channels whose deliveries changed since the previous call. */
  async #findDeliveries() {
    const found = await findChannelSignatures(this.#source);
    const changed = found.filter(
      ({ id, signature }) => (this.#deliveries.get(id) ?? neverUsed) !== signature,
    );
    this.#deliveries.clear();
    for (const { id, signature } of found) this.#deliveries.set(id, signature);
    return changed.map(({ id }) => id);
  }

  // Loaded on first use, because a start without open pages needs no rows.
  async #readRows(ids: readonly string[]) {
    const { readRows } = await import("./service.ts");
    return readRows(this.#source, ids);
  }

  async #sendRows() {
    const isChecked = new Map([...this.#changed].slice(0, maxRows));
    if (isChecked.size === 0) return;
    for (const id of isChecked.keys()) this.#changed.delete(id);
    const rows = await this.#readRows([...isChecked.keys()]);
    const checked = rows.filter(({ id }) => isChecked.get(id) === true);
    const edited = rows.filter(({ id }) => isChecked.get(id) === false);
    this.#send((limit) => buildRowsMessage(checked, limit));
    // The event of an edit makes pages reload all other data of the monitor.
    this.#send((limit) => buildRowsMessage(edited, limit, { checked: false }));
  }

  /** Creates a message with a log position as its id. After an interruption, a page continues from this position. */
  #buildMessage(event: string, seq: number, groupIds: Limit, data = {}) {
    const { organizationId } = this;
    const position = sealPosition(this.#dependencies.vault, { organizationId, groupIds }, seq);
    return encodeMessage(event, data, position);
  }

  #buildChangeMessage({ seq, type, subjectId, at }: LiveEvent, limit: Limit) {
    return this.#buildMessage("change", seq, limit, { type, subjectId, at });
  }

  /** Sends the events since the position of the page, then the messages that were queued meanwhile. */
  async #catchUp(subscriber: Subscriber) {
    const { store, vault } = this.#dependencies;
    const { organizationId } = this;
    const { reader, groupIds } = subscriber;
    const seq = await findLastSeqOfOrganization(store, organizationId);
    reader.send(this.#buildMessage("hello", seq, groupIds));
    const after =
      subscriber.after === null
        ? seq
        : openPosition(vault, { organizationId, groupIds }, subscriber.after);
    const isKnown = after !== null && after <= seq && after >= (await findRemovedSeq(store));
    const missed = isKnown
      ? await findEventsAfter({ store, organizationId }, after, replayable + 1)
      : [];
    if (!isKnown || missed.length > replayable)
      reader.send(this.#buildMessage("reset", seq, groupIds));
    else {
      const visibleEvents = await this.#selectEvents(missed, groupIds);
      for (const event of visibleEvents) reader.send(this.#buildChangeMessage(event, groupIds));
      const changed = new Set(
        visibleEvents
          .filter(({ type }) => nounOf(type) === "monitor")
          .map((event) => event.subjectId),
      );
      const message = buildRowsMessage(await this.#readRows([...changed]), groupIds);
      if (message !== null) reader.send(message);
    }
    const sent = missed.at(-1)?.seq ?? seq;
    for (const early of subscriber.early ?? []) if (early.seq > sent) reader.send(early.message);
    Object.assign(subscriber, { early: null, caughtUpTo: sent });
  }
}
