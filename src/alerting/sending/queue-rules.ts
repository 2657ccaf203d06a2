/** Pure rules of sending: the order of a receiver's deliveries, retries and waits. */
import { dayMs, hourMs } from "../../core/time/clock.ts";

/** Progress of a delivery with several recipients. */
export type Progress = {
  /** Recipients that have the message; null if the service does not report them. */
  reached: readonly string[] | null;
  /** Recipients that permanently rejected the message. */
  refused: readonly string[];
};

/** An undelivered delivery in its receiver's queue. Times are Unix milliseconds. */
export type Queued = {
  id: string;
  /** Number of attempts. After the first one, no further alerts are added. */
  attempts: number;
  /** Number of attempts that followed the schedule, without early ones. */
  scheduledAttempts: number;
  dueAt: number;
  /** End of the claim of the process that sends it; null without a claim. */
  leasedUntil: number | null;
  /** Null before the first attempt. */
  firstAttemptAt: number | null;
  /** Start of the last attempt. An alert that becomes due during it causes another one. */
  lastAttemptAt: number | null;
  /** Start of an uninterrupted series of failures that look permanent. */
  doubtfulSince: number | null;
  /** Progress if there are several recipients. */
  progress: Progress | null;
  /** Key of the case that the delivery opens or closes; null for none. */
  caseKey: string | null;
  closesCase: boolean;
  /** Subjects of its alerts. */
  subjects: readonly string[];
};

/** Longest planned wait. A delivery due later was scheduled before the clock went back, and is due now. */
export const longestWaitMs = 2 * hourMs;
/** Minimum time between an attempt and an early retry that a new alert causes. */
const promptRetryMs = 15_000;

/** Whether some recipients have the message. Then the channel works, and later deliveries need not wait. */
export function hasArrivedPartly({ progress }: Pick<Queued, "progress">): boolean {
  return progress !== null && progress.reached?.length !== 0;
}

/**
 * Returns the next delivery of a channel, oldest first. Deliveries about one subject keep their
 * order. While one delivery fails, others can overtake it. If two fail, the channel is considered
 * down: only failing deliveries are retried, and all others wait. A new alert causes an early retry
 * of the failing delivery, so it never waits the full 15 minutes.
 */
export function pickNextDelivery(queue: readonly Queued[], now: number): Queued | null {
  const failing = queue.filter((one) => one.attempts > 0 && !hasArrivedPartly(one));
  const candidates = failing.length > 1 ? failing : queue;
  const next = candidates.find((one) => isDue(one, now) && !isBlocked(one, queue));
  return (
    next ?? failing.find((one) => !isBlocked(one, queue) && isPrompted(one, queue, now)) ?? null
  );
}

/** Whether an earlier delivery about the same subject must arrive first. */
function isBlocked(one: Queued, queue: readonly Queued[]): boolean {
  return listEarlier(one, queue).some((earlier) => !hasArrivedPartly(earlier));
}

/**
 * Returns partly arrived deliveries that this newer one about the same subject replaces. Recipients
 * without the earlier alert get both alerts if the newer one is a recovery, else only the newer
 * one.
 */
export function findOvertaken(one: Queued, queue: readonly Queued[]): Queued[] {
  return listEarlier(one, queue).filter(hasArrivedPartly);
}

function listEarlier(one: Queued, queue: readonly Queued[]): Queued[] {
  const ownSubjects = new Set(one.subjects);
  return queue
    .slice(0, queue.indexOf(one))
    .filter(({ subjects }) => subjects.some((subject) => ownSubjects.has(subject)));
}

function isPrompted(one: Queued, queue: readonly Queued[], now: number): boolean {
  const { lastAttemptAt, leasedUntil } = one;
  if (lastAttemptAt === null || (leasedUntil !== null && leasedUntil > now)) return false;
  return (
    now - lastAttemptAt >= promptRetryMs &&
    queue.some((other) => other.attempts === 0 && isDue(other, now) && other.dueAt > lastAttemptAt)
  );
}

/** Whether its due time has passed and no claim is valid. */
export function isDue(
  { dueAt, leasedUntil }: Pick<Queued, "dueAt" | "leasedUntil">,
  now: number,
): boolean {
  const wait = Math.max(dueAt, leasedUntil ?? 0) - now;
  return wait <= 0 || wait > longestWaitMs;
}

const retrySeconds = [5, 15, 60, 300] as const;
const laterSeconds = 900;
const giveUpMs = dayMs;
/** Failures that look permanent are retried this long, because a proxy can cause them temporarily. */
const doubtMs = hourMs;
/**
 * Maximum attempts if the service does not report which recipients have the message. Each retry can
 * cause duplicates.
 */
const blindAttempts = 3;
/** Longest Retry-After that we honor, in seconds. */
const maxRetryAfterSeconds = 3_600;

/** Returns the end of the wait that the receiver requested; null if it requested none. */
export function computeWaitEnd(retryAfterSeconds: number | undefined, now: number): number | null {
  if (retryAfterSeconds === undefined || retryAfterSeconds <= 0) return null;
  return now + Math.min(retryAfterSeconds, maxRetryAfterSeconds) * 1000;
}

/**
 * Returns the time of the next attempt: after 5 s, 15 s, 1 min, 5 min, then every 15 min, ± 20 %. A
 * receiver can request a longer wait. Returns null after 24 hours, or after an hour of failures
 * that look permanent. Deliveries that open or close a case are always retried for 24 hours. An
 * early attempt leaves the schedule unchanged. `random` is in 0…1.
 */
export function computeNextAttempt(
  delivery: Queued,
  now: number,
  random: number,
  retryAfterSeconds?: number,
): number | null {
  const { attempts, scheduledAttempts, dueAt, firstAttemptAt, progress } = delivery;
  const doubtfulSince = delivery.caseKey === null ? delivery.doubtfulSince : null;
  if (progress?.reached === null && attempts + 1 >= blindAttempts) return null;
  const regularDelayMs = computeRetryDelayMs(scheduledAttempts, random);
  const scheduled = isEarly({ dueAt }, now) ? dueAt : now + regularDelayMs;
  const next = Math.round(Math.max(scheduled, computeWaitEnd(retryAfterSeconds, now) ?? 0));
  const end = Math.min(
    (firstAttemptAt ?? now) + giveUpMs,
    doubtfulSince === null ? Infinity : doubtfulSince + doubtMs,
  );
  return next > end ? null : next;
}

/** Returns the wait in milliseconds after this number of attempts, ± 20 %. `random` is in 0…1. */
export const computeRetryDelayMs = (attempts: number, random: number): number =>
  (retrySeconds[attempts] ?? laterSeconds) * (0.8 + 0.4 * random) * 1000;

/** Whether an attempt at `now` is before its due time. */
export function isEarly({ dueAt }: { dueAt: number }, now: number): boolean {
  return dueAt > now && dueAt - now <= longestWaitMs;
}
