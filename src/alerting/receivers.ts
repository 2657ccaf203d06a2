import type { Statement } from "../database/store.ts";
import type { Verdict } from "./provider.ts";
import type { Attempt, ReceiverKey } from "./queue.ts";

export type Sent = { attempt: Attempt; verdict: Verdict };

/** One receiver of what waits in the outbox. */
export type Receiver = {
  /** Why nothing goes to it; null where it takes what waits. */
  refusal: string | null;
  /** What a claimed delivery tells: from then on nothing is added to it. */
  prepare(deliveryId: string): Promise<Ready>;
  /** What an attempt says of the receiver itself; `gaveUp` where there is no further one. */
  after(
    attempt: Attempt,
    facts: { note: string | null; gaveUp: boolean; now: number },
  ): Statement[];
};

export type Ready = {
  /** What is to be written before it is sent. */
  statements: Statement[];
} & (
  | { send: (cancelled: AbortSignal) => Promise<Sent> }
  /** Why there is nothing left to send. */
  | { nothing: string }
);

/** All receivers of one type. */
export type Receivers = {
  /** So many are sent to at the same time; those that have failed take half of that at most. */
  atOnce: number;
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
