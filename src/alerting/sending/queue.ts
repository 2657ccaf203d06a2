/** Queries and statements of the delivery queue: due receivers, claims and results. */
import { minuteMs } from "../../core/time/clock.ts";
import { guardCondition, type Prepared, type Statement, type Store } from "../../database/store.ts";
import { deliveryAttempts } from "../../database/tables/alerting.ts";
import {
  hasArrivedPartly,
  isEarly,
  longestWaitMs,
  type Progress,
  type Queued,
} from "./queue-rules.ts";
import type { MessageReceipt, Verdict } from "../provider.ts";
import { hurryEscalation } from "../records/store.ts";
import { insertAttempt } from "../store.ts";

/** An alert channel, or a subscriber's mailbox or webhook. */
export type ReceiverType = "channel" | "mailbox" | "webhook";

export type ReceiverKey = {
  organizationId: string;
  receiverType: ReceiverType;
  receiverId: string;
};

/** Age up to which a waiting delivery to a subscriber causes early retries. */
const recentDeliveryMs = 20 * minuteMs;

export type Attempt = Omit<
  typeof deliveryAttempts.$inferSelect,
  "organizationId" | "deliveryId" | "number"
>;

/** A receiver with a due delivery. `failing` is true after a failed attempt. */
export type WaitingReceiver = ReceiverKey & { failing: boolean };

/** Maximum receivers per lookup for all organizations, and the minimum share of one organization. */
const receiversPerLookup = 1_500;
const minReceiversPerKind = 5;

/** Finds receivers with due deliveries in rounds, one limited batch per lookup, so that each lookup is fast. */
export function createReceiverRound(store: Store) {
  /** Last receiver of the previous lookup, by receiver type and organization. */
  const lastReceivers = new Map<string, string>();

  async function findDue(
    { receiverType, organizationId }: Omit<ReceiverKey, "receiverId">,
    limit: number,
    now: number,
  ): Promise<{ waiting: WaitingReceiver[]; isMore: boolean }> {
    const roundKey = `${receiverType} ${organizationId}`;
    const isChannel = receiverType === "channel";
    const after = lastReceivers.get(roundKey) ?? "";
    const times = [now, now + longestWaitMs, ...(isChannel ? [] : [now - recentDeliveryMs])];
    const rows = await store.query<{ receiverId: string; failing: number; isDue: number }>(
      isChannel ? channelsSql : subscribersSql,
      [receiverType, organizationId, after, limit, ...times],
    );
    const last = rows.length < limit ? undefined : rows.at(-1);
    if (last === undefined) lastReceivers.delete(roundKey);
    else lastReceivers.set(roundKey, last.receiverId);
    return {
      isMore: last !== undefined,
      waiting: rows
        .filter(({ isDue }) => isDue === 1)
        .map(({ receiverId, failing }) => ({
          receiverType,
          organizationId,
          receiverId,
          failing: failing === 1,
        })),
    };
  }

  return {
    /** Returns receivers with due deliveries, failing ones last. `isMore` is true if receivers remain unexamined. */
    async find(now: number): Promise<{ waiting: WaitingReceiver[]; isMore: boolean }> {
      const types = ["channel", "mailbox", "webhook"] as const;
      const found = await Promise.all(
        types.map((type) => store.query<{ organizationId: string }>(organizationsSql, [type])),
      );
      const kinds = types.flatMap((receiverType, index) =>
        (found[index] ?? []).map(({ organizationId }) => ({ receiverType, organizationId })),
      );
      const limit = Math.max(minReceiversPerKind, Math.floor(receiversPerLookup / kinds.length));
      const looks = await Promise.all(kinds.map((kind) => findDue(kind, limit, now)));
      return {
        isMore: looks.some(({ isMore }) => isMore),
        waiting: looks
          .flatMap(({ waiting }) => waiting)
          .sort((a, b) => Number(a.failing) - Number(b.failing)),
      };
    },
  };
}

/** Selects organizations with pending deliveries. Takes one index seek per organization, however many rows it has. */
const organizationsSql = `with recursive o(id) as (
    select min(organization_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and due_at is not null
    union all select (select min(organization_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and due_at is not null and organization_id > o.id)
    from o where o.id is not null)
  select id as organizationId from o where id is not null`;

const receiverSql = `receiver_type = ?1 and organization_id = ?2 and receiver_id = r.id
  and due_at is not null`;

/**
 * Selects receivers, and whether each has due deliveries by the condition `isDue` on `r.id`. A
 * receiver that requested a wait is not due. A wait beyond the maximum is ignored: it was written
 * before the clock went back.
 */
const buildReceiversSql = (isDue: string) => `with recursive r(id) as (
    select min(receiver_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and organization_id = ?2 and due_at is not null and receiver_id > ?3
    union all select (select min(receiver_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and organization_id = ?2 and due_at is not null
        and receiver_id > r.id)
    from r where r.id is not null limit ?4)
  select r.id as receiverId,
    exists (select 1 from (select attempts from deliveries indexed by deliveries_pending
      where ${receiverSql} order by seq limit 20) where attempts > 0) as failing,
    not exists (select 1 from deliveries indexed by deliveries_held where ${receiverSql}
      and held_until between ?5 + 1 and ?6) and (${isDue}) as isDue
  from r where r.id is not null`;

