/** Follows emergencies at Pushover: a confirmation there acknowledges the alerts, and the end of all its alerts cancels it. */
import {
  createLeaseValue,
  guardStoreWithLease,
  LeaseLost,
  type Leases,
} from "../../cluster/leases.ts";
import { createInsert, type Statement, type Store } from "../../database/store.ts";
import { alertReceipts } from "../../database/tables/alerting.ts";
import type { ScopeServices } from "../../events/scope.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { findChannel, settingsOf } from "../channels/service.ts";
import { cancelEmergencies, readReceipt } from "../providers/pushover.ts";
import type { EmergencyReceipt } from "../provider.ts";
import { acknowledgeAsChannel } from "../records/actions.ts";
import { findLinkedAlert } from "../records/store.ts";
import { createDeliveryContext, type SendingContext } from "./attempt.ts";

/** Interval at which one receipt is requested. Pushover allows 5 s. */
const pollMs = 30_000;
/** Minimum time between two requests of a channel, and before a cancellation is tried again. */
const spacingMs = 5_000;
/** Maximum simultaneous requests. */
const atOnce = 20;
/** Maximum receipts examined per tick. */
const perTick = 1_000;

const putReceipt = createInsert(alertReceipts, "insert or replace");

/** Stores the receipt of a delivered emergency. */
export const insertReceipt = (
  organizationId: string,
  deliveryId: string,
  { id, expiresAt }: EmergencyReceipt,
  now: number,
): Statement => putReceipt({ organizationId, deliveryId, receipt: id, polledAt: now, expiresAt });

/** A receipt, and the alerts of its message that are neither acknowledged, snoozed nor over. */
export type Receipt = {
  organizationId: string;
  deliveryId: string;
  channelId: string;
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
    if (due.length === atOnce) break;
    const isOver = one.recordIds.length === 0;
    if (isRecent(one, isOver ? spacingMs : pollMs)) continue;
    if (!isOver && busyChannels.has(one.channelId)) continue;
    if (!isOver) busyChannels.add(one.channelId);
    due.push(one);
  }
  return due;
}

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
  readonly #canceled: AbortSignal;
  #running: Promise<void> | null = null;

  constructor(dependencies: Dependencies, canceled: AbortSignal) {
    this.#dependencies = dependencies;
    this.#canceled = canceled;
  }

  /** Requests due receipts, unless earlier requests are in flight. Never throws. */
  runOnce(): Promise<void> {
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        if (error instanceof LeaseLost || this.#canceled.aborted) return;
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
    const ended = await Promise.all(due.map((one) => this.#isEnded(one)));
    const removed = due.filter((one, index) => ended[index] === true || now > one.expiresAt);
    if (removed.length > 0) await store.atomic(removed.map(removeReceipt));
  }

  /** Reads or cancels an emergency. Returns whether it is over. */
  async #isEnded(one: Receipt): Promise<boolean> {
    const { store, vault, log } = this.#dependencies;
    const { organizationId, channelId, deliveryId, recordIds } = one;
    const channel = await findChannel({ store, organizationId }, channelId);
    if (channel?.type !== "pushover") return true;
    const settings = settingsOf(vault, channel) as ChannelSettings<"pushover">;
    const context = createDeliveryContext(this.#dependencies, this.#canceled, null);
    try {
      if (recordIds.length === 0) return await cancelEmergencies(settings, deliveryId, context);
      const state = await readReceipt(settings, one.receipt, context);
      if (state === "acknowledged") await this.#acknowledge(one);
      return state !== "waiting";
    } catch (error) {
      // A service that does not respond is asked again. The error could contain the token.
      const cause = error instanceof Error ? error.name : typeof error;
      log.info("a receipt could not be read", { channel: channelId, cause });
      return false;
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

async function listReceipts(store: Store): Promise<Receipt[]> {
  type Row = Omit<Receipt, "recordIds"> & { recordIds: string };
  const rows = await store.query<Row>(receiptsText, [perTick]);
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

const receiptsText = `select t.organization_id as organizationId, t.delivery_id as deliveryId,
    d.receiver_id as channelId, t.receipt, t.polled_at as polledAt, t.expires_at as expiresAt,
    (select json_group_array(distinct r.id) from delivery_alerts x
       join alerts a on a.organization_id = x.organization_id and a.id = x.alert_id
       join alert_records r on r.organization_id = a.organization_id and r.id = a.record_id
     where x.organization_id = t.organization_id and x.delivery_id = t.delivery_id
       and not x.withheld and r.resolved_at is null and r.acknowledged_at is null
       and r.snoozed_until is null) as recordIds
  from alert_receipts t
    cross join deliveries d on d.organization_id = t.organization_id and d.id = t.delivery_id
  order by t.polled_at limit ?`;
