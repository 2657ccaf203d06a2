import { version } from "../core/assets.ts";
import { type Clock, timestamp } from "../core/time/clock.ts";
import { newId } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Listener } from "../core/security/target-guard.ts";
import type { Statement, Store } from "../database/store.ts";
import { forwarding, requestsFor } from "./forwarding.ts";
import type { Lease, Leases } from "./leases.ts";
import {
  aliveAt,
  changesFor,
  heldUntil,
  type LeaseRow,
  nextDeathAt,
  ranked,
  type Seen,
  seenNow,
  shardOf,
  ttlMs,
} from "./rules.ts";
import { beat, findBeats, findLeases, join, leave, release, takeFree, takeFrom } from "./store.ts";

const beatMs = 2_000;
/** A heartbeat that could not be written is tried again so soon. */
const retryMs = 500;
/** What another node is to do waits so long for what is under way here. */
const patienceMs = 30_000;

type Dependencies = {
  store: Store;
  clock: Clock;
  /** Milliseconds that only ever go forward. */
  monotonic?: Clock;
  log: Log;
  /** What people call it is known once it listens. */
  node: { id: string; name: () => string };
  /** How far the clock is ahead of the database's; null where that isn't known. */
  clockOffsetMs?: () => number | null;
  /** How far it has come in the log of events. */
  handled?: () => number;
  /** Where this node answers requests, as others reach it. */
  listeners?: () => readonly Listener[];
};

export type ClusterNode = Leases & {
  /** Joins the others; resolves when it knows what it does. Throws UNAVAILABLE. */
  start(): Promise<void>;
  /** Gives all it has to the others. */
  stop(): Promise<void>;
  /** One heartbeat and what follows from it: for tests, instead of `start`. */
  runOnce(): Promise<void>;
};

