import { StaleRead } from "../database/store.ts";
import { attemptMs, type SendingRoom } from "./attempt.ts";
import {
  claim,
  dropAll,
  queueOf,
  type ReceiverKey,
  type ReceiverType,
  receiversWaiting,
  releaseAll,
  settled,
  skip,
  type Waiting,
} from "./queue.ts";
import type { Receivers } from "./receivers.ts";
import { isDue, nextAttemptAt, nextDelivery, type Queued } from "./rules.ts";

/** An attempt that a crash ended is made again so long after it began. */
const leaseMs = attemptMs + 10_000;

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

/** Who is being sent to, and who waits for room, of one type. */
type Crew = { atOnce: number; busy: number; failing: number; backlog: Waiting[] };

type Room = Pick<SendingRoom, "store" | "clock" | "log"> & {
  receivers: Readonly<Record<ReceiverType, Receivers>>;
  random?: () => number;
};

/** Sends what waits in the outbox: every receiver on its own, so that a slow one delays nobody but itself. */
export function notifier({ store, clock, log, receivers, random = Math.random }: Room): Notifier {
  const working = new Map<string, Promise<void>>();
  const crews = new Map(
    Object.entries(receivers).map(([type, { atOnce }]) => [
      type,
      { atOnce, busy: 0, failing: 0, backlog: [] as Waiting[] },
    ]),
  );
  const cancelling = new AbortController();
  let stopped = false;

  const nameOf = ({ organizationId, receiverId }: ReceiverKey) => `${organizationId}/${receiverId}`;

  /** Begins with those for whom there is room; whoever is done makes room for the next. */
  function fill(crew: Crew) {
    while (!stopped && crew.busy < crew.atOnce) {
      const next = crew.backlog.findIndex(
        (one) => !one.failing || crew.failing < Math.ceil(crew.atOnce / 2),
      );
      const [waiting] = next === -1 ? [] : crew.backlog.splice(next, 1);
      if (waiting === undefined) return;
      serve(waiting, crew);
    }
  }

  function serve(waiting: Waiting, crew: Crew) {
    const name = nameOf(waiting);
    if (working.has(name)) return;
    crew.busy += 1;
    if (waiting.failing) crew.failing += 1;
    const work = sendDue(waiting)
      .catch((error: unknown) => {
        const cause = String(error);
        log.error("sending failed", { [waiting.receiverType]: waiting.receiverId, cause });
      })
      .finally(() => {
        crew.busy -= 1;
        if (waiting.failing) crew.failing -= 1;
        working.delete(name);
        fill(crew);
      });
    working.set(name, work);
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
    const kind = receivers[key.receiverType];
    for (const look of kind.looks) {
      const queue = await queueOf(store, key, look);
      const now = clock();
      if (queue.length < look && !queue.some((one) => isDue(one, now))) return null;
      const ids = queue.length > 1 ? queue.map(({ id }) => id) : [];
      const subjects = await kind.subjectsOf(key.organizationId, ids);
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
      verdict.outcome === "delivered" || verdict.failure !== "passing"
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
    const waiting = await receiversWaiting(store, clock());
    for (const [type, crew] of crews) {
      crew.backlog = waiting.filter(
        (one) => one.receiverType === type && !working.has(nameOf(one)),
      );
      fill(crew);
    }
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
