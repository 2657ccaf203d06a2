import {
  insertInto,
  mustText,
  type Prepared,
  StaleRead,
  type Statement,
  type Store,
} from "../database/store.ts";
import { deliveryAttempts } from "../database/tables.ts";
import type { Alert } from "./alert.ts";
import { isEarly, type Queued } from "./rules.ts";

export type ChannelKey = { organizationId: string; channelId: string };

export type Attempt = {
  /** RFC 3339. */
  at: string;
  durationMs: number;
  delivered: boolean;
  message: string;
};

/** Channels for which something waits. */
export function channelsWaiting(store: Store): Promise<ChannelKey[]> {
  return store.query(
    `select distinct organization_id as organizationId, channel_id as channelId from deliveries
     where due_at is not null`,
    [],
  );
}

/** The oldest `limit` deliveries of a channel that are not over. */
export function queueOf(
  store: Store,
  { organizationId, channelId }: ChannelKey,
  limit: number,
): Promise<Omit<Queued, "subjects">[]> {
  return store.query(
    `select id, attempts, scheduled_attempts as scheduledAttempts, due_at as dueAt,
       leased_until as leasedUntil, first_attempt_at as firstAttemptAt,
       last_attempt_at as lastAttemptAt
     from deliveries where organization_id = ? and channel_id = ? and due_at is not null
     order by seq limit ?`,
    [organizationId, channelId, limit],
  );
}

/** Monitors and incidents that these deliveries tell of. */
export async function subjectsOf(
  store: Store,
  organizationId: string,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const rows = await store.query<{ deliveryId: string; subject: string }>(
    `select distinct t.delivery_id as deliveryId, coalesce(a.monitor_id, a.incident_id) as subject
     from json_each(?) wanted
       cross join delivery_alerts t on t.organization_id = ? and t.delivery_id = wanted.value
       cross join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
     where subject is not null`,
    [JSON.stringify(deliveryIds), organizationId],
  );
  const byDelivery = Map.groupBy(rows, ({ deliveryId }) => deliveryId);
  return new Map([...byDelivery].map(([id, all]) => [id, all.map(({ subject }) => subject)]));
}

/** What a delivery tells, without what was withheld, in order; and of recoveries, whether what they follow got there. */
export async function alertsOf(
  store: Store,
  organizationId: string,
  deliveryId: string,
): Promise<{ position: number; alert: Alert; isFollowable: boolean }[]> {
  type Row = Omit<Alert, "data"> & { data: string; position: number; isFollowable: number };
  const rows = await store.query<Row>(
    `select t.position, a.id, a.type, a.at, a.data,
       t.follows is null or exists (select 1 from json_each(t.follows) j
         left join deliveries f on f.organization_id = t.organization_id and f.id = j.value
         where f.id is null or f.id = t.delivery_id or f.status = 'delivered') as isFollowable
     from delivery_alerts t
       cross join alerts a on a.organization_id = t.organization_id and a.id = t.alert_id
     where t.organization_id = ? and t.delivery_id = ? and not t.withheld order by t.position`,
    [organizationId, deliveryId],
  );
  return rows.map(({ position, isFollowable, id, type, at, data }) => ({
    position,
    alert: { id, type, at, data: JSON.parse(data) as unknown } as Alert,
    isFollowable: isFollowable === 1,
  }));
}

const unclaimedText =
  mustText(`exists (select 1 from deliveries where organization_id = ? and id = ?
  and due_at is not null and attempts = ? and coalesce(leased_until, 0) = ?)`);

/** Holds while nobody else has taken this delivery. */
function mustBeUnclaimed(organizationId: string, { id, attempts, leasedUntil }: Queued): Prepared {
  return {
    ...unclaimedText,
    parameters: [organizationId, id, attempts, leasedUntil ?? 0],
    otherwise: () => new StaleRead(),
  };
}

