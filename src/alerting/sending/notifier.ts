import { LeaseLost, type Leases, mustHold } from "../../cluster/leases.ts";
import { StaleRead } from "../../database/store.ts";
import { deliveryMetrics } from "../metrics.ts";
import { type SendingContext, usualAttemptMs } from "./attempt.ts";
import {
  claim,
  claimedDeliveries,
  dropAll,
  endOvertaken,
  queueOf,
  type ReceiverKey,
  receiverRound,
  type Receivers,
  type ReceiverType,
  release,
  type Retry,
  type Sent,
  settled,
  skip,
  statusAfter,
  type Waiting,
} from "./queue.ts";
import { rotation, type Rotation } from "./rotation.ts";
import {
  hasArrivedPartly,
  heldUntil,
  isDue,
  nextAttemptAt,
  nextDelivery,
  overtakenBy,
  type Queued,
} from "../deciding/rules.ts";

/** An attempt that a crash ended is made again so long after it began. */
const leaseMs = usualAttemptMs + 10_000;

type Dependencies = Pick<SendingContext, "store" | "clock" | "log" | "signals"> & {
  leases: Leases;
  receivers: Readonly<Record<ReceiverType, Receivers>>;
  random?: () => number;
};

/** Whether its receiver has to wait before the next one, and whether it failed. */
type Outcome = { mustWait: boolean; failing: boolean };

