import type { Clock } from "../core/time/clock.ts";
import type { Log } from "../core/log.ts";
import { type Collector, family } from "../core/metrics.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { Store } from "../database/store.ts";
import { nounOf, type LoggedEvent } from "../events/catalogue.ts";
import { lastSeq, lastSeqOf, removedUpTo } from "../events/log.ts";
import type { EventReader, Subscription } from "../events/reader.ts";
import type { Signals, StoredResult } from "../events/signals.ts";
import {
  type Listener,
  type Live,
  messageOf,
  type Reader,
} from "../http/responses/event-stream.ts";
import { positionOf, seqOf, mayListen, replayable, effectOf } from "./rules.ts";
import { rowsOf } from "./service.ts";
import {
  channelSignaturesOf,
  neverUsed,
  eventsAfter,
  type LiveEvent,
  versionsOf,
} from "./store.ts";

/** Rows of monitors go out this often at most … */
const batchMs = 500;
/** … and so many at a time; the others follow with the next. */
const maxRows = 500;
/** Of more events at one time, pages are told to read everything anew. */
const maxEvents = 200;
/** How often it is asked whether a reader may still listen, beside what events say of people. */
const authorizeMs = 2_000;
/** How often pages notice that results can't be stored, or are again. */
const writesMs = 1_000;
/** Results and deliveries that another process writes are seen this late at most: where others serve, too, and where none does. */
const rescanMs = { shared: 5_000, alone: 30_000 };

type Subscriber = Listener & {
  reader: Reader;
  /** What came while what it missed is read; null from then on. */
  early: { seq: number; message: Uint8Array }[] | null;
  /** Up to here it was sent the log when it joined, which may be ahead of what the reader of events has read. */
  caughtUpTo: number;
};

/** The open pages of one organization, and what they know. */
type OpenPages = {
  /** What they are read with. */
  source: { store: Store; clock: Clock; organizationId: string };
  subscribers: Set<Subscriber>;
  /** Resolves when it is known what is there. */
  ready: Promise<void>;
  /** Of each monitor what it was when its row was last found to be another one. */
  monitors: Map<string, { version: string; checkedAt: string }>;
  /** The same of the deliveries of each alert channel. */
  deliveries: Map<string, string>;
  /** Monitors whose rows are to be sent, in the order in which they changed, and whether by a check. */
  changed: Map<string, boolean>;
  /** What is to be looked for with the next batch. */
  pending: { monitors: boolean; deliveries: boolean };
  /** Set while a batch waits for its time or is made. */
  batch: ReturnType<typeof setTimeout> | null;
};

type LivePages = Live &
  Collector & {
    start(): Promise<void>;
    /** Ends all streams at once. */
    stop(): Promise<void>;
  };

type Dependencies = {
  store: Store;
  clock: Clock;
  vault: Vault;
  events: EventReader;
  signals: Signals;
  log: Log;
};

/**
 * Sends the open pages of every organization what happens: its events as they are, and the rows of
 * monitors that changed, which checks do without an event. Read once, whoever listens.
 */
