import { counter, family, type Family, histogram } from "../core/metrics.ts";
import type { Store } from "../database/store.ts";
import { channelKinds } from "./channels/kinds-schema.ts";
import type { ReceiverType } from "./queue.ts";

type Ended = "delivered" | "failed" | "skipped";
/** An attempt, a delivery or what waits: to whom, and for attempts and deliveries by what it goes there. */
type To = { receiverType: ReceiverType; type: string };

const receivers: Record<ReceiverType, string> = {
  channel: "channel",
  mailbox: "subscriber",
  webhook: "subscriber",
};
const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What becomes of deliveries to channels and subscribers. */
export function deliveryMetrics() {
  const deliveries = counter(
    "signalbox_deliveries_total",
    "Deliveries that ended, by receiver (channel or subscriber), type of channel and outcome; a failed one was given up.",
    ["receiver", "type", "outcome"],
  );
  const attempts = histogram(
    "signalbox_delivery_attempt_duration_seconds",
    "Time that an attempt to deliver took, by receiver, type of channel and outcome; a failed one is made again while that may help.",
    ["receiver", "type", "outcome"],
    bounds,
  );
  const types = Object.keys(channelKinds).map((type) => ["channel", type] as const);
  for (const to of [...types, ["subscriber", "email"], ["subscriber", "webhook"]] as const)
    for (const outcome of ["delivered", "failed", "skipped"]) deliveries.of(...to, outcome);
  return {
    ended({ receiverType, type }: To, outcome: Ended, count = 1) {
      const add = deliveries.of(receivers[receiverType], type, outcome);
      for (let i = 0; i < count; i++) add();
    },
    attempted({ receiverType, type }: To, outcome: "delivered" | "failed", durationMs: number) {
      attempts.of(receivers[receiverType], type, outcome)(durationMs / 1_000);
    },
    families: (): Family[] => [deliveries.family(), attempts.family()],
  };
}

/** What waits in the outbox. */
export async function outboxMetrics(store: Store, now: number): Promise<Family[]> {
  const rows = await store.query<Record<"waiting" | "retrying" | "oldest", number> & Receiving>(
    `select receiver_type as receiverType, sum(attempts = 0) as waiting, sum(attempts > 0) as retrying,
       min(due_at) as oldest
     from deliveries where due_at is not null group by receiver_type`,
    [],
  );
  const all = Object.keys(receivers).map((receiver) => ({
    receiver,
    ...(rows.find(({ receiverType }) => receiverType === receiver) ?? {
      waiting: 0,
      retrying: 0,
      oldest: now,
    }),
  }));
  return [
    family(
      "signalbox_outbox_deliveries",
      "gauge",
      "Deliveries that are not over, by receiver (channel, mailbox or webhook of a subscriber) and state: waiting for the first attempt, or retrying.",
      all.flatMap(({ receiver, waiting, retrying }) => [
        { labels: { receiver, state: "waiting" }, value: waiting },
        { labels: { receiver, state: "retrying" }, value: retrying },
      ]),
    ),
    family(
      "signalbox_outbox_delay_seconds",
      "gauge",
      "How long the delivery that is due longest has been waiting, by receiver.",
      all.map(({ receiver, oldest }) => ({
        labels: { receiver },
        value: Math.max(0, now - oldest) / 1_000,
      })),
    ),
  ];
}

type Receiving = { receiverType: ReceiverType };
