/** Follows sent messages at their services: whether they arrived, and emergencies until someone confirms them. */
import {
  createLeaseValue,
  guardStoreWithLease,
  LeaseLost,
  type Leases,
} from "../../cluster/leases.ts";
import { createInsert, type Statement, type Store } from "../../database/store.ts";
import { alertReceipts } from "../../database/tables/alerting.ts";
import type { ScopeServices } from "../../events/scope.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { findGateway, resolveSettings } from "../channels/gateways.ts";
import type { ChannelSettings, ChannelType } from "../channels/kinds-schema.ts";
import { type ChannelRow, findChannel } from "../channels/service.ts";
import type { MessageReceipt, Provider, ProviderReceipts, ReceiptState } from "../provider.ts";
import { providers } from "../providers.ts";
import { acknowledgeAsChannel } from "../records/actions.ts";
import { findLinkedAlert, hurryEscalation } from "../records/store.ts";
import { createDeliveryContext, type SendingContext } from "./attempt.ts";
import { recordFailure, updateChannelState } from "./channel-state.ts";

/** Minimum time between two requests of a channel, and before a cancellation is tried again. */
const spacingMs = 5_000;
/** Maximum simultaneous requests. */
const maxReceipts = 20;
/** Maximum receipts examined per tick. */
const receiptsPerTick = 1_000;

const putReceipt = createInsert(alertReceipts, "insert or replace");

/** Stores that a receipt of a delivery is read later. */
export const insertReceipt = (
  organizationId: string,
  deliveryId: string,
  { id, expiresAt }: MessageReceipt,
  now: number,
): Statement => putReceipt({ organizationId, deliveryId, receipt: id, polledAt: now, expiresAt });

/** Returns the requests for receipts of a channel type; null if it has none. */
const findReceipts = (type: string | null): ProviderReceipts<unknown> | null =>
  (providers[type as ChannelType] as Provider<ChannelType> | undefined)?.receipts ?? null;

/** Whether only a receipt confirms the arrival. An emergency has arrived when it waits for a confirmation. */
export const isAwaited = (
  { type }: Pick<ChannelRow, "type">,
  { receipt }: { receipt: MessageReceipt | null },
): boolean => receipt !== null && findReceipts(type)?.cancel === undefined;

/** A receipt, and the alerts of its message that are neither acknowledged, snoozed nor over. */
export type Receipt = {
  organizationId: string;
  deliveryId: string;
  channelId: string;
  /** Null after the channel was deleted. */
  channelType: string | null;
  receipt: string;
  polledAt: number;
  expiresAt: number;
  recordIds: readonly string[];
};

/** Selects the receipts to request, or to cancel because no alert is left. `receipts` are sorted by `polledAt`. */
export function selectDueReceipts(receipts: readonly Receipt[], now: number): Receipt[] {
  // A time in the future was stored before the clock went back.
  const isRecent = ({ polledAt }: Receipt, ms: number) => polledAt <= now && now - polledAt < ms;
  const recent = receipts.filter((one) => isRecent(one, spacingMs));
  const busyChannels = new Set(recent.map(({ channelId }) => channelId));
  const due: Receipt[] = [];
  for (const one of receipts) {
    if (due.length === maxReceipts) break;
    const requests = findReceipts(one.channelType);
    const isOver = requests === null || isCanceled(one);
    const ms = isOver ? spacingMs : requests.pollMs({ now, expiresAt: one.expiresAt });
    if (isRecent(one, ms)) continue;
    if (!isOver && busyChannels.has(one.channelId)) continue;
    if (!isOver) busyChannels.add(one.channelId);
    due.push(one);
  }
  return due;
}

/** Whether no alert is left for which the message should be repeated. */
const isCanceled = ({ channelType, recordIds }: Receipt): boolean =>
  recordIds.length === 0 && findReceipts(channelType)?.cancel !== undefined;

type Dependencies = SendingContext & ScopeServices;

/** Polls receipts on the node that has the lease of alerting. */
export function createReceiptPolling(dependencies: Dependencies & { leases: Leases }) {
  const { leases, store } = dependencies;
  const stopping = new AbortController();
  const findPolling = createLeaseValue(leases, "alerting", (lease) => {
    const guarded = { ...dependencies, store: guardStoreWithLease(store, lease) };
    return new ReceiptPolling(guarded, stopping.signal);
  });
  return {
    runOnce: async () => findPolling()?.runOnce(),
    async stop() {
      stopping.abort();
      await findPolling()?.idle();
    },
  };
}

class ReceiptPolling {
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;
  #running: Promise<void> | null = null;

