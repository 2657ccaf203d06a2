/** Limits the messages of a gateway per day in UTC. Its channel reserves each before it is sent, for all contact methods that use it. */
import { findGateway } from "../channels/gateways.ts";
import { isGatewayType } from "../channels/gateway-rules.ts";
import type { ChannelRow } from "../channels/service.ts";
import { receiverKinds } from "../channels/kinds-schema.ts";
import { parseSettings } from "../../core/kinds.ts";
import { AppError } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { formatCount } from "../../core/text/formatting.ts";
import type { Tenant } from "../../database/rows.ts";
import { guardCondition } from "../../database/store.ts";
import { hasArrivedPartly } from "./queue-rules.ts";
import type { CompletedAttempt } from "./queue.ts";

/** A reserved message of a gateway with a limit. */
type Reservation = Tenant & { gatewayId: string; day: string };

const reserveSql = `update alert_channels
  set sent_messages = iif(sent_on = ?1, sent_messages, 0) + 1, sent_on = ?1
  where organization_id = ?2 and id = ?3`;

const releaseSql = `update alert_channels set sent_messages = max(0, sent_messages - 1)
  where organization_id = ?2 and id = ?3 and sent_on = ?1`;

/**
 * Reserves a message of a channel. Returns null if the channel has no limit, and why it sends no more messages today, as
 * a sentence. A reservation counts until it is released, so a process that dies while it sends exceeds no limit.
 */
export async function reserveMessage(
  tenant: Tenant,
  channel: ChannelRow,
  now: number,
): Promise<Reservation | string | null> {
  if (!isGatewayType(channel.type)) return null;
  const gateway = await findGateway(tenant, channel);
  if (gateway === null) return null;
  const limit = parseSettings(receiverKinds, gateway.type, gateway.settings)["dailyLimit"];
  if (typeof limit !== "number") return null;
  const { store, organizationId } = tenant;
  const day = formatTimestamp(now).slice(0, 10);
  const key = [organizationId, gateway.id];
  const createLimitError = () => new AppError("RATE_LIMITED", describeLimit(limit));
  try {
    await store.atomic([
      guardCondition(
        `not exists (select 1 from alert_channels
  where organization_id = ? and id = ? and sent_on = ? and sent_messages >= ?)`,
        [...key, day, limit],
        createLimitError,
      ),
      { text: reserveSql, parameters: [day, ...key] },
    ]);
  } catch (error) {
    if (error instanceof AppError && error.code === "RATE_LIMITED") return error.message;
    throw error;
  }
  return { store, organizationId, gatewayId: gateway.id, day };
}

const describeLimit = (limit: number) =>
  `The limit of ${formatCount(limit)} ${limit === 1 ? "message" : "messages"} per day is reached. It ends at midnight UTC.`;

/** Releases a reserved message if the gateway has certainly not accepted it. */
export async function releaseIfUnsent(
  reservation: Reservation | null,
  completed: CompletedAttempt,
) {
  if (reservation === null || !isUnsent(completed)) return;
  const { store, organizationId, gatewayId, day } = reservation;
  await store.atomic([{ text: releaseSql, parameters: [day, organizationId, gatewayId] }]);
}

/** After a timeout, it is unknown whether the gateway has accepted the message, and so whether it costs something. */
const isUnsent = ({ attempt, verdict }: CompletedAttempt): boolean =>
  !attempt.delivered &&
  !/^Timed out .* response\.$/.test(attempt.message) &&
  !hasArrivedPartly({ progress: verdict.progress ?? null });
