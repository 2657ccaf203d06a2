import {
  mustText,
  type Prepared,
  StaleRead,
  type Statement,
  type Store,
} from "../../database/store.ts";
import { deliveryAttempts } from "../../database/tables/alerting.ts";
import {
  hasArrivedPartly,
  isEarly,
  longestWaitMs,
  type Progress,
  type Queued,
} from "../deciding/rules.ts";
import type { Verdict } from "../provider.ts";
import { insertAttempt } from "../store.ts";

/** An alert channel, or what a subscriber of a status page gave: a mailbox or a webhook. */
export type ReceiverType = "channel" | "mailbox" | "webhook";

export type ReceiverKey = {
  organizationId: string;
  receiverType: ReceiverType;
  receiverId: string;
};

/** News has a failing delivery tried early for so long. */
const newsMs = 20 * 60_000;

export type Attempt = Omit<
  typeof deliveryAttempts.$inferSelect,
  "organizationId" | "deliveryId" | "number"
>;

/** A receiver for which something is due; `failing` while an attempt of what waits has failed. */
export type Waiting = ReceiverKey & { failing: boolean };

/** So many receivers are looked at in one look, of all organizations; and of each at least so many. */
const looksAtOnce = 1_500;
const looksOfEach = 5;

/** Goes round the receivers of every organization, some at each look: however much waits, a look takes little. */
export function receiverRound(store: Store) {
  /** By type and organization: whom the last look ended with. */
  const places = new Map<string, string>();

  async function look(
    { receiverType, organizationId }: Omit<ReceiverKey, "receiverId">,
    limit: number,
    now: number,
  ): Promise<{ waiting: Waiting[]; isMore: boolean }> {
    const place = `${receiverType} ${organizationId}`;
    const isChannel = receiverType === "channel";
    const after = places.get(place) ?? "";
    const times = [now, now + longestWaitMs, ...(isChannel ? [] : [now - newsMs])];
    const rows = await store.query<{ receiverId: string; failing: number; isDue: number }>(
      isChannel ? channelsText : subscribersText,
      [receiverType, organizationId, after, limit, ...times],
    );
    const last = rows.length < limit ? undefined : rows.at(-1);
    if (last === undefined) places.delete(place);
    else places.set(place, last.receiverId);
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
    /** Receivers for which something is due, those first that have not failed; `isMore` where not all were looked at. */
    async find(now: number): Promise<{ waiting: Waiting[]; isMore: boolean }> {
      const types = ["channel", "mailbox", "webhook"] as const;
      const found = await Promise.all(
        types.map((type) => store.query<{ organizationId: string }>(organizationsText, [type])),
      );
      const kinds = types.flatMap((receiverType, index) =>
        (found[index] ?? []).map(({ organizationId }) => ({ receiverType, organizationId })),
      );
      const limit = Math.max(looksOfEach, Math.floor(looksAtOnce / kinds.length));
      const looks = await Promise.all(kinds.map((kind) => look(kind, limit, now)));
      return {
        isMore: looks.some(({ isMore }) => isMore),
        waiting: looks
          .flatMap(({ waiting }) => waiting)
          .sort((a, b) => Number(a.failing) - Number(b.failing)),
      };
    },
  };
}

/** The next value of the pending deliveries' index each time: as many steps as there are values, however many rows. */
const organizationsText = `with recursive o(id) as (
    select min(organization_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and due_at is not null
    union all select (select min(organization_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and due_at is not null and organization_id > o.id)
    from o where o.id is not null)
  select id as organizationId from o where id is not null`;

const ofReceiver = `receiver_type = ?1 and organization_id = ?2 and receiver_id = r.id
  and due_at is not null`;

/** What waits of the receiver `r.id`, as `isDue` says, unless it asked for patience. What is longer away than that ever lasts was written before the clock was set back. */
const receiversText = (isDue: string) => `with recursive r(id) as (
    select min(receiver_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and organization_id = ?2 and due_at is not null and receiver_id > ?3
    union all select (select min(receiver_id) from deliveries indexed by deliveries_pending
      where receiver_type = ?1 and organization_id = ?2 and due_at is not null
        and receiver_id > r.id)
    from r where r.id is not null limit ?4)
  select r.id as receiverId,
    exists (select 1 from (select attempts from deliveries indexed by deliveries_pending
      where ${ofReceiver} order by seq limit 20) where attempts > 0) as failing,
    not exists (select 1 from deliveries indexed by deliveries_held where ${ofReceiver}
      and held_until between ?5 + 1 and ?6) and (${isDue}) as isDue
  from r where r.id is not null`;

const channelsText = receiversText(
  `exists (select 1 from deliveries indexed by deliveries_pending
    where ${ofReceiver} and due_at not between ?5 + 1 and ?6)`,
);

// What waits behind a subscriber's oldest delivery waits with it, unless it is news that has it tried early.
const subscribersText = receiversText(
  `coalesce((select due_at not between ?5 + 1 and ?6 from deliveries indexed by deliveries_pending
      where ${ofReceiver} order by seq limit 1)
    or (select due_at > ?6 or (attempts = 0 and due_at between ?7 and ?5)
      from deliveries indexed by deliveries_pending
      where ${ofReceiver} order by seq desc limit 1), false)`,
);

