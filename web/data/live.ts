/** The live stream of events, and its effect on cached queries. */
import { effectOf, expandMonitor } from "../../src/dashboard/rules.ts";
import type { Attention } from "../../src/dashboard/problem-schema.ts";
import type { CompactMonitor } from "../../src/dashboard/schema.ts";
import { type EventNoun, type EventType, nounOf } from "../../src/events/catalog.ts";
import { onWrite } from "./client.ts";
import { connection } from "./connection.ts";
import {
  accountKey,
  attentionKey,
  listKey,
  buildManagedKey,
  recordKey,
  tracesKey,
  uneditedKey,
} from "./keys.ts";
import {
  changeOverview,
  isPartial,
  type Overview,
  overviewKey,
  overviewQuery,
  changeRows,
} from "./overview.ts";
import { queryClient } from "./query.ts";
import { loadSession, type Session } from "./session.ts";
import { signedOut } from "./signed-out.ts";
import { createStore } from "./store.ts";
import { openStream } from "./stream-source.ts";

/** Whether the page currently receives changes. */
export const liveState = createStore<"starting" | "live" | "lost">("starting");

/** Since when changes do not arrive, in Unix milliseconds; null while they do. */
export const staleSince = createStore<number | null>(null);

function updateStaleness() {
  const isStale = connection.get() === "lost" || liveState.get() === "lost";
  staleSince.set(isStale ? (staleSince.get() ?? Date.now()) : null);
}
liveState.subscribe(updateStaleness);
connection.subscribe(updateStaleness);

type Change = {
  type: EventType;
  subjectId: string;
  at: string;
};

const retryMs = 2_000;
/** A stream that opens faster than this misses nothing that a person could notice. */
const promptMs = 1_000;

/** Follows the events of an organization until the returned function is called. Reconnects, and catches up. */
export function followLive(organizationId: string): () => void {
  const stream = new LiveStream(organizationId);
  // The stream also reports this page's writes while it is connected. A replayed response repeats
  // an earlier one, so the record may have changed since.
  const stopListening = onWrite((isReplayed) => {
    if (isReplayed || liveState.get() !== "live") void queryClient.invalidateQueries();
  });
  liveState.set("starting");
  void stream.start();
  return () => {
    stopListening();
    stream.stop();
  };
}

class LiveStream {
  readonly #organizationId: string;
  /** Position in the event log. */
  #after = "";
  #source: { close: () => void } | null = null;
  /** Time from which messages are needed, in Unix milliseconds. */
  #since = performance.timeOrigin;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  /** True while the stream itself reports that the server is back. */
  #isGreeting = false;
  readonly #stopListening: () => void;

  constructor(organizationId: string) {
    this.#organizationId = organizationId;
    // Browsers do not notice a lost network: the stream could stay silent forever.
    this.#stopListening = connection.onRestored(() => {
      if (this.#source !== null && !this.#isGreeting) this.#open(true);
    });
  }

  /** Starts at the overview's position in the event log, so that no event is lost. */
  async start() {
    try {
      this.#after = (await queryClient.ensureQueryData(overviewQuery)).position;
      this.#open();
    } catch {
      this.#retryLater(() => this.start());
    }
  }

  stop() {
    this.#isStopped = true;
    this.#stopListening();
    this.#close();
    clearTimeout(this.#retry);
  }

  #retryLater(act: () => Promise<void>) {
    if (!this.#isStopped) this.#retry = setTimeout(() => void act(), retryMs);
  }

  async #reopen() {
    try {
      const session = await loadSession();
      // The person's role can have changed, or they left the organization.
      if (session.state === "signed-in") queryClient.setQueryData(["session"], session);
      else await signedOut.wait();
      this.#open();
    } catch {
      this.#retryLater(() => this.#reopen());
    }
  }

  #open(isRestored = false) {
    if (this.#isStopped) return;
    this.#close();
    clearTimeout(this.#retry);
    const [organizationId, after, since] = [this.#organizationId, this.#after, this.#since];
    this.#source = openStream(
      { organizationId, after, since, isRestored },
      (name, data, position) => this.#receive(name, data, position),
    );
  }

  #close() {
    if (this.#source === null) return;
    this.#source.close();
    this.#source = null;
    this.#since = Date.now();
  }

  #receive(name: string, data: string, position: string) {
    if (name === "change" || name === "reset") this.#after = position;
    if (name === "hello") this.#greet();
    else if (name === "change") applyChange(JSON.parse(data) as Change);
    else if (name === "monitors") applyRows(JSON.parse(data) as Rows);
    else if (name === "deliveries") applyDeliveries(JSON.parse(data) as { channelIds: string[] });
    else if (name === "reset") void queryClient.invalidateQueries();
    else {
      // The browser's own retry knows neither about the session nor about our position.
      this.#close();
      liveState.set("lost");
      this.#retryLater(() => this.#reopen());
    }
  }

  #greet() {
    liveState.set("live");
    // Deliveries are not in the event log, so those before the stream opened are not repeated.
    if (Date.now() - this.#since > promptMs) applyDeliveries({ channelIds: [] });
    this.#isGreeting = true;
    connection.markAnswered();
    this.#isGreeting = false;
  }
}

function applyDeliveries({ channelIds }: { channelIds: string[] }) {
  scheduleRefresh(["alert"], listKey("alert-channel"), tracesKey);
  scheduleRefresh(...channelIds.map((id) => recordKey("alert-channel", id)));
}