const channelsSql = buildReceiversSql(
  `exists (select 1 from deliveries indexed by deliveries_pending
    where ${receiverSql} and quiet is null and due_at not between ?5 + 1 and ?6)`,
);

// Later deliveries to a subscriber wait for its oldest one, unless a new delivery causes an early
// retry.
const subscribersSql = buildReceiversSql(
  `coalesce((select due_at not between ?5 + 1 and ?6 from deliveries indexed by deliveries_pending
      where ${receiverSql} order by seq limit 1)
    or (select due_at > ?6 or (attempts = 0 and due_at between ?7 and ?5)
      from deliveries indexed by deliveries_pending
      where ${receiverSql} order by seq desc limit 1), false)`,
);

/** Returns the oldest `limit` undelivered deliveries of a receiver, except those that quiet hours hold. */
export async function readQueue(
  store: Store,
  { organizationId, receiverType, receiverId }: ReceiverKey,
  limit: number,
): Promise<Omit<Queued, "subjects">[]> {
  type Row = Omit<Queued, "subjects" | "progress" | "closesCase"> & {
    progress: string | null;
    closesCase: number | null;
  };
  const rows = await store.query<Row>(
    `select id, attempts, scheduled_attempts as scheduledAttempts, due_at as dueAt,
       leased_until as leasedUntil, first_attempt_at as firstAttemptAt,
       last_attempt_at as lastAttemptAt, doubtful_since as doubtfulSince, progress,
       case_key as caseKey, closes_case as closesCase
     from deliveries where organization_id = ? and receiver_type = ? and receiver_id = ?
       and due_at is not null and quiet is null
     order by seq limit ?`,
    [organizationId, receiverType, receiverId, limit],
  );
  return rows.map(({ progress, closesCase, ...row }) => ({
    ...row,
    progress: progress === null ? null : (JSON.parse(progress) as Progress),
    closesCase: closesCase === 1,
  }));
}

/** Guards that no other process has claimed this delivery since it was read. */
function guardUnclaimed(organizationId: string, { id, attempts, leasedUntil }: Queued): Prepared {
  return guardCondition(
    `exists (select 1 from deliveries where organization_id = ? and id = ?
  and due_at is not null and attempts = ? and coalesce(leased_until, 0) = ?)`,
    [organizationId, id, attempts, leasedUntil ?? 0],
  );
}

/** Claims a delivery for one attempt. From then on it accepts no further alerts. */
export function claimDelivery(
  organizationId: string,
  queued: Queued,
  leasedUntil: number,
  now: number,
) {
  return [
    guardUnclaimed(organizationId, queued),
    {
      text: `update deliveries set status = 'sending', leased_until = ?,
        first_attempt_at = coalesce(first_attempt_at, ?), last_attempt_at = ?
        where organization_id = ? and id = ?`,
      parameters: [leasedUntil, now, now, organizationId, queued.id],
    },
  ];
}

type DeliveryClaim = ReceiverKey & { id: string; leasedUntil: number };

/** Returns deliveries that are in flight, or were in flight when a process ended. */
export const findClaimedDeliveries = (store: Store) =>
  store.query<DeliveryClaim>(
    `select organization_id as organizationId, receiver_type as receiverType,
       receiver_id as receiverId, id, leased_until as leasedUntil
     from deliveries where due_at is not null and leased_until is not null`,
    [],
  );

/** Frees a claimed delivery. Only safe if no other process can be sending it. */
export const releaseClaim = ({ organizationId, id, leasedUntil }: DeliveryClaim): Statement => ({
  text: `update deliveries set leased_until = null
    where organization_id = ? and id = ? and due_at is not null and leased_until = ?`,
  parameters: [organizationId, id, leasedUntil],
});

/** Marks a pending delivery as skipped, with the reason. An escalation continues as after a failure. */
export function skipDelivery(
  organizationId: string,
  deliveryId: string,
  reason: string,
  now: number,
): Statement[] {
  return [
    {
      text: `update deliveries set status = 'skipped', due_at = null, leased_until = null, held_until = null,
        error = ?
      where organization_id = ? and id = ? and due_at is not null`,
      parameters: [reason, organizationId, deliveryId],
    },
    hurryEscalation(organizationId, deliveryId, now),
  ];
}

/** Completes partly arrived deliveries that a newer delivery replaces. */
export function endOvertakenDeliveries(
  organizationId: string,
  overtaken: readonly Queued[],
): Statement[] {
  return overtaken.map(({ id, attempts }) => ({
    text: `update deliveries set status = 'delivered', due_at = null, leased_until = null,
        held_until = null,
        delivered_at = (select at from delivery_attempts a where a.organization_id = ?1
          and a.delivery_id = ?2 and a.number = ?3)
      where organization_id = ?1 and id = ?2 and due_at is not null`,
    parameters: [organizationId, id, attempts],
  }));
}

