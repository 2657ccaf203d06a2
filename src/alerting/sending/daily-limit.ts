/** Limits the messages of a gateway per day in UTC. Its channel counts them, for all contact methods that use it. */
import { findGateway } from "../channels/gateways.ts";
import { isGatewayType } from "../channels/gateway-rules.ts";
import type { ChannelRow } from "../channels/service.ts";
import { receiverKinds } from "../channels/kinds-schema.ts";
import { parseSettings } from "../../core/kinds.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { formatCount } from "../../core/text/formatting.ts";
import type { Tenant } from "../../database/rows.ts";
import type { Statement } from "../../database/store.ts";
import type { Attempt } from "./queue.ts";

const dateOf = (now: number) => formatTimestamp(now).slice(0, 10);

/** Returns why a channel sends no more messages today, as a sentence; null if it can send one. */
export async function findReachedLimit(
  tenant: Tenant,
  channel: ChannelRow,
  now: number,
): Promise<string | null> {
  if (!isGatewayType(channel.type)) return null;
  const gateway = await findGateway(tenant, channel);
  if (gateway === null) return null;
  const limit = parseSettings(receiverKinds, gateway.type, gateway.settings)["dailyLimit"];
  const sent = gateway.sentOn === dateOf(now) ? (gateway.sentMessages ?? 0) : 0;
  if (typeof limit !== "number" || sent < limit) return null;
  return `The limit of ${formatCount(limit)} ${limit === 1 ? "message" : "messages"} per day is reached. It ends at midnight UTC.`;
}

/**
 * Counts a message that the gateway accepted. After a timeout, it is unknown whether the gateway has accepted it, and
 * so whether it costs something.
 */
export function countMessage(
  { organizationId, id, type, gatewayId }: ChannelRow,
  { delivered, message }: Attempt,
  now: number,
): Statement[] {
  const mayCost = delivered || /^Timed out .* response\.$/.test(message);
  if (!isGatewayType(type) || !mayCost) return [];
  return [
    {
      text: `update alert_channels
        set sent_messages = iif(sent_on = ?1, sent_messages, 0) + 1, sent_on = ?1
        where organization_id = ?2 and id = ?3`,
      parameters: [dateOf(now), organizationId, gatewayId ?? id],
    },
  ];
}
