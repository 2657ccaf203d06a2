/** Sends due deliveries from the outbox, one at a time per receiver, so that a slow receiver delays only itself. */
import { type Lease, LeaseLost, type Leases, guardLeases } from "../../cluster/leases.ts";
import { StaleRead } from "../../database/store.ts";
import { createDeliveryMetrics } from "../metrics.ts";
import { type SendingContext, defaultAttemptMs } from "./attempt.ts";
import {
  claimDelivery,
  findClaimedDeliveries,
  removeDeliveries,
  endOvertakenDeliveries,
  readQueue,
  type ReadyDelivery,
  type Receiver,
  type ReceiverKey,
  createReceiverRound,
  type Receivers,
  type ReceiverType,
  releaseClaim,
  type Retry,
  type CompletedAttempt,
  recordAttempt,
  skipDelivery,
  statusAfter,
  type WaitingReceiver,
} from "./queue.ts";
import { type DeliveryTurns, createDeliveryTurns, createTurn } from "./delivery-turns.ts";
import {
  hasArrivedPartly,
  computeWaitEnd,
  isDue,
  computeNextAttempt,
  pickNextDelivery,
  findOvertaken,
  type Queued,
} from "./queue-rules.ts";

/** Duration of a claim. After a crash, the attempt is repeated when the claim expires. */
const leaseMs = defaultAttemptMs + 10_000;

type Dependencies = Pick<SendingContext, "store" | "clock" | "log" | "signals"> & {
  leases: Leases;
  receivers: Readonly<Record<ReceiverType, Receivers>>;
  random?: () => number;
};

/** Whether the receiver requested a wait, and whether the delivery failed. */
type Outcome = { isWaiting: boolean; isFailing: boolean };

type NextDelivery = { next: Queued; overtaken: readonly Queued[] };

/** A receiver and its claimed delivery. */
type ClaimedDelivery = { key: ReceiverKey; receiver: Receiver; queued: Queued; claimedAt: number };

const done: Outcome = { isWaiting: false, isFailing: false };

