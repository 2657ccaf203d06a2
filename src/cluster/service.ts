/** Runs this node in a cluster: writes heartbeats, and takes and releases leases. */
import { version } from "../core/assets.ts";
import { type Clock, formatTimestamp } from "../core/time/clock.ts";
import { createId } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Listener } from "../core/security/target-guard.ts";
import type { Statement, Store } from "../database/store.ts";
import { type ForwardedHandler, Forwarding, buildNodeLine } from "./forwarding.ts";
import type { Lease, Leases } from "./leases.ts";
import {
  listAliveNodes,
  type Beat,
  planLeaseChanges,
  computeLeaseEnd,
  type LeaseRow,
  type NamedLease,
  computeNextDeath,
  rankNodes,
  type SeenBeats,
  updateSeen,
  shardOf,
  ttlMs,
} from "./rules.ts";
import {
  recordBeat,
  findBeats,
  findLeases,
  registerNode,
  unregisterNode,
  releaseLeases,
  claimFreeLeases,
  claimLeasesOfDead,
} from "./store.ts";

const beatMs = 2_000;
/** Retry interval after a failed heartbeat, in milliseconds. */
const retryMs = 500;
/** Maximum wait for work in flight before a lease is released, in milliseconds. */
const patienceMs = 30_000;

type Dependencies = {
  store: Store;
  clock: Clock;
  /** Monotonic clock, in milliseconds. */
  monotonic?: Clock;
  log: Log;
  /** ID and name of this node. The name is known once the node listens. */
  node: { id: string; name: () => string };
  /** Milliseconds by which this clock is ahead of the database's clocks; null if unknown. */
  clockOffsetMs?: () => number | null;
  /** Position of this node in the event log. */
  handled?: () => number;
  /** Listeners of this node, which other nodes block as targets. */
  listeners?: () => readonly Listener[];
};