  constructor(dependencies: Dependencies, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /** Requests due receipts, unless earlier requests are in flight. Never throws. */
  runOnce(): Promise<void> {
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        if (error instanceof LeaseLost || this.#signal.aborted) return;
        this.#dependencies.log.error("receipts can't be read", { cause: String(error) });
      })
      .finally(() => (this.#running = null));
    return this.#running;
  }

  /** Waits for requests in flight. */
  idle = async () => this.#running;

  async #run() {
    const { store, clock } = this.#dependencies;
    const now = clock();
    const due = selectDueReceipts(await listReceipts(store), now);
    if (due.length === 0) return;
    await store.atomic(due.map((one) => recordPoll(one, now)));
    const ended = await Promise.all(due.map((one) => this.#read(one, now)));
    const statements = ended.flat();
    if (statements.length > 0) await store.atomic(statements);
  }

  /** Reads a receipt, or cancels its message. Returns the statements that record the end; none before it. */
  async #read(one: Receipt, now: number): Promise<Statement[]> {
    const { store } = this.#dependencies;
    const { organizationId, channelId } = one;
    const channel = await findChannel({ store, organizationId }, channelId);
    const state = channel === null ? "over" : await this.#findState(one, channel);
    if (state === "acknowledged") await this.#acknowledge(one);
    const isExpired = now > one.expiresAt;
    if (state === "waiting" && !isExpired) return [];
    return [removeReceipt(one), ...(channel === null ? [] : recordEnd(one, channel, state, now))];
  }

  async #findState(one: Receipt, channel: ChannelRow): Promise<ReceiptState> {
    const { store, vault, log } = this.#dependencies;
    const { organizationId, deliveryId } = one;
    const requests = findReceipts(channel.type);
    if (requests === null) return "over";
    const context = createDeliveryContext(this.#dependencies, this.#signal, null);
    try {
      const gateway = await findGateway({ store, organizationId }, channel);
      if (gateway === null) return "over";
      const settings = resolveSettings(vault, channel, gateway) as ChannelSettings<ChannelType>;
      if (!isCanceled(one)) return await requests.read(settings, one.receipt, context);
      return (await requests.cancel?.(settings, deliveryId, context)) === false
        ? "waiting"
        : "over";
    } catch (error) {
      // A service that does not respond is queried again. The error could contain the token.
      const cause = error instanceof Error ? error.name : typeof error;
      log.info("a receipt could not be read", { channel: channel.id, cause });
      return "waiting";
    }
  }

  async #acknowledge({ organizationId, channelId, recordIds }: Receipt) {
    const { store } = this.#dependencies;
    for (const recordId of recordIds) {
      const target = { organizationId, recordId, channelId };
      const linked = await findLinkedAlert(store, target);
      if (linked !== null) await acknowledgeAsChannel(this.#dependencies, target, linked.name);
    }
  }
}

/** Returns statements that record whether a message arrived. If it did not, its delivery failed. */
function recordEnd(
  { organizationId, deliveryId }: Receipt,
  channel: ChannelRow,
  state: ReceiptState,
  now: number,
): Statement[] {
  const at = formatTimestamp(now);
  const target = { organizationId, deliveryId, at };
  if (state === "waiting")
    return findReceipts(channel.type)?.cancel === undefined
      ? [noteReceipt(target, "No receipt arrived in time.")]
      : [];
  if (typeof state === "string") return [];
  const attempt = { at, durationMs: 0, delivered: "arrived" in state };
  if ("arrived" in state) {
    const message = state.arrived;
    const facts = { note: null, isLost: false, now };
    return [
      noteReceipt(target, message),
      ...updateChannelState(channel, { ...attempt, message }, facts),
    ];
  }
  const { lost: message, isUnanswered = false } = state;
  const failed = { ...attempt, message };
  const facts = { note: null, isLost: true, now };
  return [
    failDelivery(target, message),
    hurryEscalation(organizationId, deliveryId, now),
    ...(isUnanswered
      ? []
      : [...updateChannelState(channel, failed, facts), ...recordFailure(channel, failed, now)]),
  ];
}

type Target = { organizationId: string; deliveryId: string; at: string };

const noteReceipt = ({ organizationId, deliveryId, at }: Target, message: string): Statement => ({
  text: `update deliveries set receipt = ?, receipt_at = ?
    where organization_id = ? and id = ? and status = 'delivered'`,
  parameters: [message, at, organizationId, deliveryId],
});

const failDelivery = ({ organizationId, deliveryId, at }: Target, message: string): Statement => ({
  text: `update deliveries set status = 'failed', error = ?1, delivered_at = null, receipt = ?1,
      receipt_at = ?2
    where organization_id = ?3 and id = ?4 and status = 'delivered'`,
  parameters: [message, at, organizationId, deliveryId],
});

async function listReceipts(store: Store): Promise<Receipt[]> {
  type Row = Omit<Receipt, "recordIds"> & { recordIds: string };
  const rows = await store.query<Row>(receiptsSql, [receiptsPerTick]);
  return rows.map(({ recordIds, ...row }) => ({
    ...row,
    recordIds: JSON.parse(recordIds) as string[],
  }));
}

const recordPoll = ({ organizationId, deliveryId }: Receipt, now: number): Statement => ({
  text: "update alert_receipts set polled_at = ? where organization_id = ? and delivery_id = ?",
  parameters: [now, organizationId, deliveryId],
});

const removeReceipt = ({ organizationId, deliveryId }: Receipt): Statement => ({
  text: "delete from alert_receipts where organization_id = ? and delivery_id = ?",
  parameters: [organizationId, deliveryId],
});

const receiptsSql = `select t.organization_id as organizationId, t.delivery_id as deliveryId,
    d.receiver_id as channelId, h.type as channelType, t.receipt, t.polled_at as polledAt, t.expires_at as expiresAt,
    (select json_group_array(distinct r.id) from delivery_alerts x
       join alerts a on a.organization_id = x.organization_id and a.id = x.alert_id
       join alert_records r on r.organization_id = a.organization_id and r.id = a.record_id
     where x.organization_id = t.organization_id and x.delivery_id = t.delivery_id
       and not x.withheld and r.resolved_at is null and r.acknowledged_at is null
       and r.snoozed_until is null) as recordIds
  from alert_receipts t
    cross join deliveries d on d.organization_id = t.organization_id and d.id = t.delivery_id
    left join alert_channels h on h.organization_id = d.organization_id and h.id = d.receiver_id
  order by t.polled_at limit ?`;