/** Sends what waits in the outbox, one delivery a turn: a receiver that is slow delays nobody but itself. */
export function notifier({ store, clock, log, signals, leases, ...dependencies }: Dependencies) {
  const { receivers, random = Math.random } = dependencies;
  const working = new Map<string, { receiverId: string; done: Promise<void> }>();
  const rotations = new Map(
    Object.entries(receivers).map(([type, { slots }]) => [type, rotation<Waiting>(slots)]),
  );
  const cancelling = new AbortController();
  const counted = deliveryMetrics();
  const round = receiverRound(store);
  let hasMore = false;
  let hasBegun = false;
  let stopped = false;
  leases.onChange(async () => {
    // What is under way for whom another node is to send to comes to its end first.
    const lost = [...working.values()].filter(({ receiverId }) => leases.of(receiverId) === null);
    await Promise.all(lost.map(({ done }) => done));
    if (!hasBegun || stopped) return;
    await freeClaims();
    wake();
  });

  const nameOf = ({ organizationId, receiverId }: ReceiverKey) => `${organizationId}/${receiverId}`;

  /** Begins with those for whom there is a slot; each that is freed is for the next. */
  function fill(rotation: Rotation<Waiting>) {
    while (!stopped) {
      const waiting = rotation.next();
      if (waiting === null) return;
      serve(waiting, rotation);
    }
  }

  function serve(waiting: Waiting, rotation: Rotation<Waiting>) {
    const name = nameOf(waiting);
    const done = sendNext(waiting)
      .catch((error: unknown) => {
        const cause = String(error);
        log.error("sending failed", { [waiting.receiverType]: waiting.receiverId, cause });
        return null;
      })
      .then((outcome) => {
        if (waiting.receiverType === "channel") signals.emit("deliveries", waiting.organizationId);
        rotation.release(waiting);
        working.delete(name);
        if (outcome?.mustWait === false) rotation.rejoin({ ...waiting, failing: outcome.failing });
        fill(rotation);
        if (hasMore && working.size === 0) wake();
      });
    working.set(name, { receiverId: waiting.receiverId, done });
  }

  /** Sends what is next for a receiver; null where nothing is due. */
  async function sendNext(key: Waiting): Promise<Outcome | null> {
    const found = await nextOf(key);
    if (found === null) return null;
    try {
      return await send(key, found.next, found.overtaken);
    } catch (error) {
      // Another process was quicker: look again.
      if (error instanceof StaleRead) return { mustWait: false, failing: key.failing };
      if (error instanceof LeaseLost) return null;
      throw error;
    }
  }

  async function nextOf(key: ReceiverKey) {
    const kind = receivers[key.receiverType];
    for (const look of kind.looks) {
      const queue = await queueOf(store, key, look);
      const now = clock();
      if (queue.length < look && !queue.some((one) => isDue(one, now))) return null;
      const ids = queue.length > 1 ? queue.map(({ id }) => id) : [];
      const subjects = await kind.subjectsOf(key.organizationId, ids);
      const known = queue.map((one) => ({ ...one, subjects: subjects.get(one.id) ?? [] }));
      const next = nextDelivery(known, now);
      if (next !== null) return { next, overtaken: overtakenBy(next, known) };
      if (queue.length < look) return null;
    }
    return null;
  }

  async function send(
    key: ReceiverKey,
    queued: Queued,
    overtaken: readonly Queued[],
  ): Promise<Outcome | null> {
    const { organizationId, receiverType } = key;
    const lease = leases.of(key.receiverId);
    if (lease === null) return null;
    const done = { mustWait: false, failing: false };
    const receiver = await receivers[receiverType].find(key);
    if (receiver === null) {
      await store.atomic([dropAll(key)]);
      return done;
    }
    const to = { receiverType, type: receiver.type };
    if (receiver.refusal !== null && !queued.closesCase) {
      await store.atomic([skip(organizationId, queued.id, receiver.refusal)]);
      counted.ended(to, "skipped");
      return done;
    }
    const now = clock();
    const claimed = { ...queued, leasedUntil: now + leaseMs };
    await store.atomic([
      ...mustHold([lease]),
      ...claim(organizationId, queued, claimed.leasedUntil, now),
      ...endOvertaken(organizationId, overtaken),
    ]);
    counted.ended(to, "delivered", overtaken.length);
    const ready = await receiver.prepare(queued.id);
    if ("nothing" in ready) {
      const nothing = skip(organizationId, queued.id, ready.nothing);
      await store.atomic([...ready.statements, nothing]);
      counted.ended(to, "skipped");
      return done;
    }
    if (ready.statements.length > 0) await store.atomic(ready.statements);
    const { attempt, verdict } = await ready.send(cancelling.signal, queued.progress);
    // Nobody knows what became of it: it is made again after the start.
    if (cancelling.signal.aborted && verdict.outcome === "failed")
      return { mustWait: true, failing: true };
    const endedAt = clock();
    const first = { ...queued, firstAttemptAt: queued.firstAttemptAt ?? now };
    const isDelivered = verdict.outcome === "delivered";
    const progress = verdict.progress ?? (isDelivered ? null : queued.progress);
    const retry = isDelivered ? null : retryOf({ ...first, progress }, verdict, endedAt);
    const looksLost =
      retry !== null &&
      (retry.at === null || retry.doubtfulSince !== null) &&
      !hasArrivedPartly({ progress });
    const isOwn = verdict.outcome === "failed" && verdict.isOwn === true;
    const note = verdict.outcome === "delivered" ? (verdict.note ?? null) : null;
    await store.atomic([
      ...settled(organizationId, claimed, attempt, { retry, progress }, endedAt),
      ...(isOwn ? [] : receiver.after(attempt, { note, isLost: looksLost, now: endedAt })),
    ]);
    counted.attempted(to, isDelivered ? "delivered" : "failed", attempt.durationMs);
    const status = statusAfter(retry, progress);
    if (status !== "sending") counted.ended(to, status);
    return { mustWait: retry?.heldUntil != null, failing: retry !== null };
  }

  function retryOf(
    queued: Queued,
    verdict: Extract<Sent["verdict"], { outcome: "failed" }>,
    now: number,
  ): Retry {
    const { failure, retryAfterSeconds } = verdict;
    const doubtfulSince = failure === "looks-permanent" ? (queued.doubtfulSince ?? now) : null;
    const state = { ...queued, doubtfulSince };
    return {
      at: failure === "final" ? null : nextAttemptAt(state, now, random(), retryAfterSeconds),
      heldUntil: heldUntil(retryAfterSeconds, now),
      doubtfulSince,
    };
  }

  /** Gives turns to whom something is due; returns whether there are more than those. */
  async function serveAll(): Promise<boolean> {
    const { waiting, isMore } = await round.find(clock());
    for (const [type, rotation] of rotations) {
      rotation.replace(
        waiting.filter(
          (one) =>
            one.receiverType === type &&
            !working.has(nameOf(one)) &&
            leases.of(one.receiverId) !== null,
        ),
      );
      fill(rotation);
    }
    hasMore = isMore;
    return isMore;
  }

  /** Frees what nobody is sending any more: only whoever has a receiver's lease sends to it. */
  async function freeClaims() {
    const claimed = await claimedDeliveries(store);
    const left = claimed.filter(
      (one) => leases.of(one.receiverId) !== null && !working.has(nameOf(one)),
    );
    if (left.length > 0) await store.atomic(left.map(release));
  }

  function wake() {
    if (stopped) return;
    serveAll().catch((error: unknown) =>
      log.error("the outbox can't be read", { cause: String(error) }),
    );
  }

  const idle = () => Promise.all([...working.values()].map(({ done }) => done));

  return {
    metrics: () => counted.families(),
    /** Frees what a crash left claimed. */
    start() {
      hasBegun = true;
      return freeClaims();
    },
    /** Sends what is due now; to be called often. */
    wake,
    /** Lets attempts under way come to their end, for so many milliseconds; then cuts them off: they are made again. */
    async stop(graceMs: number) {
      stopped = true;
      const cut = setTimeout(() => cancelling.abort(), graceMs);
      await idle();
      clearTimeout(cut);
    },
    /** Sends what is due now and waits for it: for tests. */
    async runOnce() {
      hasBegun = true;
      let isMore = true;
      while (isMore) {
        isMore = await serveAll();
        while (working.size > 0) await idle();
      }
    },
  };
}
