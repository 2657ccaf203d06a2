/** Finds digests whose quiet hours are over, or were changed, and enters them into the outbox. */
import { formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import type { Statement, Store } from "../../database/store.ts";
import type { OwnWork } from "../../events/fair-follower.ts";
import { findQuietEnd, parseQuietHours } from "../channels/rules.ts";

/** Maximum held messages per organization and tick. */
const maxMessages = 500;
/** Maximum channels per tick when all are examined. */
const maxChannels = 2_000;

type HeldDelivery = {
  organizationId: string;
  channelId: string;
  quietHours: string | null;
  dueAt: number;
};

export type QuietRound = ReturnType<typeof createQuietRound>;

/**
 * Finds channels whose held messages are due, and sends their digests. If the hours were edited, it changes the time of
 * the digest. After a start, and when the clock goes back, it examines all channels with held messages. So a clock that
 * was ahead holds nothing for longer.
 */
export function createQuietRound(store: Store) {
  let minute = 0;
  let lastNow = Infinity;
  /** The last examined channel while all channels are examined; null otherwise. */
  let after: readonly [string, string] | null = null;
  const quietEnds = new Map<string, number | null>();

  /** Quiet hours start and end at full minutes, and many channels have the same. */
  function findEnd(quietHours: string | null, now: number): number | null {
    if (quietHours === null) return null;
    const nowMinute = Math.floor(now / minuteMs);
    if (nowMinute !== minute) quietEnds.clear();
    minute = nowMinute;
    const known = quietEnds.get(quietHours);
    if (known !== undefined) return known;
    const end = findQuietEnd(parseQuietHours(quietHours), now);
    quietEnds.set(quietHours, end);
    return end;
  }

  async function findHolding(now: number): Promise<HeldDelivery[]> {
    if (now < lastNow) after = ["", ""];
    lastNow = now;
    const due = await store.query<HeldDelivery>(dueSql, [now, maxMessages]);
    if (after === null) return due;
    const all = await store.query<HeldDelivery>(holdingSql, [...after, maxChannels]);
    const last = all.length < maxChannels ? undefined : all.at(-1);
    after = last === undefined ? null : [last.organizationId, last.channelId];
    const nameOf = ({ organizationId, channelId }: HeldDelivery) =>
      `${organizationId} ${channelId}`;
    return [...new Map([...due, ...all].map((one) => [nameOf(one), one])).values()];
  }

  return async (now: number): Promise<OwnWork[]> => {
    const holding = Map.groupBy(await findHolding(now), ({ organizationId }) => organizationId);
    return [...holding].map(([organizationId, own]) => ({
      organizationId,
      decide: () => {
        const changed = own
          .map((one) => ({ ...one, end: findEnd(one.quietHours, now) }))
          .filter(({ end, dueAt }) => end !== dueAt);
        const endedRecords = changed.filter(({ end }) => end === null);
        const movedDigests = changed.filter(({ end }) => end !== null);
        return [
          ...(endedRecords.length === 0 ? [] : [sendDigests(endedRecords, now)]),
          ...(movedDigests.length === 0 ? [] : [moveDigests(movedDigests)]),
        ];
      },
    }));
  };
}

const channelSql = `d.organization_id as organizationId, d.receiver_id as channelId,
    c.quiet_hours as quietHours, min(d.due_at) as dueAt`;

const dueSql = `select ${channelSql}
  from (select organization_id, receiver_id, due_at,
        row_number() over (partition by organization_id order by due_at) as number
      from deliveries indexed by deliveries_quiet_due
      where due_at is not null and quiet and due_at <= ?1) d
    cross join alert_channels c on c.organization_id = d.organization_id and c.id = d.receiver_id
  where d.number <= ?2 group by d.organization_id, d.receiver_id`;

const holdingSql = `select ${channelSql}
  from deliveries d indexed by deliveries_quiet
    cross join alert_channels c on c.organization_id = d.organization_id and c.id = d.receiver_id
  where d.due_at is not null and d.quiet and (d.organization_id, d.receiver_id) > (?1, ?2)
  group by d.organization_id, d.receiver_id order by d.organization_id, d.receiver_id limit ?3`;

/** Enters the digests into the outbox. They count as created now, because they could not be sent before. */
const sendDigests = (over: readonly HeldDelivery[], now: number): Statement => ({
  text: `update deliveries set quiet = null, due_at = ?, created_at = ?
    where due_at is not null and quiet and (organization_id, receiver_id) in (
      select value ->> 0, value ->> 1 from json_each(?))`,
  parameters: [
    now,
    formatTimestamp(now),
    JSON.stringify(over.map(({ organizationId, channelId }) => [organizationId, channelId])),
  ],
});

const moveDigests = (moved: readonly (HeldDelivery & { end: number | null })[]): Statement => ({
  text: `update deliveries set due_at = j.value ->> 2 from json_each(?) j
    where due_at is not null and quiet and organization_id = j.value ->> 0
      and receiver_id = j.value ->> 1`,
  parameters: [
    JSON.stringify(
      moved.map(({ organizationId, channelId, end }) => [organizationId, channelId, end]),
    ),
  ],
});
