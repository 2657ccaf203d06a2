/** Sends alerts from memory, without the database, when check results can't be stored and when they can be again. */
import { type Leases, assignProblemToNode } from "../../cluster/leases.ts";
import { formatTimestamp, dayMs } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import { type Problem, storageRecoveredMessage } from "../../core/problems.ts";
import type { Store } from "../../database/store.ts";
import { findStorageProblem } from "../../events/problems.ts";
import type { Alert } from "../alert.ts";
import { attemptDelivery, type SendingContext } from "./attempt.ts";
import { findChannel } from "../channels/service.ts";
import { createAlert } from "../deciding/records.ts";
import { type Progress, computeRetryDelayMs } from "./queue-rules.ts";
import { selectChannelsForProblems } from "../deciding/rules.ts";

const tickMs = 1_000;
/** Writes must succeed for this long before the end is reported. Even a full disk accepts a write now and then. */
const calmMs = 10_000;
/** Maximum number of alerts in flight. */
const maxSending = 20;
/** An alert is abandoned after a day, like any other. */
const giveUpMs = dayMs;

type Dependencies = SendingContext & {
  leases: Pick<Leases, "node">;
  /** Monotonic clock, in milliseconds. */
  monotonic?: () => number;
  random?: () => number;
};

type QueuedAlert = {
  deliveryId: string;
  alert: Alert;
  attempts: number;
  progress: Progress | null;
};

/** A channel and its undelivered alerts, oldest first. */
type Recipient = {
  organizationId: string;
  channelId: string;
  queue: QueuedAlert[];
  nextAt: number;
  giveUpAt: number;
  isSending: boolean;
};

/** A period in which results can't be stored. `storedSince` is the time of the first successful write after it. */
type Episode = { isAnnounced: boolean; storedSince: number | null };

/**
 * Sends storage alerts from memory, because the outbox is in the database that rejects writes. Each
 * episode sends one alert and one recovery per node, to the default channels of every organization.
 */
