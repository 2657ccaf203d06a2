import { expandMonitor } from "../../src/dashboard/rules.ts";
import type { CompactMonitor } from "../../src/dashboard/schema.ts";
import { refreshChannels } from "./alert-channels.ts";
import { dashboard } from "./client.ts";
import { connection } from "./connection.ts";
import { external } from "./external.ts";
import { changeOverview, overviewQuery, refreshOverview } from "./overview.ts";
import { queryClient } from "./query.ts";
import { loadSession, type Session } from "./session.ts";
import { signedOut } from "./signed-out.ts";

/** Whether changes arrive by themselves at the moment. */
export const liveState = external<"starting" | "live" | "lost">("starting");

type Change = {
  type: string;
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
  // A network that went away tells the browser nothing: the stream may stay silent for ever.
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
      replaceRows((JSON.parse(data as string) as { monitors: CompactMonitor[] }).monitors);
    });
    source.addEventListener("deliveries", ({ data }) => {
      const { channelIds } = JSON.parse(data as string) as { channelIds: string[] };
      refreshChannels(channelIds);
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

  liveState.set("starting");
  void begin();
  return () => {
    ended = true;
    heard();
    source?.close();
    if (retry !== null) clearTimeout(retry);
  };
}

const listeners = new Set<(change: Change) => void>();

/** Calls back with every change, for what queries can't say. */
export function onChange(listener: (change: Change) => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Changes that alter which rows there are, or what is in them beside the state. */
const structural = /^(group\.|monitor\.(created|updated|deleted|moved|reordered))/;

function apply(change: Change) {
  const [noun = ""] = change.type.split(".");
  if (structural.test(change.type)) soon(refreshOverview);
  if (noun === "organization" || (noun === "person" && isSelf(change.subjectId)))
    void queryClient.invalidateQueries({ queryKey: ["session"] });
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [name, id] }) =>
      (name === noun && id === change.subjectId) || name === `${noun}s`,
  });
  for (const listener of listeners) listener(change);
}

const isSelf = (personId: string) =>
  queryClient.getQueryData<Session>(["session"])?.person?.id === personId;

/** Only what changed gets a new identity, so only its row is painted anew. */
function replaceRows(rows: readonly CompactMonitor[]) {
  const changed = new Map(rows.map((row) => [row.id, expandMonitor(row)]));
  changeOverview((overview) => ({
    ...overview,
    monitors: overview.monitors.map((monitor) => changed.get(monitor.id) ?? monitor),
  }));
}

let pending: ReturnType<typeof setTimeout> | null = null;

/** Many changes at once ask the server once. */
function soon(refresh: () => unknown) {
  pending ??= setTimeout(() => {
    pending = null;
    refresh();
  }, 250);
}