export function livePages({ store, clock, vault, events, signals, log }: Dependencies): LivePages {
  const organizations = new Map<string, OpenPages>();
  let subscription: Subscription | null = null;
  const timers: ReturnType<typeof setInterval>[] = [];
  let stopped = false;

  function send({ subscribers }: OpenPages, message: Uint8Array, seq = Infinity) {
    for (const { early, caughtUpTo, reader } of subscribers)
      if (early !== null) early.push({ seq, message });
      else if (seq > caughtUpTo) reader.send(message);
  }

  async function take(events: readonly LoggedEvent[]) {
    for (const [organizationId, its] of Map.groupBy(events, (event) => event.organizationId)) {
      const pages = organizations.get(organizationId);
      if (pages === undefined) continue;
      // Whoever lost the right to listen hears nothing of what came after.
      const changes = new Set(its.map(({ type }) => effectOf(type)));
      if (changes.has("access")) await endUnauthorized(pages);
      const last = its.at(-1)?.seq ?? 0;
      if (its.length > maxEvents) send(pages, at("reset", organizationId, last), last);
      else for (const event of its) send(pages, changeOf(organizationId, event), event.seq);
      if (changes.has("rows") || changes.has("overview")) plan(pages, { monitors: true });
    }
  }

  function onResults(organizationId: string, results: readonly StoredResult[]) {
    const pages = organizations.get(organizationId);
    if (pages === undefined) return;
    for (const { monitorId, at } of results) {
      pages.changed.set(monitorId, true);
      const known = pages.monitors.get(monitorId);
      if (known !== undefined) known.checkedAt = at;
    }
    plan(pages);
  }

  function onDeliveries(organizationId: string) {
    const pages = organizations.get(organizationId);
    if (pages !== undefined) plan(pages, { deliveries: true });
  }

  function plan(pages: OpenPages, looks: Partial<OpenPages["pending"]> = {}) {
    Object.assign(pages.pending, looks);
    pages.batch ??= setTimeout(() => void work(pages), 0);
  }

  async function work(pages: OpenPages) {
    const looks = pages.pending;
    pages.pending = { monitors: false, deliveries: false };
    try {
      if (looks.monitors) await findMonitors(pages);
      await sendRows(pages);
      const channelIds = looks.deliveries ? await findDeliveries(pages) : [];
      if (channelIds.length > 0) send(pages, messageOf("deliveries", { channelIds }));
    } catch (error) {
      Object.assign(pages.pending, looks);
      log.error("open pages can't be sent what changed", { cause: String(error) });
    }
    pages.batch = setTimeout(() => {
      pages.batch = null;
      if (stopped || organizations.get(pages.source.organizationId) !== pages) return;
      const { monitors, deliveries } = pages.pending;
      if (monitors || deliveries || pages.changed.size > 0) plan(pages);
    }, batchMs);
  }

  async function findMonitors({ source, monitors, changed }: OpenPages) {
    const found = await versionsOf(source);
    for (const { id, version, checkedAt } of found) {
      const known = monitors.get(id);
      if (known?.version === version && known.checkedAt === checkedAt) continue;
      const isChecked = known !== undefined && known.checkedAt !== checkedAt;
      changed.set(id, isChecked || changed.get(id) === true);
      monitors.set(id, { version, checkedAt });
    }
    if (monitors.size === found.length) return;
    const there = new Set(found.map(({ id }) => id));
    for (const id of monitors.keys()) if (!there.has(id)) monitors.delete(id);
  }

  /** Channels at which something was sent, tried or put off since this was last asked. */
  async function findDeliveries({ source, deliveries }: OpenPages) {
    const found = await channelSignaturesOf(source);
    const changed = found.filter(
      ({ id, signature }) => (deliveries.get(id) ?? neverUsed) !== signature,
    );
    deliveries.clear();
    for (const { id, signature } of found) deliveries.set(id, signature);
    return changed.map(({ id }) => id);
  }

  async function sendRows(pages: OpenPages) {
    const wanted = [...pages.changed].slice(0, maxRows);
    if (wanted.length === 0) return;
    for (const [id] of wanted) pages.changed.delete(id);
    const isChecked = new Map(wanted);
    const rows = await rowsOf(pages.source, [...isChecked.keys()]);
    const [checked, edited] = [true, false].map((wanted) =>
      rows.filter(({ id }) => isChecked.get(id) === wanted),
    );
    if (checked?.length) send(pages, messageOf("monitors", { monitors: checked }));
    // What else they show of these monitors pages have read anew at their events.
    if (edited?.length) send(pages, messageOf("monitors", { monitors: edited, checked: false }));
  }

  /** A message whose id is a position in the log, from which a page that was away goes on. */
  function at(event: string, organizationId: string, seq: number, data = {}) {
    return messageOf(event, data, positionOf(vault, organizationId, seq));
  }

  function changeOf(organizationId: string, { seq, type, subjectId, at: time }: LiveEvent) {
    return at("change", organizationId, seq, { type, subjectId, at: time });
  }

  /** What a page missed since the position that it knows, and from then on what comes. */
  async function catchUp(subscriber: Subscriber) {
    const { organizationId, reader } = subscriber;
    const seq = await lastSeqOf(store, organizationId);
    reader.send(at("hello", organizationId, seq));
    const after = subscriber.after === null ? seq : seqOf(vault, organizationId, subscriber.after);
    const isKnown = after !== null && after <= seq && after >= (await removedUpTo(store));
    const missed = isKnown
      ? await eventsAfter({ store, organizationId }, after, replayable + 1)
      : [];
    if (!isKnown || missed.length > replayable) reader.send(at("reset", organizationId, seq));
    else {
      for (const event of missed) reader.send(changeOf(organizationId, event));
      const changed = new Set(
        missed.filter(({ type }) => nounOf(type) === "monitor").map((event) => event.subjectId),
      );
      const monitors = await rowsOf({ store, clock, organizationId }, [...changed]);
      if (monitors.length > 0) reader.send(messageOf("monitors", { monitors }));
    }
    const sent = missed.at(-1)?.seq ?? seq;
    for (const early of subscriber.early ?? []) if (early.seq > sent) reader.send(early.message);
    Object.assign(subscriber, { early: null, caughtUpTo: sent });
  }

  function* allSubscribers() {
    for (const { subscribers } of organizations.values()) yield* subscribers;
  }

  function pagesOf(organizationId: string): OpenPages {
    const known = organizations.get(organizationId);
    if (known !== undefined) return known;
    const pages: OpenPages = {
      source: { store, clock, organizationId },
      subscribers: new Set(),
      ready: Promise.resolve(),
      monitors: new Map(),
      deliveries: new Map(),
      changed: new Map(),
      pending: { monitors: false, deliveries: false },
      batch: null,
    };
    organizations.set(organizationId, pages);
    // What is there to begin with is no change.
    pages.ready = Promise.all([
      findMonitors(pages).then(() => pages.changed.clear()),
      findDeliveries(pages),
    ]).then(() => {});
    return pages;
  }

  /** Those who signed out, whose session grew old, or who left the organization or have another role in it. */
  async function endAllUnauthorized() {
    for (const pages of organizations.values()) await endUnauthorized(pages);
  }

  async function endUnauthorized({ subscribers }: OpenPages) {
    const asked = new Map<string, Promise<boolean>>();
    for (const { sessionId, role, isAuthorized, reader } of subscribers) {
      const key = `${sessionId} ${role}`;
      const answer = asked.get(key) ?? isAuthorized();
      asked.set(key, answer);
      if (!(await answer)) reader.end();
    }
  }

  let failingSince: number | null = null;

  /** While results can't be stored no monitor is judged: every row changes, without an event. */
  async function followWrites() {
    const now = store.writes.failingSince();
    if (now === failingSince) return;
    failingSince = now;
    for (const [organizationId, pages] of organizations)
      send(pages, at("reset", organizationId, await lastSeqOf(store, organizationId)));
  }

  function rescan() {
    for (const pages of organizations.values()) plan(pages, { monitors: true, deliveries: true });
  }

  return {
    metrics: () => [
      family(
        "signalbox_event_streams",
        "gauge",
        "Open pages that listen to what happens.",
        [...allSubscribers()].length,
      ),
    ],
    async start() {
      subscription = events.subscribe("live", await lastSeq(store), take);
      signals.on("results", onResults).on("deliveries", onDeliveries);
      timers.push(
        setInterval(() => {
          endAllUnauthorized().catch((error: unknown) =>
            log.error("sessions of open pages can't be read", { cause: String(error) }),
          );
        }, authorizeMs),
        setInterval(() => {
          followWrites().catch((error: unknown) =>
            log.error("open pages can't be sent what changed", { cause: String(error) }),
          );
        }, writesMs),
        setInterval(rescan, store.revision() === null ? rescanMs.shared : rescanMs.alone),
      );
    },
    async stop() {
      stopped = true;
      signals.off("results", onResults).off("deliveries", onDeliveries);
      for (const timer of timers) clearInterval(timer);
      for (const { subscribers, batch } of organizations.values()) {
        if (batch !== null) clearTimeout(batch);
        for (const { reader } of subscribers) reader.end();
      }
      await subscription?.stop();
    },
    isOpen: () => !stopped,
    mayListen: (listener) => mayListen(listener, allSubscribers()),
    join(reader, listener) {
      const subscriber: Subscriber = { ...listener, reader, early: [], caughtUpTo: 0 };
      const { organizationId } = listener;
      const pages = pagesOf(organizationId);
      pages.subscribers.add(subscriber);
      pages.ready
        .then(() => catchUp(subscriber))
        .catch((error: unknown) => {
          log.error("a page can't be sent what happens", { cause: String(error) });
          reader.end();
        });
      return () => {
        if (!pages.subscribers.delete(subscriber)) return;
        if (pages.subscribers.size > 0) return;
        if (pages.batch !== null) clearTimeout(pages.batch);
        if (organizations.get(organizationId) === pages) organizations.delete(organizationId);
      };
    },
  };
}