/** The oldest `limit` deliveries to a receiver that are not over. */
export async function queueOf(
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
       and due_at is not null
     order by seq limit ?`,
    [organizationId, receiverType, receiverId, limit],
  );
  return rows.map(({ progress, closesCase, ...row }) => ({
    ...row,
    progress: progress === null ? null : (JSON.parse(progress) as Progress),
    closesCase: closesCase === 1,
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
export function claim(organizationId: string, queued: Queued, leasedUntil: number, now: number) {
  return [
    mustBeUnclaimed(organizationId, queued),
    {
      text: `update deliveries set status = 'sending', leased_until = ?,
        first_attempt_at = coalesce(first_attempt_at, ?) where organization_id = ? and id = ?`,
      parameters: [leasedUntil, now, organizationId, queued.id],
    },
  ];
}

type Claimed = ReceiverKey & { id: string; leasedUntil: number };

/** What is being sent, or was when a process ended. */
export const claimedDeliveries = (store: Store) =>
  store.query<Claimed>(
    `select organization_id as organizationId, receiver_type as receiverType,
       receiver_id as receiverId, id, leased_until as leasedUntil
     from deliveries where due_at is not null and leased_until is not null`,
    [],
  );

/** Makes a delivery free to be claimed anew: right only where nobody else can be sending it. */
export const release = ({ organizationId, id, leasedUntil }: Claimed): Statement => ({
  text: `update deliveries set leased_until = null
    where organization_id = ? and id = ? and due_at is not null and leased_until = ?`,
  parameters: [organizationId, id, leasedUntil],
});

/** Ends a delivery that nobody is to get. */
export function skip(organizationId: string, deliveryId: string, reason: string): Statement {
  return {
    text: `update deliveries set status = 'skipped', due_at = null, leased_until = null, held_until = null,
        error = ?
      where organization_id = ? and id = ? and due_at is not null`,
    parameters: [reason, organizationId, deliveryId],
  };
}

/** Ends deliveries of which a part of the receivers has heard: news of the same is on its way. */
export function endOvertaken(organizationId: string, overtaken: readonly Queued[]): Statement[] {
  return overtaken.map(({ id, attempts }) => ({
    text: `update deliveries set status = 'delivered', due_at = null, leased_until = null,
        held_until = null,
        delivered_at = (select at from delivery_attempts a where a.organization_id = ?1
          and a.delivery_id = ?2 and a.number = ?3)
      where organization_id = ?1 and id = ?2 and due_at is not null`,
    parameters: [organizationId, id, attempts],
  }));
}

/** What follows from a failed attempt. */
export type Retry = {
  /** Null where there is no further one. */
  at: number | null;
  heldUntil: number | null;
  doubtfulSince: number | null;
};

/** What a delivery is after an attempt; `retry` is null where that delivered it. */
export function statusAfter(retry: Retry | null, progress: Progress | null) {
  if (retry !== null && retry.at !== null) return "sending";
  // What a part of the receivers has was told.
  return retry === null || hasArrivedPartly({ progress }) ? "delivered" : "failed";
}

const claimedText = mustText(`exists (select 1 from deliveries
  where organization_id = ? and id = ? and status = 'sending' and attempts = ? and leased_until = ?)`);

/** Writes down an attempt and what it means for its delivery; `retry` is null where it was delivered, `progress` where that was to everybody or nobody. */
export function settled(
  organizationId: string,
  { id, attempts, dueAt, leasedUntil }: Queued,
  attempt: Attempt,
  { retry, progress }: { retry: Retry | null; progress: Progress | null },
  now: number,
): Statement[] {
  const status = statusAfter(retry, progress);
  return [
    {
      ...claimedText,
      parameters: [organizationId, id, attempts, leasedUntil],
      otherwise: () => new StaleRead(),
    },
    {
      text: `update deliveries set status = ?, attempts = attempts + 1,
        scheduled_attempts = scheduled_attempts + ?, due_at = ?, last_attempt_at = ?,
        leased_until = null, delivered_at = ?, error = ?, held_until = ?, doubtful_since = ?,
        progress = ? where organization_id = ? and id = ?`,
      parameters: [
        status,
        isEarly({ dueAt }, now) ? 0 : 1,
        retry?.at ?? null,
        now,
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
  ];
}

/** Brings forward what waits for a receiver that is back. */
export function bringForward(
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

/** Forgets what was to be sent to somebody who is gone. */
export function dropAll({ organizationId, receiverId }: ReceiverKey): Statement {
  return {
    text: "delete from deliveries where organization_id = ? and receiver_id = ?",
    parameters: [organizationId, receiverId],
  };
}

export type Sent = { attempt: Attempt; verdict: Verdict };

/** One receiver of what waits in the outbox. */
export type Receiver = {
  /** By what it is reached. */
  type: string;
  /** Why nothing goes to it; null where it takes what waits. */
  refusal: string | null;
  /** What a claimed delivery tells: from then on nothing is added to it. */
  prepare(deliveryId: string): Promise<Ready>;
  /** What an attempt says of the receiver itself; `isLost` where it was the last, or looks as if no other will help. */
  after(
    attempt: Attempt,
    facts: { note: string | null; isLost: boolean; now: number },
  ): Statement[];
};

export type Ready = {
  /** What is to be written before it is sent. */
  statements: Statement[];
} & (
  | { send: (cancelled: AbortSignal, progress: Progress | null) => Promise<Sent> }
  /** Why there is nothing left to send. */
  | { nothing: string }
);

export type Slots = {
  /** One organization may take so many; half of them for receivers that have failed. */
  shared: number;
  /** So many more, each for an organization that has nothing under way. */
  kept: number;
};

/** All receivers of one type. */
export type Receivers = {
  /** So many are sent to at the same time. */
  slots: Slots;
  /** So many of one's deliveries are looked at for the next one; more, where all those have to wait. */
  looks: readonly number[];
  /** What each of these deliveries is about: of one subject nothing overtakes anything. */
  subjectsOf(
    organizationId: string,
    deliveryIds: readonly string[],
  ): Promise<ReadonlyMap<string, string[]>>;
  /** Null where there is nobody any more. */
  find(key: ReceiverKey): Promise<Receiver | null>;
};
