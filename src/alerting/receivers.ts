import type { Statement } from "../database/store.ts";
import type { Verdict } from "./provider.ts";
import type { Attempt, ReceiverKey } from "./queue.ts";
import type { Progress } from "./rules.ts";

export type Sent = { attempt: Attempt; verdict: Verdict };

/** One receiver of what waits in the outbox. */
export type Receiver = {
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
