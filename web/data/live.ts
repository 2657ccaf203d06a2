import { effectOf, expandMonitor } from "../../src/dashboard/rules.ts";
import type { CompactMonitor } from "../../src/dashboard/schema.ts";
import { type EventNoun, type EventType, nounOf } from "../../src/events/catalogue.ts";
import { dashboard, onWritten } from "./client.ts";
import { connection } from "./connection.ts";
import { attentionKey, listKey, recordKey, tracesKey } from "./keys.ts";
import {
  changeOverview,
  isPartly,
  type Overview,
  overviewKey,
  overviewQuery,
  withChanged,
} from "./overview.ts";
import { queryClient } from "./query.ts";
import { loadSession, type Session } from "./session.ts";
import { signedOut } from "./signed-out.ts";
import { createStore } from "./store.ts";

/** Whether changes arrive by themselves at the moment. */
export const liveState = createStore<"starting" | "live" | "lost">("starting");

type Change = {
  type: EventType;
  subjectId: string;
  at: string;
};

const retryMs = 2_000;

/** Follows what happens in an organization until called off; reconnects by itself and asks for what it missed. */
export function followLive(organizationId: string): () => void {
  let after = "";
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | null = null;
  let ended = false;
  let greeted = false;
  // A browser does not notice a network that went away: the stream may stay silent for ever.
  const heard = connection.onRestored(() => {
    if (source !== null && !greeted && !ended) open();
  });

  function open() {
    source?.close();
    if (retry !== null) clearTimeout(retry);
    retry = null;
    source = new EventSource(
      `${dashboard.live["~path"]}?organization=${organizationId}&after=${after}`,
    );
    source.addEventListener("hello", () => {
      liveState.set("live");
      greeted = true;
      connection.answered();
      greeted = false;
    });
    source.addEventListener("change", ({ data, lastEventId }) => {
      after = lastEventId;
      apply(JSON.parse(data as string) as Change);
    });
    source.addEventListener("monitors", ({ data }) => {
      takeRows(JSON.parse(data as string) as Rows);
    });
    source.addEventListener("deliveries", ({ data }) => {
      const { channelIds } = JSON.parse(data as string) as { channelIds: string[] };
      refresh(listKey("alert-channel"), tracesKey);
      refresh(...channelIds.map((id) => recordKey("alert-channel", id)));
    });
    source.addEventListener("reset", ({ lastEventId }) => {
      after = lastEventId;
      void queryClient.invalidateQueries();
    });
    source.addEventListener("error", () => {
      // The browser's own way of trying again knows neither an ended session nor our place in the log.
      source?.close();
      liveState.set("lost");
      if (!ended) retry = setTimeout(() => void again(), retryMs);
    });
  }

  async function again() {
    try {
      const session = await loadSession();
      // Their role may be another one now, or the organization none of theirs.
      if (session.state === "signed-in") queryClient.setQueryData(["session"], session);
      else await signedOut.wait();
      if (!ended) open();
    } catch {
      if (!ended) retry = setTimeout(() => void again(), retryMs);
    }
  }

  /** From what is on the page on: nothing falls between reading it and following it. */
  async function begin() {
    try {
      after = (await queryClient.ensureQueryData(overviewQuery)).position;
      if (!ended) open();
    } catch {
      if (!ended) retry = setTimeout(() => void begin(), retryMs);
    }
  }

  // The stream also reports what this page itself has written, while it is connected; what is answered
  // as it was at first may have been changed since.
  const unheard = onWritten((isReplayed) => {
    if (isReplayed || liveState.get() !== "live") void queryClient.invalidateQueries();
  });

  liveState.set("starting");
  void begin();
  return () => {
    ended = true;
    heard();
    unheard();
    source?.close();
    if (retry !== null) clearTimeout(retry);
  };
}

/** Lists of other nouns that an event changes, too. */
const alsoLists: Partial<Record<EventNoun, EventNoun>> = {
  // Groups have channels as monitors have, and who joins appears among the people.
  group: "monitor",
  invitation: "person",
  // Among what keeps people from being told.
  appliance: "alert-channel",
};

function apply({ type, subjectId }: Change) {
  const noun = nounOf(type);
  refresh(recordKey(noun, subjectId), listKey(noun), ["audit-log"]);
  if (noun === "monitor") refresh(attentionKey);
  const also = alsoLists[noun];
  if (also !== undefined) refresh(listKey(also));
  if (isPart()) {
    // Also what the server counts and finds.
    if (noun === "monitor" || noun === "group") partly.refresh();
  } else if (effectOf(type) === "overview") refresh(overviewKey);
  if (noun === "organization" || (noun === "person" && isSelf(subjectId))) refresh(["session"]);
}

/** Whether the page has but the first of many monitors. */
function isPart() {
  const overview = queryClient.getQueryData<Overview>(overviewKey);
  return overview !== undefined && isPartly(overview);
}

/** What many monitors come to is asked for this often at most. */
const partlyMs = 2_000;

const partly = {
  timer: null as ReturnType<typeof setTimeout> | null,
  at: 0,
  refresh() {
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.at = performance.now();
        refresh(overviewKey);
      },
      Math.max(0, this.at + partlyMs - performance.now()),
    );
  },
};

const isSelf = (personId: string) =>
  queryClient.getQueryData<Session>(["session"])?.person?.id === personId;

type Rows = {
  monitors: CompactMonitor[];
  /** False where somebody changed the monitors, which `change` has reported. */
  checked?: false;
};

const checkListeners = new Set<(monitorIds: ReadonlySet<string>) => void>();

/** Calls back with the monitors that were checked. */
export function onChecks(listener: (monitorIds: ReadonlySet<string>) => void) {
  checkListeners.add(listener);
  return () => void checkListeners.delete(listener);
}

/** Only what changed gets a new identity, so only its row is painted anew. */
function takeRows({ monitors, checked }: Rows) {
  const changed = new Map(monitors.map((row) => [row.id, expandMonitor(row)]));
  changeOverview((overview) => withChanged(overview, (row) => changed.get(row.id) ?? row));
  if (checked === false) return;
  const ids = new Set(changed.keys());
  for (const listener of checkListeners) listener(ids);
}

/** So long changes gather: many at once ask the server once. */
const gatherMs = 100;
let gathered: (readonly unknown[])[] = [];

/** Has what these keys begin with read anew, where it is shown. */
function refresh(...keys: (readonly unknown[])[]) {
  if (gathered.length === 0) setTimeout(refreshGathered, gatherMs);
  gathered.push(...keys);
}

function refreshGathered() {
  const wanted = new Set(gathered.map((key) => JSON.stringify(key)));
  gathered = [];
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) =>
      queryKey.some((_, index) => wanted.has(JSON.stringify(queryKey.slice(0, index + 1)))),
  });
}