/** Lists of other nouns that an event also changes. */
const relatedLists: Partial<Record<EventNoun, EventNoun>> = {
  // Groups have channels like monitors, and an accepted invitation adds a person.
  group: "monitor",
  invitation: "person",
  // Reports change the numbers of open alerts.
  "source-alert": "alert-source",
  // The problems of the appliance are cached under the key of channels.
  appliance: "alert-channel",
};

function applyChange({ type, subjectId, at }: Change) {
  const noun = nounOf(type);
  const key = recordKey(noun, subjectId);
  const id = JSON.stringify(key);
  changeTimes.set(id, changeTimes.has(id) ? "" : at);
  scheduleRefresh(key, listKey(noun), ["audit-log"]);
  if (!type.endsWith(".updated")) scheduleRefresh(uneditedKey(subjectId));
  if (noun === "person" && type !== "person.updated") scheduleRefresh(accountKey);
  if (mayChangeManaged(type)) scheduleRefresh(buildManagedKey(noun));
  if (noun === "alert" || (noun === "monitor" && mayChangeAttention(type, subjectId)))
    scheduleRefresh(attentionKey);
  const related = relatedLists[noun];
  if (related !== undefined) scheduleRefresh(listKey(related));
  if (isPart()) {
    // Includes the server's counts and search results.
    if (noun === "monitor" || noun === "group") partialOverview.refresh();
  } else if (effectOf(type) === "overview") scheduleRefresh(overviewKey);
  // This page has read the session after its own sign-in.
  const isOfSelf = noun === "person" && type !== "person.signed-in" && isSelf(subjectId);
  if (noun === "organization" || isOfSelf) scheduleRefresh(["session"]);
}

/** The event of a write can have been recorded a little later than its record, in milliseconds. */
const sameWriteMs = 50;

/** Whether a cached record already has a change, because this page saved it. Both times are the server's. */
const hasChange = (record: unknown, at = "") =>
  Date.parse((record as { updatedAt?: string } | undefined)?.updatedAt ?? "") + sameWriteMs >=
  Date.parse(at);

/** Whether managed records can differ after an event. Without any, an edit changes none. */
function mayChangeManaged(type: EventType) {
  const managed = queryClient.getQueryData<unknown[]>(buildManagedKey(nounOf(type)));
  return !type.endsWith(".updated") || managed?.length !== 0;
}

/** Whether who was notified can differ after an event. An edit matters only while no one was. */
const mayChangeAttention = (type: EventType, id: string) =>
  type !== "monitor.updated" ||
  queryClient
    .getQueryData<Attention[]>(attentionKey)
    ?.some(({ monitorId, notified }) => monitorId === id && notified.length === 0) === true;

/** Whether the page has only the first of many monitors. */
function isPart() {
  const overview = queryClient.getQueryData<Overview>(overviewKey);
  return overview !== undefined && isPartial(overview);
}

/** Minimum interval between requests for a partial overview. */
const partialRefreshMs = 2_000;

const partialOverview = {
  timer: null as ReturnType<typeof setTimeout> | null,
  at: 0,
  refresh() {
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.at = performance.now();
        scheduleRefresh(overviewKey);
      },
      Math.max(0, this.at + partialRefreshMs - performance.now()),
    );
  },
};

const isSelf = (personId: string) =>
  queryClient.getQueryData<Session>(["session"])?.person?.id === personId;

type Rows = {
  monitors: CompactMonitor[];
  /** False after an edit. Edits also cause a `change` message. */
  checked?: false;
};

const checkListeners = new Set<(monitorIds: ReadonlySet<string>) => void>();

/** Calls the listener with the IDs of checked monitors. */
export function onChecks(listener: (monitorIds: ReadonlySet<string>) => void) {
  checkListeners.add(listener);
  return () => void checkListeners.delete(listener);
}

/**
 * Only changed rows get a new identity, so only they render again. A row keeps its group: moves are read with the order
 * of the group. An older message would undo a move that the person just made.
 */
function applyRows({ monitors, checked }: Rows) {
  const changed = new Map(monitors.map((row) => [row.id, expandMonitor(row)]));
  changeOverview((overview) =>
    changeRows(overview, (row) => {
      const next = changed.get(row.id);
      return next === undefined ? row : { ...next, groupId: row.groupId };
    }),
  );
  if (checked === false) return;
  const ids = new Set(changed.keys());
  for (const listener of checkListeners) listener(ids);
}

/** Time to collect changes, so that many of them cause one request. */
const collectMs = 100;
let collectedKeys: (readonly unknown[])[] = [];
/** Times of single changes, by the key of the record. Empty for several: not all can be of this page. */
let changeTimes = new Map<string, string>();

/** Refetches the visible queries whose keys start with one of these. */
function scheduleRefresh(...keys: (readonly unknown[])[]) {
  if (collectedKeys.length === 0) setTimeout(refreshCollected, collectMs);
  collectedKeys.push(...keys);
}

function refreshCollected() {
  const wantedKeys = new Set(collectedKeys.map((key) => JSON.stringify(key)));
  const times = changeTimes;
  collectedKeys = [];
  changeTimes = new Map();
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) =>
      !hasChange(state.data, times.get(JSON.stringify(queryKey))) &&
      queryKey.some((_, index) => wantedKeys.has(JSON.stringify(queryKey.slice(0, index + 1)))),
  });
}
