import { findChannel } from "../alert-channels/store.ts";
import { timestamp } from "../base/clock.ts";
import { StaleRead } from "../database/store.ts";
import { appendEvent } from "../events/log.ts";
import { attemptMs, makeAttempt, type SendingRoom } from "./attempt.ts";
import {
  alertsOf,
  channelAfter,
  channelsWaiting,
  type ChannelKey,
  claim,
  queueOf,
  releaseAll,
  settled,
  skip,
  subjectsOf,
  withhold,
} from "./queue.ts";
import { isDue, nextAttemptAt, nextDelivery, type Queued } from "./rules.ts";

/** An attempt that a crash ended is made again so long after it began. */
const leaseMs = attemptMs + 10_000;

/** So many of a channel's deliveries are looked at for the next one; more, where all those have to wait. */
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

/** Sends what waits in the outbox: every channel on its own, so that a slow one delays nobody but itself. */
export function notifier(room: SendingRoom & { random?: () => number }): Notifier {
  const { store, clock, log, random = Math.random } = room;
  const working = new Map<string, Promise<void>>();
  const cancelling = new AbortController();
  let stopped = false;

  function serve(channel: ChannelKey): Promise<void> {
    const name = `${channel.organizationId}/${channel.channelId}`;
    const work =
      working.get(name) ??
      sendDue(channel)
        .catch((error: unknown) => {
          const cause = String(error);
          log.error("sending alerts failed", { channel: channel.channelId, cause });
        })
        .finally(() => working.delete(name));
    working.set(name, work);
    return work;
  }

  /** Sends one after the other while something is due. */
  async function sendDue(channel: ChannelKey) {
    while (!stopped) {
      const next = await nextOf(channel);
      if (next === null) return;
      try {
        await send(channel, next);
      } catch (error) {
        // Another process was quicker, or the channel is gone: look again.
        if (!(error instanceof StaleRead)) throw error;
      }
    }
  }

  async function nextOf(channel: ChannelKey): Promise<Queued | null> {
    for (const look of looks) {
      const queue = await queueOf(store, channel, look);
      const now = clock();
      if (queue.length < look && !queue.some((one) => isDue(one, now))) return null;
      const ids = queue.length > 1 ? queue.map(({ id }) => id) : [];
      const subjects = await subjectsOf(store, channel.organizationId, ids);
      const known = queue.map((one) => ({ ...one, subjects: subjects.get(one.id) ?? [] }));
      const next = nextDelivery(known, now);
      if (next !== null || queue.length < look) return next;
    }
    return null;
  }

  async function send({ organizationId, channelId }: ChannelKey, queued: Queued) {
    const channel = await findChannel(store, organizationId, channelId);
    if (channel === null) throw new StaleRead();
    if (!channel.enabled) {
      await store.atomic([skip(organizationId, queued.id, "The channel was disabled.")]);
      return;
    }
    const now = clock();
    await store.atomic(claim(organizationId, queued, now + leaseMs, now));
    // Read only now, since from here on nothing is added to it.
    const told = await alertsOf(store, organizationId, queued.id);
    const withheld = told.filter(({ isFollowable }) => !isFollowable);
    const alerts = told.filter(({ isFollowable }) => isFollowable).map(({ alert }) => alert);
    const positions = withheld.map(({ position }) => position);
    const leaveOut = withhold(organizationId, queued.id, positions);
    if (alerts.length === 0) {
      const reason = "Its outage never reached this channel, so its end is not told.";
      await store.atomic([...leaveOut, skip(organizationId, queued.id, reason)]);
      return;
    }
    if (leaveOut.length > 0) await store.atomic(leaveOut);
    const { attempt, verdict } = await makeAttempt(
      room,
      channel,
      queued.id,
      alerts,
      cancelling.signal,
    );
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
      ...channelAfter({ organizationId, channelId }, attempt, { note, gaveUp, now: endedAt }),
      ...(gaveUp && channel.failingSince === null
        ? [
            appendEvent({
              organizationId,
              at: timestamp(endedAt),
              type: "channel.failed",
              subjectId: channelId,
              data: { message: attempt.message },
            }),
          ]
        : []),
    ]);
    if (gaveUp) log.warn("an alert channel fails", { channel: channelId });
  }

  async function serveAll() {
    const channels = await channelsWaiting(store);
    return Promise.all(channels.map(serve));
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
    },
  };
}