export class StorageAlarm {
  readonly #dependencies: Dependencies & Required<Pick<Dependencies, "monotonic" | "random">>;
  /** A store with relaxed consistency, because cluster nodes without a quorum still serve reads. */
  readonly #readable: Store;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #recipients: Recipient[] = [];
  #episode: Episode | null = null;
  #announcing: Promise<void> | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(dependencies: Dependencies) {
    const { monotonic = () => performance.now(), random = Math.random } = dependencies;
    this.#dependencies = { ...dependencies, monotonic, random };
    this.#readable = dependencies.store.relaxed();
  }

  start() {
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  async stop() {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#announcing;
    await Promise.all(this.#sending);
  }

  /** Runs one tick and waits for its alerts. Tests use it instead of `start`. */
  async runOnce() {
    this.#tick();
    await this.#announcing;
    this.#sendDue();
    await Promise.all(this.#sending);
  }

  #tick() {
    this.#followWrites();
    if (this.#episode?.isAnnounced === false)
      this.#announcing ??= this.#announce().finally(() => (this.#announcing = null));
    this.#sendDue();
  }

  /** Starts an episode at the first failed write, and ends it once writes have succeeded for `calmMs`. */
  #followWrites() {
    const { store, log, monotonic } = this.#dependencies;
    const now = monotonic();
    if (store.writes.getFailingSince() !== null) {
      this.#episode ??= { isAnnounced: false, storedSince: null };
      this.#episode.storedSince = null;
    } else if (this.#episode !== null) {
      this.#episode.storedSince ??= now;
      if (now - this.#episode.storedSince < calmMs) return;
      this.#episode = null;
      log.info("results are stored again");
      this.#enqueueRecovery();
    }
  }

  async #announce() {
    const { store, log, leases } = this.#dependencies;
    const current = this.#episode;
    const problem = findStorageProblem(store);
    if (current === null || problem === null) return;
    try {
      const channels = await findChannelsToAlert(this.#readable);
      if (current !== this.#episode) return;
      current.isAnnounced = true;
      log.error("results can't be stored", { reason: problem.message, channels: channels.length });
      const { name, node, severity, message } = assignProblemToNode(leases, problem);
      const data = { problem: name, ...(node !== undefined && { node }), severity, message };
      for (const { organizationId, id } of channels)
        this.#enqueue({ organizationId, channelId: id }, "appliance.troubled", data);
    } catch (error) {
      log.error("alert channels can't be read", { cause: String(error) });
    }
  }

  #enqueueRecovery() {
    const { leases } = this.#dependencies;
    const { name, node } = assignProblemToNode<Pick<Problem, "name" | "node">>(leases, {
      name: "storage",
    });
    const data = {
      problem: name,
      ...(node !== undefined && { node }),
      message: storageRecoveredMessage,
    };
    for (const recipient of this.#recipients) this.#enqueue(recipient, "appliance.recovered", data);
  }

  #enqueue(
    { organizationId, channelId }: Pick<Recipient, "organizationId" | "channelId">,
    type: "appliance.troubled" | "appliance.recovered",
    data: object,
  ) {
    const { clock, monotonic } = this.#dependencies;
    const now = clock();
    const alert = createAlert(type, formatTimestamp(now), data, now);
    const entry = { deliveryId: createId(now), alert, attempts: 0, progress: null };
    const known = this.#recipients.find((recipient) => recipient.channelId === channelId);
    if (known !== undefined) return void known.queue.push(entry);
    const nextAt = monotonic();
    const giveUpAt = nextAt + giveUpMs;
    const queue = [entry];
    const recipient = { organizationId, channelId, queue, nextAt, giveUpAt, isSending: false };
    this.#recipients.push(recipient);
  }

  #sendDue() {
    const now = this.#dependencies.monotonic();
    this.#recipients = this.#recipients.filter(
      (recipient) => recipient.isSending || !this.#isFinished(recipient, now),
    );
    for (const recipient of this.#recipients) {
      if (this.#sending.size >= maxSending || this.#stopping.signal.aborted) return;
      if (recipient.isSending || recipient.nextAt > now || recipient.queue.length === 0) continue;
      recipient.isSending = true;
      const done = this.#sendNext(recipient).finally(() => {
        recipient.isSending = false;
        this.#sending.delete(done);
      });
      this.#sending.add(done);
    }
  }

  #isFinished({ queue, giveUpAt }: Recipient, now: number): boolean {
    return giveUpAt <= now || (this.#episode === null && queue.length === 0);
  }

  async #sendNext(recipient: Recipient) {
    const { log, monotonic, random } = this.#dependencies;
    const [next] = recipient.queue;
    if (next === undefined) return;
    try {
      if (await this.#attempt(recipient, next)) return;
    } catch (error) {
      const { channelId: channel } = recipient;
      log.warn("an alert channel can't be read", { channel, cause: String(error) });
    }
    recipient.nextAt = monotonic() + computeRetryDelayMs(next.attempts++, random());
  }

  /** Attempts the recipient's next alert once. Returns whether it needs no retry. */
  async #attempt(recipient: Recipient, next: QueuedAlert): Promise<boolean> {
    const { organizationId, channelId } = recipient;
    const context = { ...this.#dependencies, store: this.#readable };
    const channel = await findChannel({ store: this.#readable, organizationId }, channelId);
    if (channel === null) {
      recipient.queue = [];
      return true;
    }
    const options = { signal: this.#stopping.signal, progress: next.progress };
    const sent = await attemptDelivery(context, channel, next.deliveryId, [next.alert], options);
    const { attempt, verdict } = sent;
    if (verdict.outcome === "delivered") {
      recipient.queue.shift();
      return true;
    }
    if (verdict.failure === "final") recipient.queue = [];
    next.progress = verdict.progress ?? next.progress;
    const facts = { channel: channelId, reason: attempt.message };
    context.log.warn("an alert about this appliance could not be sent", facts);
    return false;
  }
}

/** Returns the channels of every organization that are notified of problems of the appliance. */
async function findChannelsToAlert(store: Store) {
  type Row = { id: string; organizationId: string; isDefault: number };
  const rows = await store.query<Row>(
    `select c.id, c.organization_id as organizationId, c.is_default as isDefault
     from alert_channels c join organizations o on o.id = c.organization_id
     where c.enabled and c.person_id is null and o.deleted_at is null`,
    [],
  );
  const able = rows.map((row) => ({ ...row, enabled: true, isDefault: row.isDefault === 1 }));
  return [...Map.groupBy(able, ({ organizationId }) => organizationId).values()].flatMap((own) =>
    selectChannelsForProblems(own),
  );
}
