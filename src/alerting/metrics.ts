/** Prometheus metrics of deliveries and of the outbox. */
import { createCounter, createFamily, type Family, createHistogram } from "../core/metrics.ts";
import type { Store } from "../database/store.ts";
import { receiverKinds } from "./channels/kinds-schema.ts";
import type { ReceiverType } from "./sending/queue.ts";

type DeliveryOutcome = "delivered" | "failed" | "skipped";
/** Labels of attempts and deliveries: the receiver type, and the channel type or the subscriber's protocol. */
type MetricLabels = { receiverType: ReceiverType; type: string };

const receivers: Record<ReceiverType, string> = {
  channel: "channel",
  mailbox: "subscriber",
  webhook: "subscriber",
};
const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates counters of delivery attempts and of completed deliveries. */
export function createDeliveryMetrics() {
  const deliveries = createCounter(
    "signalbox_deliveries_total",
    "Completed deliveries, by receiver (channel or subscriber), channel type and outcome. Failed means abandoned.",
    ["receiver", "type", "outcome"],
  );
  const attempts = createHistogram(
    "signalbox_delivery_attempt_duration_seconds",
    "Duration of delivery attempts, by receiver, channel type and outcome. Failed attempts can be retried.",
    ["receiver", "type", "outcome"],
    bounds,
  );
  const types = Object.keys(receiverKinds).map((type) => ["channel", type] as const);
  for (const to of [...types, ["subscriber", "email"], ["subscriber", "webhook"]] as const)
    for (const outcome of ["delivered", "failed", "skipped"]) deliveries.withLabels(...to, outcome);
  return {
    countOutcome({ receiverType, type }: MetricLabels, outcome: DeliveryOutcome, count = 1) {
      const add = deliveries.withLabels(receivers[receiverType], type, outcome);
      for (let i = 0; i < count; i++) add();
    },
    countAttempt(
      { receiverType, type }: MetricLabels,
      outcome: "delivered" | "failed",
      durationMs: number,
    ) {
      attempts.of(receivers[receiverType], type, outcome)(durationMs / 1_000);
    },
    families: (): Family[] => [deliveries.family(), attempts.family()],
  };
}

/** Maximum receivers per query, so that other work can run between queries. */
const receiversPerQuery = 1_000;

type WaitingDeliveries = {
  receiverType: ReceiverType;
  organizationId: string;
  receiverId: string;
  deliveries: number;
  retrying: number;
  oldest: number;
};

/** Calls `use` with the waiting deliveries of each receiver. */
async function forEachWaiting(store: Store, use: (waiting: WaitingDeliveries) => void) {
  let after: readonly string[] = ["", "", ""];
  for (;;) {
    const rows = await store.query<WaitingDeliveries>(
      `select receiver_type as receiverType, organization_id as organizationId,
         receiver_id as receiverId, count(*) as deliveries, sum(attempts > 0) as retrying,
         min(due_at) as oldest
       from deliveries
       where due_at is not null and quiet is null and (receiver_type, organization_id, receiver_id) > (?, ?, ?)
       group by receiver_type, organization_id, receiver_id
       order by receiver_type, organization_id, receiver_id limit ?`,
      [...after, receiversPerQuery],
    );
    for (const row of rows) use(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < receiversPerQuery) return;
    after = [last.receiverType, last.organizationId, last.receiverId];
    await Bun.sleep(0);
  }
}

/** Reads the gauges of the outbox. */
export async function readOutboxMetrics(store: Store, now: number): Promise<Family[]> {
  const sums = new Map(
    Object.keys(receivers).map((receiver) => [receiver, { waiting: 0, retrying: 0, oldest: now }]),
  );
  await forEachWaiting(store, ({ receiverType, deliveries, retrying, oldest }) => {
    const sum = sums.get(receiverType);
    if (sum === undefined) return;
    sum.waiting += deliveries - retrying;
    sum.retrying += retrying;
    sum.oldest = Math.min(sum.oldest, oldest);
  });
  return [
    createFamily(
      "signalbox_outbox_deliveries",
      "gauge",
      "Pending deliveries, by receiver (channel, mailbox or webhook of a subscriber) and state: waiting for the first attempt, or retrying.",
      [...sums].flatMap(([receiver, { waiting, retrying }]) => [
        { labels: { receiver, state: "waiting" }, value: waiting },
        { labels: { receiver, state: "retrying" }, value: retrying },
      ]),
    ),
    createFamily(
      "signalbox_outbox_delay_seconds",
      "gauge",
      "Waiting time of the oldest due delivery, by receiver.",
      [...sums].map(([receiver, { oldest }]) => ({
        labels: { receiver },
        value: (now - oldest) / 1_000,
      })),
    ),
  ];
}
