/** Limits the messages of an SMS channel per day in UTC. Counts its stored attempts, so that a restart forgets none. */
import type { ChannelRow } from "../channels/service.ts";
import { channelKinds } from "../channels/kinds-schema.ts";
import { parseSettings } from "../../core/kinds.ts";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { formatCount } from "../../core/text/formatting.ts";
import type { Tenant } from "../../database/rows.ts";

/** Longest time from the creation of a delivery to its last attempt, which is 24 hours, rounded up. */
const maxAgeMs = 2 * dayMs;

/**
 * Counts accepted messages. After a timeout, it is unknown whether the gateway has accepted the message, and so whether
 * it costs something.
 */
const sentText = `select count(*) as sent from deliveries d
    cross join delivery_attempts a on a.organization_id = d.organization_id and a.delivery_id = d.id
  where d.organization_id = ? and d.receiver_id = ? and d.created_at >= ? and a.at >= ?
    and (a.delivered or a.message like 'Timed out % response.')`;

/** Returns why a channel sends no more messages today, as a sentence; null if it can send one. */
export async function findReachedLimit(
  { store, organizationId }: Tenant,
  { id, type, settings }: Pick<ChannelRow, "id" | "type" | "settings">,
  now: number,
): Promise<string | null> {
  const limit = parseSettings(channelKinds, type, settings)["dailyLimit"];
  if (typeof limit !== "number") return null;
  const today = formatTimestamp(now).slice(0, 10);
  const created = formatTimestamp(now - maxAgeMs);
  const [row] = await store.query<{ sent: number }>(sentText, [organizationId, id, created, today]);
  if ((row?.sent ?? 0) < limit) return null;
  return `The limit of ${formatCount(limit)} ${limit === 1 ? "message" : "messages"} per day is reached. It ends at midnight UTC.`;
}