/** Takes a delivery for one attempt; from now on it takes no further alerts. */
export function claim(
  organizationId: string,
  queued: Queued,
  leasedUntil: number,
  now: number,
): Statement[] {
  return [
    mustBeUnclaimed(organizationId, queued),
    {
      text: `update deliveries set status = 'sending', leased_until = ?,
        first_attempt_at = coalesce(first_attempt_at, ?) where organization_id = ? and id = ?`,
      parameters: [leasedUntil, now, organizationId, queued.id],
    },
  ];
}

/** Makes every delivery free to be claimed: right only where nobody else can be sending. */
export const releaseAll: Statement = {
  text: "update deliveries set leased_until = null where due_at is not null and leased_until is not null",
  parameters: [],
};

/** Leaves these alerts out of a delivery for good. */
export function withhold(
  organizationId: string,
  deliveryId: string,
  positions: readonly number[],
): Statement[] {
  if (positions.length === 0) return [];
  return [
    {
      text: `update delivery_alerts set withheld = 1 where organization_id = ? and delivery_id = ?
        and position in (select value from json_each(?))`,
      parameters: [organizationId, deliveryId, JSON.stringify(positions)],
    },
  ];
}

/** Ends a delivery that nobody is to get. */
export function skip(organizationId: string, deliveryId: string, reason: string): Statement {
  return {
    text: `update deliveries set status = 'skipped', due_at = null, leased_until = null, error = ?
      where organization_id = ? and id = ? and due_at is not null`,
    parameters: [reason, organizationId, deliveryId],
  };
}

const insertAttempt = insertInto(deliveryAttempts);
const claimedText = mustText(`exists (select 1 from deliveries
  where organization_id = ? and id = ? and status = 'sending' and attempts = ?)`);

/** Writes down an attempt and what it means for its delivery; `nextAt` is null where there is no further one. */
export function settled(
  organizationId: string,
  { id, attempts, dueAt }: Queued,
  attempt: Attempt,
  nextAt: number | null,
  now: number,
): Statement[] {
  const status = attempt.delivered ? "delivered" : nextAt === null ? "failed" : "sending";
  return [
    {
      ...claimedText,
      parameters: [organizationId, id, attempts],
      otherwise: () => new StaleRead(),
    },
    {
      text: `update deliveries set status = ?, attempts = attempts + 1,
        scheduled_attempts = scheduled_attempts + ?, due_at = ?, last_attempt_at = ?,
        leased_until = null, delivered_at = ?, error = ? where organization_id = ? and id = ?`,
      parameters: [
        status,
        isEarly({ dueAt }, now) ? 0 : 1,
        nextAt,
        now,
        attempt.delivered ? attempt.at : null,
        attempt.delivered ? null : attempt.message,
        organizationId,
        id,
      ],
    },
    insertAttempt({ organizationId, deliveryId: id, number: attempts + 1, ...attempt }),
  ];
}

/** What an attempt says of its channel: a success ends every trouble and brings forward what waits for it. */
export function channelAfter(
  { organizationId, channelId }: ChannelKey,
  attempt: Attempt,
  { note, gaveUp, now }: { note: string | null; gaveUp: boolean; now: number },
): Statement[] {
  if (!attempt.delivered)
    return [
      {
        text: `update alert_channels set last_error = ?,
          failing_since = case when ? then coalesce(failing_since, ?) else failing_since end
          where organization_id = ? and id = ?`,
        parameters: [attempt.message, gaveUp ? 1 : 0, attempt.at, organizationId, channelId],
      },
    ];
  return [
    {
      text: `update alert_channels set last_delivery_at = ?, last_error = ?, failing_since = null
        where organization_id = ? and id = ?`,
      parameters: [attempt.at, note, organizationId, channelId],
    },
    {
      text: `update deliveries set due_at = ? where organization_id = ? and channel_id = ?
        and status = 'sending' and leased_until is null and due_at > ?`,
      parameters: [now, organizationId, channelId, now],
    },
  ];
}