export class Notifier {
  readonly #working = new Map<string, { receiverId: string; done: Promise<void> }>();
  readonly #turns: ReadonlyMap<string, DeliveryTurns>;
  readonly #canceling = new AbortController();
  readonly #counted = createDeliveryMetrics();
  readonly #dependencies: Dependencies;
  readonly #round: ReturnType<typeof createReceiverRound>;
  readonly #random: () => number;
  #hasMore = false;
  #hasStarted = false;
  #isStopped = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const { receivers, store, leases, random = Math.random } = dependencies;
    this.#turns = new Map(
      Object.entries(receivers).map(([type, { slots }]) => [type, createDeliveryTurns(slots)]),
    );
    this.#round = createReceiverRound(store);
    this.#random = random;
    leases.onChange(() => this.#followLeases());
  }

  metrics() {
    return this.#counted.families();
  }

  /** Starts sending, and frees deliveries that a crash left claimed. */
  start() {
    this.#hasStarted = true;
    return this.#freeClaims();
  }

  /** Starts sending all due deliveries. Call it regularly. */
  wake() {
    if (this.#isStopped) return;
    this.#serveAll().catch((error: unknown) =>
      this.#dependencies.log.error("the outbox can't be read", { cause: String(error) }),
    );
  }

  /** Waits up to `graceMs` for attempts in flight, then aborts them. They are repeated after a restart. */
  async stop(graceMs: number) {
    this.#isStopped = true;
    const abortTimer = setTimeout(() => this.#canceling.abort(), graceMs);
    await this.#waitUntilIdle();
    clearTimeout(abortTimer);
  }

  /** Sends all due deliveries and waits for them. Tests use it. */
  async runOnce() {
    this.#hasStarted = true;
    let isMore = true;
    while (isMore) {
      isMore = await this.#serveAll();
      while (this.#working.size > 0) await this.#waitUntilIdle();
    }
  }

  #waitUntilIdle() {
    return Promise.all([...this.#working.values()].map(({ done }) => done));
  }

  /** Waits for attempts to receivers whose lease moved to another node, then continues sending. */
  async #followLeases() {
    const { leases } = this.#dependencies;
    const lost = [...this.#working.values()].filter(
      ({ receiverId }) => leases.findByRecord(receiverId) === null,
    );
    await Promise.all(lost.map(({ done }) => done));
    if (!this.#hasStarted || this.#isStopped) return;
    await this.#freeClaims();
    this.wake();
  }

  /** Frees claims without a working process. This is safe because only the node with a receiver's lease sends to it. */
  async #freeClaims() {
    const { store } = this.#dependencies;
    const claimed = await findClaimedDeliveries(store);
    const unstarted = claimed.filter((one) => this.#isFree(one));
    if (unstarted.length > 0) await store.atomic(unstarted.map(releaseClaim));
  }

  /** Whether this node sends to the receiver and has no attempt in flight. */
  #isFree(key: ReceiverKey): boolean {
    const lease = this.#dependencies.leases.findByRecord(key.receiverId);
    return lease !== null && !this.#working.has(receiverNameOf(key));
  }

  /** Queues all receivers with due deliveries. Returns whether there are more receivers. */
  async #serveAll(): Promise<boolean> {
    const { waiting, isMore } = await this.#round.find(this.#dependencies.clock());
    const free = waiting.filter((one) => this.#isFree(one));
    for (const [type, turns] of this.#turns) {
      turns.replace(free.filter(({ receiverType }) => receiverType === type).map(createTurn));
      this.#fill(turns);
    }
    this.#hasMore = isMore;
    return isMore;
  }

  /** Serves queued receivers while slots are free. */
  #fill(turns: DeliveryTurns) {
    while (!this.#isStopped) {
      const turn = turns.beginNext();
      if (turn === null) return;
      const finished = this.#serve(turn).then((outcome) => {
        turns.end(turn);
        this.#working.delete(receiverNameOf(turn));
        if (outcome?.isWaiting === false)
          turns.add(createTurn({ ...turn, failing: outcome.isFailing }));
        this.#fill(turns);
        if (this.#hasMore && this.#working.size === 0) this.wake();
      });
      this.#working.set(receiverNameOf(turn), { receiverId: turn.receiverId, done: finished });
    }
  }

  async #serve(waiting: WaitingReceiver): Promise<Outcome | null> {
    const { log, signals } = this.#dependencies;
    const { receiverType, receiverId, organizationId } = waiting;
    const outcome = await this.#sendNext(waiting).catch((error: unknown) => {
      log.error("sending failed", { [receiverType]: receiverId, cause: String(error) });
      return null;
    });
    if (receiverType === "channel") signals.emit("deliveries", organizationId);
    return outcome;
  }

  /** Sends the receiver's next delivery; returns null if none is due. */
  async #sendNext(key: WaitingReceiver): Promise<Outcome | null> {
    const found = await this.#findNext(key);
    const lease = this.#dependencies.leases.findByRecord(key.receiverId);
    if (found === null || lease === null) return null;
    try {
      return await this.#send(key, found, lease);
    } catch (error) {
      // Another process claimed the delivery first: read the queue again.
      if (error instanceof StaleRead) return { isWaiting: false, isFailing: key.failing };
      if (error instanceof LeaseLost) return null;
      throw error;
    }
  }

  async #findNext(key: ReceiverKey): Promise<NextDelivery | null> {
    const { store, clock, receivers } = this.#dependencies;
    const all = receivers[key.receiverType];
    for (const look of all.looks) {
      const queue = await readQueue(store, key, look);
      const now = clock();
      if (queue.length < look && !queue.some((one) => isDue(one, now))) return null;
      const ids = queue.length > 1 ? queue.map(({ id }) => id) : [];
      const subjects = await all.subjectsOf(key.organizationId, ids);
      const known = queue.map((one) => ({ ...one, subjects: subjects.get(one.id) ?? [] }));
      const next = pickNextDelivery(known, now);
      if (next !== null) return { next, overtaken: findOvertaken(next, known) };
      if (queue.length < look) return null;
    }
    return null;
  }

  async #send(key: ReceiverKey, found: NextDelivery, lease: Lease): Promise<Outcome> {
    const { store, clock, receivers } = this.#dependencies;
    const { next: queued, overtaken } = found;
    const { organizationId, receiverType } = key;
    const receiver = await receivers[receiverType].find(key);
    if (receiver === null) {
      await store.atomic([removeDeliveries(key)]);
      return done;
    }
    if (receiver.refusal !== null && !queued.closesCase)
      return this.#skip(key, receiver, queued, receiver.refusal);
    const claimedAt = clock();
    const claimed = { key, receiver, queued, claimedAt };
    await store.atomic([
      ...guardLeases([lease]),
      ...claimDelivery(organizationId, queued, claimedAt + leaseMs, claimedAt),
      ...endOvertakenDeliveries(organizationId, overtaken),
    ]);
    this.#counted.countOutcome(metricLabelsOf(claimed), "delivered", overtaken.length);
    const ready = await receiver.prepare(queued.id);
    if ("nothing" in ready)
      return this.#skip(key, receiver, queued, ready.nothing, ready.statements);
    if (ready.statements.length > 0) await store.atomic(ready.statements);
    return this.#attempt(claimed, ready.send);
  }

  async #skip(
    { organizationId, receiverType }: ReceiverKey,
    { type }: Receiver,
    { id }: Queued,
    reason: string,
    before: ReadyDelivery["statements"] = [],
  ): Promise<Outcome> {
    const { store, clock } = this.#dependencies;
    await store.atomic([...before, ...skipDelivery(organizationId, id, reason, clock())]);
    this.#counted.countOutcome({ receiverType, type }, "skipped");
    return done;
  }

  async #attempt(
    claimed: ClaimedDelivery,
    send: Extract<ReadyDelivery, { send: unknown }>["send"],
  ): Promise<Outcome> {
    const sent = await send(this.#canceling.signal, claimed.queued.progress);
    // The outcome of an aborted attempt is unknown, so it is repeated after the next start.
    if (this.#canceling.signal.aborted && sent.verdict.outcome === "failed")
      return { isWaiting: true, isFailing: true };
    return this.#record(claimed, sent);
  }

  /** Stores an attempt, the delivery's new status and the receiver's new state. */
  async #record(
    claimed: ClaimedDelivery,
    { attempt, verdict }: CompletedAttempt,
  ): Promise<Outcome> {
    const { store, clock } = this.#dependencies;
    const { key, receiver, queued, claimedAt } = claimed;
    const now = clock();
    const isDelivered = verdict.outcome === "delivered";
    const progress = verdict.progress ?? (isDelivered ? null : queued.progress);
    const first = { ...queued, firstAttemptAt: queued.firstAttemptAt ?? claimedAt, progress };
    const retry = isDelivered ? null : this.#planRetry(first, verdict, now);
    const isLost =
      retry !== null &&
      (retry.at === null || retry.doubtfulSince !== null) &&
      !hasArrivedPartly({ progress });
    const isOwn = verdict.outcome === "failed" && verdict.isOwn === true;
    const { note = null, receipt = null } = verdict.outcome === "delivered" ? verdict : {};
    const facts = { note, isLost, now, deliveryId: queued.id, receipt };
    const leased = { ...queued, leasedUntil: claimedAt + leaseMs };
    await store.atomic([
      ...recordAttempt(key.organizationId, leased, attempt, { retry, progress }, now),
      ...(isOwn ? [] : receiver.recordAttempt(attempt, facts)),
    ]);
    const counted = metricLabelsOf(claimed);
    this.#counted.countAttempt(counted, isDelivered ? "delivered" : "failed", attempt.durationMs);
    const status = statusAfter(retry, progress);
    if (status !== "sending") this.#counted.countOutcome(counted, status);
    return { isWaiting: retry?.heldUntil != null, isFailing: retry !== null };
  }

  #planRetry(
    queued: Queued,
    verdict: Extract<CompletedAttempt["verdict"], { outcome: "failed" }>,
    now: number,
  ): Retry {
    const { failure, retryAfterSeconds } = verdict;
    const doubtfulSince = failure === "looks-permanent" ? (queued.doubtfulSince ?? now) : null;
    const state = { ...queued, doubtfulSince };
    return {
      at:
        failure === "final"
          ? null
          : computeNextAttempt(state, now, this.#random(), retryAfterSeconds),
      heldUntil: computeWaitEnd(retryAfterSeconds, now),
      doubtfulSince,
    };
  }
}

const receiverNameOf = ({ organizationId, receiverId }: ReceiverKey) =>
  `${organizationId}/${receiverId}`;

const metricLabelsOf = ({ key, receiver }: ClaimedDelivery) => ({
  receiverType: key.receiverType,
  type: receiver.type,
});
