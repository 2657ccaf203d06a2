import { type Leases, ofNode } from "../../cluster/leases.ts";
import { timestamp } from "../../core/time/clock.ts";
import { newId } from "../../core/ids.ts";
import { type Problem, storageEnds } from "../../core/problems.ts";
import type { Store } from "../../database/store.ts";
import { storageProblem } from "../../events/problems.ts";
import type { Alert } from "../alert.ts";
import { makeAttempt, type SendingContext } from "./attempt.ts";
import { findChannel } from "../channels/service.ts";
import { alertOf } from "../deciding/decide.ts";
import { channelsForOwnTrouble, type Progress, retryDelayMs } from "../deciding/rules.ts";

const tickMs = 1_000;
/** Writes must succeed for this long before the end is reported: a full disk accepts a few in between. */
const calmMs = 10_000;
/** Alerts sent at one time. */
const maxSending = 20;
/** An alert of this kind is given up after a day, like any other. */
const givenUpMs = 24 * 3_600_000;

type Dependencies = SendingContext & {
  leases: Pick<Leases, "node">;
  /** Milliseconds that only increase. */
  monotonic?: () => number;
  random?: () => number;
};

/** A channel and the alerts that it must still receive, oldest first. */
type Recipient = {
  organizationId: string;
  channelId: string;
  queue: { deliveryId: string; alert: Alert; attempts: number; progress: Progress | null }[];
  nextAt: number;
  giveUpAt: number;
  isSending: boolean;
};

/** A time in which results can't be stored; `storedSince` is when writes began to succeed again. */
type Episode = { isAnnounced: boolean; storedSince: number | null };

/**
 * Alerts from memory that results can't be stored, and that they are again: the outbox is in the database,
 * which accepts nothing then. One alert and one recovery per episode and machine, to the default channels of every organization.
 */
export function storageAlarm(dependencies: Dependencies) {
  // Nodes of a cluster without a quorum still serve reads.
  const context = { ...dependencies, store: dependencies.store.relaxed() };
  const { store, clock, log, leases, monotonic = () => performance.now() } = dependencies;
  const { random = Math.random } = dependencies;
  const stopping = new AbortController();
  let recipients: Recipient[] = [];
  let episode: Episode | null = null;
  let announcing: Promise<void> | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;
  const sending = new Set<Promise<void>>();

  function tick() {
    follow();
    if (episode?.isAnnounced === false)
      announcing ??= announce().finally(() => (announcing = null));
    sendDue();
  }

  function follow() {
    const now = monotonic();
    if (store.writes.failingSince() !== null) {
      episode ??= { isAnnounced: false, storedSince: null };
      episode.storedSince = null;
    } else if (episode !== null) {
      episode.storedSince ??= now;
      if (now - episode.storedSince >= calmMs) {
        episode = null;
        log.info("results are stored again");
        enqueueRecovery();
      }
    }
  }

  async function announce() {
    const current = episode;
    const problem = storageProblem(store);
    if (current === null || problem === null) return;
    try {
      const channels = await channelsToAlert(context.store);
      if (current !== episode) return;
      current.isAnnounced = true;
      log.error("results can't be stored", { reason: problem.message, channels: channels.length });
      const { name, node, severity, message } = ofNode(leases, problem);
      const data = { problem: name, ...(node !== undefined && { node }), severity, message };
      for (const channel of channels) enqueue(channel, "appliance.troubled", data);
    } catch (error) {
      log.error("alert channels can't be read", { cause: String(error) });
    }
  }

  function enqueue(
    { organizationId, id: channelId }: { organizationId: string; id: string },
    type: "appliance.troubled" | "appliance.recovered",
    data: object,
  ) {
    const now = clock();
    const alert = alertOf(type, timestamp(now), data, now);
    const one = { deliveryId: newId(now), alert, attempts: 0, progress: null };
    const known = recipients.find((recipient) => recipient.channelId === channelId);
    if (known !== undefined) return void known.queue.push(one);
    const nextAt = monotonic();
    const giveUpAt = nextAt + givenUpMs;
    recipients.push({
      organizationId,
      channelId,
      queue: [one],
      nextAt,
      giveUpAt,
      isSending: false,
    });
  }

  function enqueueRecovery() {
    const { name, node } = ofNode<Pick<Problem, "name" | "node">>(leases, { name: "storage" });
    const data = { problem: name, ...(node !== undefined && { node }), message: storageEnds };
    for (const { organizationId, channelId } of recipients)
      enqueue({ organizationId, id: channelId }, "appliance.recovered", data);
  }

  function sendDue() {
    const now = monotonic();
    const isOver = ({ queue, giveUpAt }: Recipient) =>
      giveUpAt <= now || (episode === null && queue.length === 0);
    recipients = recipients.filter((recipient) => recipient.isSending || !isOver(recipient));
    for (const recipient of recipients) {
      if (sending.size >= maxSending || stopping.signal.aborted) return;
      if (recipient.isSending || recipient.nextAt > now || recipient.queue.length === 0) continue;
      recipient.isSending = true;
      const done = sendNext(recipient).finally(() => {
        recipient.isSending = false;
        sending.delete(done);
      });
      sending.add(done);
    }
  }

  async function sendNext(recipient: Recipient) {
    const [next] = recipient.queue;
    if (next === undefined) return;
    const { organizationId, channelId } = recipient;
    try {
      const channel = await findChannel({ store: context.store, organizationId }, channelId);
      if (channel === null) {
        recipient.queue = [];
        return;
      }
      const options = { cancelled: stopping.signal, progress: next.progress };
      const sent = await makeAttempt(context, channel, next.deliveryId, [next.alert], options);
      const { attempt, verdict } = sent;
      if (verdict.outcome === "delivered") {
        recipient.queue.shift();
        return;
      }
      if (verdict.failure === "final") recipient.queue = [];
      next.progress = verdict.progress ?? next.progress;
      log.warn("an alert about this appliance could not be sent", {
        channel: channelId,
        reason: attempt.message,
      });
    } catch (error) {
      log.warn("an alert channel can't be read", { channel: channelId, cause: String(error) });
    }
    recipient.nextAt = monotonic() + retryDelayMs(next.attempts++, random());
  }

  return {
    start() {
      timer = setInterval(tick, tickMs);
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      stopping.abort();
      await announcing;
      await Promise.all(sending);
    },
    /** One tick and all that it sends: for tests, instead of `start`. */
    async runOnce() {
      tick();
      await announcing;
      sendDue();
      await Promise.all(sending);
    },
  };
}

/** The channels of every organization that hear of trouble of the appliance. */
async function channelsToAlert(store: Store) {
  type Row = { id: string; organizationId: string; isDefault: number };
  const rows = await store.query<Row>(
    `select c.id, c.organization_id as organizationId, c.is_default as isDefault
     from alert_channels c join organizations o on o.id = c.organization_id
     where c.enabled and o.deleted_at is null`,
    [],
  );
  const able = rows.map((row) => ({ ...row, enabled: true, isDefault: row.isDefault === 1 }));
  return [...Map.groupBy(able, ({ organizationId }) => organizationId).values()].flatMap((own) =>
    channelsForOwnTrouble(own),
  );
}