/** A node of a cluster. It shares the leases with the other living nodes. */
export class ClusterNode implements Leases {
  readonly node: Dependencies["node"];
  readonly #dependencies: Required<Dependencies>;
  /** ID of the node and its process. A second process with the same ID has another `run`. */
  readonly #me: { id: string; run: string };
  readonly #startedAt: string;
  readonly #forwarding: Forwarding;
  readonly #onChange: (() => Promise<void> | void)[] = [];
  readonly #held = new Map<string, Lease>();
  /** Monotonic time until which this node's leases are valid. */
  #heldUntil = -Infinity;
  #seen: SeenBeats = new Map();
  #listenersOfOthers: readonly Listener[] = [];
  #seenAt = -Infinity;
  /** Time since which this node has read heartbeats without a gap. */
  #seesSince = Infinity;
  /** Leases that this node is releasing, and whether their work has stopped. */
  readonly #ending = new Map<string, boolean>();
  #takes: Statement[] = [];
  #hasJoined = false;
  #isFailing = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lapse: ReturnType<typeof setTimeout> | null = null;
  #beating: Promise<void> | null = null;
  #announced: Promise<unknown> = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.#dependencies = {
      monotonic: () => performance.now(),
      clockOffsetMs: () => null,
      handled: () => Infinity,
      listeners: () => [],
      ...dependencies,
    };
    const { store, clock, log, node } = dependencies;
    this.node = node;
    this.#me = { id: node.id, run: createId(clock()) };
    this.#startedAt = formatTimestamp(clock());
    this.#forwarding = new Forwarding({
      store,
      clock,
      log,
      has: (name) => name === buildNodeLine(node.id) || this.#find(name) !== null,
    });
  }

  /** Joins the cluster, and resolves when the leases are known. Throws UNAVAILABLE. */
  async start() {
    await this.#sendHeartbeat();
    this.#go();
    await this.#beating;
    this.#forwarding.start();
  }

  /** Stops, and releases all leases to the other nodes. */
  async stop() {
    this.#isOver = true;
    this.#forwarding.stop();
    for (const pending of [this.#timer, this.#lapse]) if (pending !== null) clearTimeout(pending);
    await this.#beating;
    this.#held.clear();
    if (this.#hasJoined) await this.#dependencies.store.atomic(unregisterNode(this.#me));
  }

  /** Runs one heartbeat and its effects. Tests call it instead of `start`. */
  async runOnce() {
    await this.#sendHeartbeat();
    await this.#announced;
    await this.#forwarding.runOnce();
  }

  listListenersOfOthers() {
    return this.#listenersOfOthers;
  }

  listDeadNodes() {
    const now = this.#dependencies.monotonic();
    if (now - this.#seesSince <= ttlMs) return null;
    const alive = new Set(listAliveNodes(this.#seen, now));
    return [...this.#seen.keys()].filter((id) => !alive.has(id));
  }

  listOwn() {
    return this.#isHolding() ? [...this.#held.values()] : [];
  }

  findNamed(name: NamedLease) {
    return this.#find(name);
  }

  findByRecord(id: string) {
    return this.#find(shardOf(id));
  }

  onChange(listener: () => Promise<void> | void) {
    this.#onChange.push(listener);
  }

  forward(id: string, request: object, timeoutMs: number) {
    return this.#forwarding.forward(shardOf(id), request, timeoutMs);
  }

  request(id: string, count: number, request: object, timeoutMs: number) {
    const alive = listAliveNodes(this.#seen, this.#dependencies.monotonic());
    const others = alive.filter((other) => other !== this.node.id);
    return this.#forwarding.requestFromNodes(
      rankNodes(id, others).slice(0, count),
      request,
      timeoutMs,
    );
  }

  onForwarded(handler: ForwardedHandler) {
    this.#forwarding.onForwarded(handler);
  }

  catchUp(line: string) {
    return this.#forwarding.waitUntilServed(line);
  }

  async findStillOwned(leases: Iterable<Lease>) {
    const epochs = this.#listOwnEpochs(await findLeases(this.#dependencies.store));
    return new Set([...leases].filter(({ name, epoch }) => epochs.get(name) === epoch));
  }

  #isHolding() {
    return this.#dependencies.monotonic() < this.#heldUntil;
  }

  #find(name: string): Lease | null {
    return this.#isHolding() ? (this.#held.get(name) ?? null) : null;
  }

  #listOwnEpochs(leases: readonly LeaseRow[]) {
    const ownLeases = leases.filter(({ owner }) => owner === this.node.id);
    return new Map(ownLeases.map(({ name, epoch }) => [name, epoch]));
  }

  #listEnded() {
    return [...this.#ending].filter(([, isEnded]) => isEnded).map(([name]) => name);
  }

  /** Writes a heartbeat, reads the other nodes and the leases, and takes or releases leases. */
  async #sendHeartbeat() {
    const { store, monotonic } = this.#dependencies;
    const sentAt = monotonic();
    await store.atomic(this.#buildStatements());
    // Reads leases after the heartbeat. While it is fresh, no other node can take leases that this node owns now.
    const beats = await findBeats(store);
    const leases = await findLeases(store);
    const { id, run } = this.#me;
    this.#listenersOfOthers = beats
      .filter((beat) => beat.id !== id)
      .flatMap(({ listeners }) => listeners);
    const ownBeat = beats.find((beat) => beat.id === id);
    this.#hasJoined = ownBeat !== undefined;
    if (ownBeat !== undefined && ownBeat.run !== run) return this.#stopReplaced();
    this.#recordBeats(beats);
    const before = new Set(this.listOwn());
    this.#takeIn(leases);
    if (this.#hasJoined) this.#heldUntil = computeLeaseEnd(sentAt);
    if (before.symmetricDifference(new Set(this.#held.values())).size > 0) void this.#announce();
    this.#decide(leases);
  }

  #buildStatements(): Statement[] {
    const { clock, clockOffsetMs, handled, listeners, node } = this.#dependencies;
    const now = clock();
    const seq = handled();
    const self = { ...this.#me, name: node.name(), version, startedAt: this.#startedAt };
    const ended = this.#listEnded();
    return [
      ...(this.#hasJoined ? [] : registerNode(self, now)),
      recordBeat(this.#me, now, {
        clockOffsetMs: clockOffsetMs(),
        handled: seq === Infinity ? null : seq,
        listeners: listeners(),
      }),
      ...(ended.length > 0 ? [releaseLeases(ended, node.id)] : []),
      ...this.#takes.splice(0),
    ];
  }

  #recordBeats(beats: readonly Beat[]) {
    const now = this.#dependencies.monotonic();
    // Forgets all heartbeats after a gap. Otherwise nodes would seem dead because this node could not read.
    if (this.#isFailing && now - this.#seenAt > ttlMs / 2) {
      this.#seen = new Map();
      this.#seesSince = Infinity;
    }
    this.#seenAt = now;
    this.#seesSince = Math.min(this.#seesSince, now);
    this.#seen = updateSeen(this.#seen, beats, now);
  }

  #takeIn(leases: readonly LeaseRow[]) {
    const epochs = this.#listOwnEpochs(leases);
    for (const name of this.#listEnded()) if (!epochs.has(name)) this.#ending.delete(name);
    for (const { name, epoch } of this.#held.values())
      if (epochs.get(name) !== epoch) this.#held.delete(name);
    for (const [name, epoch] of epochs)
      if (!this.#held.has(name) && !this.#ending.has(name))
        this.#held.set(name, { name, epoch, owner: this.node.id });
  }

  #decide(leases: readonly LeaseRow[]) {
    const { log, monotonic } = this.#dependencies;
    const { id } = this.node;
    const { take, release } = planLeaseChanges(id, leases, listAliveNodes(this.#seen, monotonic()));
    this.#takes = [...Map.groupBy(take, ({ owner }) => owner)].map(([owner, rows]) => {
      const names = rows.map(({ name }) => name);
      if (owner === null) return claimFreeLeases(names, id);
      log.warn("another node is dead: taking over its work", { node: owner });
      return claimLeasesOfDead({ id: owner, beat: this.#seen.get(owner) }, names, id);
    });
    const names = release.map(({ name }) => name).filter((name) => !this.#ending.has(name));
    if (names.length > 0) void this.#giveUp(names);
  }

  /** Stops the work under these leases. The next heartbeat then releases them. */
  async #giveUp(names: readonly string[]) {
    for (const name of names) {
      this.#ending.set(name, false);
      this.#held.delete(name);
    }
    const end = () => {
      for (const name of names) if (this.#ending.has(name)) this.#ending.set(name, true);
      this.#wake();
    };
    const late = setTimeout(end, patienceMs);
    await this.#announce();
    clearTimeout(late);
    end();
  }

  #announce() {
    const { log } = this.#dependencies;
    const all = Promise.all(
      this.#onChange.map(async (listener) => {
        try {
          await listener();
        } catch (error) {
          log.error("work could not be started or stopped", { cause: String(error) });
        }
      }),
    );
    this.#announced = Promise.all([this.#announced, all]);
    return all;
  }

  /** Stops this process, because a later process uses the same directory or a copy of it. */
  #stopReplaced() {
    this.#isOver = true;
    this.#heldUntil = -Infinity;
    this.#held.clear();
    this.#dependencies.log.error(
      "another process has replaced this node, which has stopped all work",
      { node: this.node.id },
    );
    void this.#announce();
  }

  /** Stops all work when the leases expire, even while a heartbeat neither succeeds nor fails. */
  #watchExpiry() {
    const { log, monotonic } = this.#dependencies;
    if (this.#lapse !== null) clearTimeout(this.#lapse);
    if (this.#heldUntil < monotonic()) return;
    this.#lapse = setTimeout(() => {
      if (this.#isHolding()) return this.#watchExpiry();
      log.warn(
        "the database was unreachable for too long: other nodes can take over this node's work",
      );
      void this.#announce();
    }, this.#heldUntil - monotonic());
  }

  #wake() {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#go();
  }

  #go() {
    const { store } = this.#dependencies;
    this.#timer = null;
    store.writes.recordStart("leases");
    this.#beating = this.#sendHeartbeat()
      .then(() => {
        this.#isFailing = false;
        store.writes.recordSuccess("leases");
        return beatMs;
      })
      .catch((error: unknown) => {
        store.writes.recordFailure("leases");
        this.#reportFailure(error);
        return retryMs;
      })
      .then((waitMs) => this.#planNext(waitMs));
  }

  #reportFailure(error: unknown) {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { cause = error } = error as { cause?: unknown };
    this.#dependencies.log.warn("a heartbeat could not be written", { cause: String(cause) });
  }

  #planNext(waitMs: number) {
    if (this.#isOver) return;
    this.#watchExpiry();
    const now = this.#dependencies.monotonic();
    const isUrgent = this.#takes.length + this.#listEnded().length > 0 && waitMs === beatMs;
    const wait = isUrgent
      ? 0
      : Math.min(waitMs, computeNextDeath(this.#seen, this.node.id, now) - now);
    this.#timer = setTimeout(() => this.#go(), wait);
  }
}
