import { StaleRead } from "../database/store.ts";
import { attemptMs, type SendingRoom } from "./attempt.ts";
import {
  claim,
  dropAll,
  queueOf,
  type ReceiverKey,
  receiversWaiting,
  releaseAll,
  settled,
  skip,
} from "./queue.ts";
import type { Receivers } from "./receivers.ts";
import { isDue, nextAttemptAt, nextDelivery, type Queued } from "./rules.ts";

/** An attempt that a crash ended is made again so long after it began. */
const leaseMs = attemptMs + 10_000;

/** So many of a receiver's deliveries are looked at for the next one; more, where all those have to wait. */
const looks = [20, 10_000];

export type Notifier = {
  /** Frees what a crash left claimed: a data directory has one process. */
  start(): Promise<void>;
  /** Sends what is due now; to be called often. */
  wake(): void;
  /** Lets attempts under way come to their end, for so many milliseconds; then cuts them off: they are made again. */
  stop(graceMs: number): Promise<void>;
  /** Sends what is due now and waits for it: for tests. */
  runOnce(): Promise<void>;
};

type Room = Pick<SendingRoom, "store" | "clock" | "log"> & {
  receivers: Readonly<Record<ReceiverKey["receiverType"], Receivers>>;
  random?: () => number;
};

/** Sends what waits in the outbox: every receiver on its own, so that a slow one delays nobody but itself. */
export function notifier({ store, clock, log, receivers, random = Math.random }: Room): Notifier {
  const working = new Map<string, Promise<void>>();
  /** Those for whom there was no room yet. */
  let backlog: ReceiverKey[] = [];
  const busy = { channel: 0, subscriber: 0 };
  const cancelling = new AbortController();
  let stopped = false;

  function serve(key: ReceiverKey): Promise<void> {
    const { organizationId, receiverType, receiverId } = key;
    const name = `${organizationId}/${receiverId}`;
    const known = working.get(name);
    if (known !== undefined) return known;
    busy[receiverType] += 1;
    const work = sendDue(key)
      .catch((error: unknown) => {
        const cause = String(error);
        log.error("sending failed", { [receiverType]: receiverId, cause });
      })
      .finally(() => {
        busy[receiverType] -= 1;
        working.delete(name);
        const next = backlog.shift();
        if (next !== undefined && !stopped) void serve(next);
      });
    working.set(name, work);
    return work;
  }

  /** Sends one after the other while something is due. */
  async function sendDue(key: ReceiverKey) {
    while (!stopped) {
      const next = await nextOf(key);
      if (next === null) return;
      try {
        await send(key, next);
      } catch (error) {
        // Another process was quicker: look again.
        if (!(error instanceof StaleRead)) throw error;
      }
    }
  }

  async function nextOf(key: ReceiverKey): Promise<Queued | null> {
    for (const look of looks) {
      const queue = await queueOf(store, key, look);
      const now = clock();
      if (queue.length < look && !queue.some((one) => isDue(one, now))) return null;
      const ids = queue.length > 1 ? queue.map(({ id }) => id) : [];
      const subjects = await receivers[key.receiverType].subjectsOf(key.organizationId, ids);
      const known = queue.map((one) => ({ ...one, subjects: subjects.get(one.id) ?? [] }));
      const next = nextDelivery(known, now);
      if (next !== null || queue.length < look) return next;
    }
    return null;
  }

  async function send(key: ReceiverKey, queued: Queued) {
    const { organizationId, receiverType } = key;
    const receiver = await receivers[receiverType].find(key);
    if (receiver === null) return store.atomic([dropAll(key)]);
    if (receiver.refusal !== null)
      return store.atomic([skip(organizationId, queued.id, receiver.refusal)]);
    const now = clock();
    await store.atomic(claim(organizationId, queued, now + leaseMs, now));
    const ready = await receiver.prepare(queued.id);
    if ("nothing" in ready)
      return store.atomic([...ready.statements, skip(organizationId, queued.id, ready.nothing)]);
    if (ready.statements.length > 0) await store.atomic(ready.statements);
    const { attempt, verdict } = await ready.send(cancelling.signal);
    // Nobody knows what became of it: it is made again after the start.
    if (cancelling.signal.aborted && verdict.outcome === "failed") return;
    const endedAt = clock();
    const nextAt =
      verdict.outcome === "delivered" || verdict.permanent
        ? null
        : nextAttemptAt(
            { ...queued, firstAttemptAt: queued.firstAttemptAt ?? now },
            endedAt,
            random(),
            verdict.retryAfterSeconds,
          );
    const gaveUp = !attempt.delivered && nextAt === null;
    const note = verdict.outcome === "delivered" ? (verdict.note ?? null) : null;
    await store.atomic([
      ...settled(organizationId, queued, attempt, nextAt, endedAt),
      ...receiver.after(attempt, { note, gaveUp, now: endedAt }),
    ]);
  }

  async function serveAll() {
    backlog = [];
    for (const key of await receiversWaiting(store, clock()))
      if (busy[key.receiverType] < receivers[key.receiverType].atOnce) void serve(key);
      else backlog.push(key);
  }

  return {
    start: () => store.atomic([releaseAll]),
    wake() {
      if (stopped) return;
      serveAll().catch((error: unknown) =>
        log.error("the outbox can't be read", { cause: String(error) }),
      );
    },
    async stop(graceMs) {
      stopped = true;
      const cut = setTimeout(() => cancelling.abort(), graceMs);
      await Promise.all(working.values());
      clearTimeout(cut);
    },
    async runOnce() {
      await serveAll();
      while (working.size > 0) await Promise.all(working.values());
    },
  };
}