/** Schedule after a failed attempt. */
export type Retry = {
  /** Time of the next attempt; null if there is none. */
  at: number | null;
  heldUntil: number | null;
  doubtfulSince: number | null;
};

/** Returns the status of a delivery after an attempt. `retry` is null after success. */
export function statusAfter(retry: Retry | null, progress: Progress | null) {
  if (retry !== null && retry.at !== null) return "sending";
  // A partly arrived delivery without further attempts counts as delivered.
  return retry === null || hasArrivedPartly({ progress }) ? "delivered" : "failed";
}

/**
 * Stores an attempt and the new state of its delivery. `retry` is null after success. `progress` is
 * null if all or none of the recipients have the message.
 */
export function recordAttempt(
  organizationId: string,
  { id, attempts, dueAt, leasedUntil }: Queued,
  attempt: Attempt,
  { retry, progress }: { retry: Retry | null; progress: Progress | null },
  now: number,
): Statement[] {
  const status = statusAfter(retry, progress);
  return [
    guardCondition(
      `exists (select 1 from deliveries
  where organization_id = ? and id = ? and status = 'sending' and attempts = ? and leased_until = ?)`,
      [organizationId, id, attempts, leasedUntil],
    ),
    {
      text: `update deliveries set status = ?, attempts = attempts + 1,
        scheduled_attempts = scheduled_attempts + ?, due_at = ?,
        leased_until = null, delivered_at = ?, error = ?, held_until = ?, doubtful_since = ?,
        progress = ? where organization_id = ? and id = ?`,
      parameters: [
        status,
        isEarly({ dueAt }, now) ? 0 : 1,
        retry?.at ?? null,
        status === "delivered" ? attempt.at : null,
        attempt.delivered ? null : attempt.message,
        retry?.heldUntil ?? null,
        retry?.doubtfulSince ?? null,
        progress === null ? null : JSON.stringify(progress),
        organizationId,
        id,
      ],
    },
    insertAttempt({ organizationId, deliveryId: id, number: attempts + 1, ...attempt }),
    ...(status === "delivered" ? [] : [hurryEscalation(organizationId, id, now)]),
  ];
}

/** Makes all waiting deliveries of a receiver due, because it works again. */
export function makeDeliveriesDue(
  { organizationId, receiverType, receiverId }: ReceiverKey,
  now: number,
): Statement {
  return {
    text: `update deliveries set due_at = ? where organization_id = ? and receiver_type = ?
      and receiver_id = ? and due_at is not null
      and status = 'sending' and leased_until is null and due_at > ?`,
    parameters: [now, organizationId, receiverType, receiverId, now],
  };
}

/** Removes the unfinished deliveries of a deleted receiver. */
export function removeDeliveries({ organizationId, receiverId }: ReceiverKey): Statement {
  return {
    text: "delete from deliveries where organization_id = ? and receiver_id = ? and due_at is not null",
    parameters: [organizationId, receiverId],
  };
}

export type CompletedAttempt = { attempt: Attempt; verdict: Verdict };

/** A receiver of deliveries, with the steps to send to it. */
export type Receiver = {
  /** The channel type, or the subscriber's protocol. */
  type: string;
  /** Reason for rejecting deliveries; null if it accepts them. */
  refusal: string | null;
  /** Prepares the content of a claimed delivery, to which no alerts are added any more. */
  prepare(deliveryId: string): Promise<ReadyDelivery>;
  /**
   * Returns statements that update the receiver after an attempt. `isLost` is true if the failure
   * is final or looks permanent.
   */
  recordAttempt(
    attempt: Attempt,
    facts: {
      note: string | null;
      isLost: boolean;
      now: number;
      deliveryId: string;
      receipt: MessageReceipt | null;
    },
  ): Statement[];
};

export type ReadyDelivery = {
  /** Statements to run before the message is sent. */
  statements: Statement[];
} & (
  | { send: (signal: AbortSignal, progress: Progress | null) => Promise<CompletedAttempt> }
  /** Reason for sending nothing. */
  | { nothing: string }
);

export type Slots = {
  /** Slots that one organization can use. Failing receivers can use half of them. */
  shared: number;
  /** Additional slots for organizations without a delivery in flight. */
  reserved: number;
};

/** All receivers of one type. */
export type Receivers = {
  /** Maximum number of simultaneous deliveries. */
  slots: Slots;
  /**
   * Sizes of the searched part of the queue, ascending. A larger part is searched only if no
   * delivery in the smaller one can be sent.
   */
  looks: readonly number[];
  /** Returns the subjects of each delivery. Deliveries about one subject keep their order. */
  subjectsOf(
    organizationId: string,
    deliveryIds: readonly string[],
  ): Promise<ReadonlyMap<string, string[]>>;
  /** Returns null if the receiver was deleted. */
  find(key: ReceiverKey): Promise<Receiver | null>;
};