/** One of several nodes on the same data: shares the work with those that are alive. */
export function clusterNode({
  store,
  clock,
  monotonic = () => performance.now(),
  log,
  node,
  clockOffsetMs = () => null,
  handled = () => Infinity,
  listeners: ownListeners = () => [],
}: Dependencies): ClusterNode {
  const me = { id: node.id, run: newId(clock()) };
  const listeners: (() => Promise<void> | void)[] = [];
  const held = new Map<string, Lease>();
  let until = -Infinity;
  let seen: Seen = new Map();
  let others: readonly Listener[] = [];
  let lookedAt = -Infinity;
  /** Since when it looks without a break. */
  let looksSince = Infinity;
  /** Leases that are to be another's, and whether what was done under them has ended. */
  const ending = new Map<string, boolean>();
  let takes: Statement[] = [];
  let hasJoined = false;
  let isFailing = false;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let lapse: ReturnType<typeof setTimeout> | null = null;
  let beating: Promise<void> | null = null;
  let announced: Promise<unknown> = Promise.resolve();

  const startedAt = timestamp(clock());
  const self = () => ({ ...me, name: node.name(), version, startedAt });
  const find = (name: string) => (monotonic() < until ? (held.get(name) ?? null) : null);
  const forwarded = forwarding({
    store,
    clock,
    log,
    has: (name) => name === requestsFor(me.id) || find(name) !== null,
  });
  const ended = () => [...ending].filter(([, isEnded]) => isEnded).map(([name]) => name);

  async function tell(listener: (typeof listeners)[number]) {
    try {
      await listener();
    } catch (error) {
      log.error("work could not be taken or left", { cause: String(error) });
    }
  }

  function announce() {
    const all = Promise.all(listeners.map(tell));
    announced = Promise.all([announced, all]);
    return all;
  }

  const condition = () => {
    const seq = handled();
    return {
      clockOffsetMs: clockOffsetMs(),
      handled: seq === Infinity ? null : seq,
      listeners: ownListeners(),
    };
  };

  async function heartbeat() {
    const sentAt = monotonic();
    const now = clock();
    const first = hasJoined ? [] : join(self(), now);
    const released = ended();
    await store.atomic([
      ...first,
      beat(me, now, condition()),
      ...(released.length > 0 ? [release(released, me.id)] : []),
      ...takes.splice(0),
    ]);
    // After the heartbeat: until that is too old, nobody takes what is found to be ours here.
    const beats = await findBeats(store);
    const leases = await findLeases(store);
    others = beats.filter(({ id }) => id !== me.id).flatMap(({ listeners }) => listeners);
    const own = beats.find(({ id }) => id === me.id);
    hasJoined = own !== undefined;
    if (own !== undefined && own.run !== me.run) return replaced();
    // Nobody is dead because this node could not look.
    if (isFailing && monotonic() - lookedAt > ttlMs / 2) {
      seen = new Map();
      looksSince = Infinity;
    }
    lookedAt = monotonic();
    looksSince = Math.min(looksSince, lookedAt);
    seen = seenNow(seen, beats, lookedAt);
    const before = new Set(monotonic() < until ? held.values() : []);
    takeIn(leases);
    if (hasJoined) until = heldUntil(sentAt);
    if (before.symmetricDifference(new Set(held.values())).size > 0) void announce();
    decide(leases);
  }

  function takeIn(leases: readonly LeaseRow[]) {
    const ours = leases.filter(({ owner }) => owner === me.id);
    const epochs = new Map(ours.map(({ name, epoch }) => [name, epoch]));
    for (const name of ended()) if (!epochs.has(name)) ending.delete(name);
    for (const { name, epoch } of held.values()) if (epochs.get(name) !== epoch) held.delete(name);
    for (const [name, epoch] of epochs)
      if (!held.has(name) && !ending.has(name)) held.set(name, { name, epoch, owner: me.id });
  }

  function decide(leases: readonly LeaseRow[]) {
    const { take, release } = changesFor(me.id, leases, aliveAt(seen, monotonic()));
    takes = [...Map.groupBy(take, ({ owner }) => owner)].map(([owner, its]) => {
      const names = its.map(({ name }) => name);
      if (owner === null) return takeFree(names, me.id);
      log.warn("another node is gone: its work is taken over", { node: owner });
      return takeFrom({ id: owner, beat: seen.get(owner) }, names, me.id);
    });
    const names = release.map(({ name }) => name).filter((name) => !ending.has(name));
    if (names.length > 0) void giveUp(names);
  }

  /** What was done under these leases comes to its end before another node begins. */
  async function giveUp(names: readonly string[]) {
    for (const name of names) {
      ending.set(name, false);
      held.delete(name);
    }
    const end = () => {
      for (const name of names) if (ending.has(name)) ending.set(name, true);
      wake();
    };
    const late = setTimeout(end, patienceMs);
    await announce();
    clearTimeout(late);
    end();
  }

  /** Two processes have the same directory, or copies of it: the one that came last goes on. */
  function replaced() {
    isOver = true;
    until = -Infinity;
    held.clear();
    log.error("another process has taken the place of this node, which does nothing any more", {
      node: me.id,
    });
    void announce();
  }

  /** Whatever happens to the heartbeats: nothing goes on under a lease that others may take. */
  function watch() {
    if (lapse !== null) clearTimeout(lapse);
    if (until < monotonic()) return;
    lapse = setTimeout(() => {
      if (monotonic() < until) return watch();
      log.warn("the database was not reached for too long: others may do what this node did");
      void announce();
    }, until - monotonic());
  }

  function wake() {
    if (timer === null) return;
    clearTimeout(timer);
    go();
  }

  function go() {
    timer = null;
    let waitMs = beatMs;
    store.writes.began("leases");
    beating = heartbeat()
      .then(() => {
        isFailing = false;
        store.writes.succeeded("leases");
      })
      .catch((error: unknown) => {
        waitMs = retryMs;
        store.writes.failed("leases");
        if (isFailing) return;
        isFailing = true;
        const { cause = error } = error as { cause?: unknown };
        log.warn("a heartbeat could not be written", { cause: String(cause) });
      })
      .finally(() => {
        if (isOver) return;
        watch();
        const now = monotonic();
        const isUrgent = takes.length + ended().length > 0 && waitMs === beatMs;
        const wait = isUrgent ? 0 : Math.min(waitMs, nextDeathAt(seen, me.id, now) - now);
        timer = setTimeout(go, wait);
      });
  }

  return {
    node,
    listenersOfOthers: () => others,
    gone() {
      if (monotonic() - looksSince <= ttlMs) return null;
      const alive = new Set(aliveAt(seen, monotonic()));
      return [...seen.keys()].filter((id) => !alive.has(id));
    },
    all: () => (monotonic() < until ? [...held.values()] : []),
    named: find,
    of: (id) => find(shardOf(id)),
    forward: (id, request, timeoutMs) => forwarded.forward(shardOf(id), request, timeoutMs),
    ask(id, count, request, timeoutMs) {
      const others = aliveAt(seen, monotonic()).filter((other) => other !== me.id);
      const asked = ranked(id, others).slice(0, count);
      return forwarded.ask(asked, request, timeoutMs);
    },
    onForwarded: forwarded.onForwarded,
    catchUp: (line) => forwarded.catchUp(line),
    onChange: (listener) => void listeners.push(listener),
    async stillHeld(leases) {
      const rows = await findLeases(store);
      const ours = rows.filter(({ owner }) => owner === me.id);
      const epochs = new Map(ours.map(({ name, epoch }) => [name, epoch]));
      return new Set([...leases].filter(({ name, epoch }) => epochs.get(name) === epoch));
    },
    async start() {
      await heartbeat();
      go();
      await beating;
      forwarded.start();
    },
    async stop() {
      isOver = true;
      forwarded.stop();
      for (const pending of [timer, lapse]) if (pending !== null) clearTimeout(pending);
      await beating;
      held.clear();
      if (hasJoined) await store.atomic(leave(me));
    },
    async runOnce() {
      await heartbeat();
      await announced;
      await forwarded.runOnce();
    },
  };
}
