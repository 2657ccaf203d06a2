/** Records whether an alert channel works, and notifies the other channels of a failing one. */
import type { ChannelRow } from "../channels/service.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Statement } from "../../database/store.ts";
import { appendEvent } from "../../events/log.ts";
import { type Attempt, makeDeliveriesDue, type ReceiverKey } from "./queue.ts";

/** Notifies the other channels of a failing channel, once until it works again. */
export function recordFailure(
  { organizationId, id, failingSince }: ChannelRow,
  { message }: Attempt,
  now: number,
): Statement[] {
  if (failingSince !== null) return [];
  const at = formatTimestamp(now);
  const data = { message };
  return [appendEvent({ organizationId, at, type: "channel.failed", subjectId: id, data })];
}

/** Reports a channel that reached its daily limit, like a channel whose last attempt failed. */
export function recordSkip(channel: ChannelRow, message: string, now: number): Statement[] {
  const attempt = { at: formatTimestamp(now), durationMs: 0, delivered: false, message };
  return [
    ...updateChannelState(channel, attempt, { note: null, isLost: true, now }),
    ...recordFailure(channel, attempt, now),
  ];
}

type DeliveryFacts = {
  note: string | null;
  isLost: boolean;
  now: number;
  /** Whether a receipt is awaited. Until then, a failing channel still fails. */
  isOpen?: boolean;
};

/** Updates a channel after an attempt. A success ends its failure and makes waiting deliveries due. */
export function updateChannelState(
  { organizationId, id }: Pick<ChannelRow, "organizationId" | "id">,
  attempt: Attempt,
  { note, isLost, now, isOpen = false }: DeliveryFacts,
): Statement[] {
  if (!attempt.delivered)
    return [
      {
        text: `update alert_channels set last_error = ?,
          failing_since = case when ? then coalesce(failing_since, ?) else failing_since end
          where organization_id = ? and id = ?`,
        parameters: [attempt.message, isLost ? 1 : 0, attempt.at, organizationId, id],
      },
    ];
  const key: ReceiverKey = { organizationId, receiverType: "channel", receiverId: id };
  return [
    {
      text: `update alert_channels set last_delivery_at = ?1,
          last_error = iif(?3 and failing_since is not null, last_error, ?2),
          failing_since = iif(?3, failing_since, null)
        where organization_id = ?4 and id = ?5`,
      parameters: [attempt.at, note, isOpen ? 1 : 0, organizationId, id],
    },
    makeDeliveriesDue(key, now),
  ];
}
