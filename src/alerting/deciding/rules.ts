/** Pure rules of alerting: flapping, recipients, reminders, certificates, the order of deliveries, and retries. */
import type { AlertType } from "../schema.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** More changes of state than this within `flapWindowMs` are flapping. */
const flapChanges = 10;
const flapWindowMs = 30 * 60_000;
/** A flapping monitor is steady again after it kept its state this long. */
export const steadyMs = 10 * 60_000;
/** Days before a certificate's expiry at which its channels are notified, once each. */
export const certificateDays = [14, 7, 3, 1] as const;

/** Memory of a monitor between changes. Times are Unix milliseconds. */
export type Memory = {
  /** Latest state changes, oldest first. */
  changes: readonly number[];
  flappingSince: number | null;
  remindAt: number | null;
};

export const emptyHistory: Memory = { changes: [], flappingSince: null, remindAt: null };

/** The last state that a channel was notified of, while the problem lasts. */
export type NotifiedState = "down" | "degraded" | "flapping" | "open";
type Notified = ReadonlyMap<string, { state: NotifiedState }>;

export type MonitorFacts = {
  muted: boolean;
  groupMuted: boolean;
  paused: boolean;
  groupPaused: boolean;
  status: StoredStatus;
  flapping: boolean;
};

/** Recipients of a monitor: its enabled channels, unless the monitor or its group is muted. */
export type Audience = { muted: boolean; channels: readonly string[] };

export type Step = {
  memory: Memory;
  /** The alert and its channels. */
  alert: { type: AlertType; to: readonly string[] } | null;
  /** The state that these channels are notified of; null leaves it unchanged. */
  notifiedState: NotifiedState | null;
  /** Whether the problem is over for all channels, notified or not. */
  isOver: boolean;
};

const silentStep = (memory: Memory): Step => ({
  memory,
  alert: null,
  notifiedState: null,
  isOver: false,
});

/**
 * The step after a monitor's change of state. Leaving a pause or a maintenance only reports states that a
 * channel does not know. A recovery goes to channels that were notified of the problem.
 */
export function afterChange(
  before: Memory,
  notified: Notified,
  change: { from: StoredStatus; to: StoredStatus; at: number },
  audience: Audience,
  reminderMs: number | null,
): Step {
  const { from, to, at } = change;
  const remindAt = to === "down" && reminderMs !== null ? at + reminderMs : null;
  // A paused monitor has no state that can flap; its memory starts again afterwards.
  if (to === "pending" || to === "maintenance") return silentStep(emptyHistory);
  const isContinuation = from === "pending" || from === "maintenance";
  const { changes: earlier, flappingSince } = isContinuation ? emptyHistory : before;
  const changes = [...earlier, ...(isContinuation ? [] : [at])]
    .filter((time) => Math.abs(at - time) <= flapWindowMs)
    .slice(-flapChanges - 1);
  const began = flappingSince === null && changes.length > flapChanges;
  const memory: Memory = {
    changes,
    flappingSince: began ? at : flappingSince,
    remindAt,
  };
  if (memory.flappingSince === null)
    return stateStep(memory, to, audience, notified, isContinuation);
  return began
    ? alertStep(memory, "monitor.flapping", audience.channels, "flapping", audience)
    : silentStep(memory);
}

/** The step of a flapping monitor that was steady for `steadyMs`; null before that. */
export function afterFlapping(
  before: Memory,
  notified: Notified,
  status: StoredStatus,
  audience: Audience,
  now: number,
): Step | null {
  const last = before.changes.at(-1);
  if (before.flappingSince === null || last === undefined) return null;
  if (now - last < steadyMs && now >= last) return null;
  const memory = { ...before, changes: [], flappingSince: null };
  if (status === "pending" || status === "maintenance") return silentStep(memory);
  return stateStep(memory, status, audience, notified, false);
}

/** Reports a state: a problem to all channels, or to those that don't know it; a recovery to those that do. */
function stateStep(
  memory: Memory,
  state: "up" | "degraded" | "down",
  audience: Audience,
  notified: Notified,
  isContinuation: boolean,
): Step {
  const { channels } = audience;
  if (state === "up") {
    const to = channels.filter((channel) => notified.has(channel));
    return { ...alertStep(memory, "monitor.up", to, null, audience), isOver: true };
  }
  const unaware = channels.filter((channel) => notified.get(channel)?.state !== state);
  return alertStep(
    memory,
    `monitor.${state}`,
    isContinuation ? unaware : channels,
    state,
    audience,
  );
}

function alertStep(
  memory: Memory,
  type: AlertType,
  to: readonly string[],
  notifiedState: NotifiedState | null,
  { muted }: Audience,
): Step {
  if (muted || to.length === 0) return silentStep(memory);
  return { memory, alert: { type, to }, notifiedState, isOver: false };
}

/** Whether a reminder is due. A reminder farther ahead than its interval was set before the clock went back. */
export function isReminderDue(
  { remindAt }: Memory,
  reminderMs: number | null,
  now: number,
): boolean {
  if (remindAt === null) return false;
  return remindAt <= now || (reminderMs !== null && remindAt > now + reminderMs);
}

/** The step of a due reminder: a monitor that is still down, to all its channels. */
export function afterReminder(
  before: Memory,
  status: StoredStatus,
  audience: Audience,
  reminderMs: number | null,
  now: number,
): Step {
  const isDown = status === "down" && reminderMs !== null;
  const memory = { ...before, remindAt: isDown ? now + reminderMs : null };
  if (!isDown || before.flappingSince !== null) return silentStep(memory);
  return alertStep(memory, "monitor.reminder", audience.channels, "down", audience);
}

/** Time of the next decision about a monitor without an event; null for never. */
export function dueAt({ changes, flappingSince, remindAt }: Memory): number | null {
  const last = changes.at(-1);
  const steadyAt = flappingSince === null || last === undefined ? null : last + steadyMs;
  if (remindAt === null || steadyAt === null) return remindAt ?? steadyAt;
  return Math.min(remindAt, steadyAt);
}

export type CertificateMemory = { expiresAt: string; days: number } | null;

/**
 * The step of 14, 7, 3 or 1 days that a certificate has reached and that was not reported yet, with the
 * whole days left; null for none. `withinDays` is the monitor's own limit; null turns it off.
 */
export function certificateStep(
  expiresAt: string,
  before: CertificateMemory,
  withinDays: number | null,
  now: number,
): { step: number; daysLeft: number } | null {
  if (withinDays === null) return null;
  const daysLeft = Math.floor((Date.parse(expiresAt) - now) / 86_400_000);
  const step = certificateDays.findLast((days) => daysLeft < days && days <= withinDays);
  if (step === undefined) return null;
  if (before?.expiresAt === expiresAt && before.days <= step && !isWeeksBack(daysLeft, before.days))
    return null;
  return { step, daysLeft };
}

/**
 * Whether the certificate has over a week more than at the last alert, because the clock was ahead then.
 * Smaller corrections repeat no alert.
 */
const isWeeksBack = (daysLeft: number, daysBefore: number) => daysLeft > daysBefore + 7;

export type IncidentStep = "opened" | "updated" | "resolved";

/**
 * Channels that are notified of an incident: those with incidents enabled, unless its monitor notified
 * them of the same outage.
 */
export function incidentAudience(
  channels: readonly { id: string; enabled: boolean; incidents: boolean }[],
  step: IncidentStep,
  notified: Notified,
  about: { byMonitor: boolean; monitorMuted: boolean; monitorChannels: readonly string[] },
): string[] {
  const { byMonitor, monitorMuted, monitorChannels } = about;
  if (byMonitor && monitorMuted) return [];
  return channels
    .filter(({ enabled, incidents }) => enabled && incidents)
    .map(({ id }) => id)
    .filter((id) => !byMonitor || !monitorChannels.includes(id))
    .filter((id) => step !== "resolved" || notified.has(id));
}

/** Channels that are notified of problems of the appliance: the default ones, or all if there is none. */
export function channelsForOwnTrouble<
  T extends { id: string; enabled: boolean; isDefault: boolean },
>(channels: readonly T[], except: string | null = null): T[] {
  const able = channels.filter(({ id, enabled }) => enabled && id !== except);
  const usual = able.filter(({ isDefault }) => isDefault);
  return usual.length > 0 ? usual : able;
}

/** Why an outage of the monitor would not notify a channel now, as the end of a sentence; null if it would. */
export function silenceReason(
  monitor: MonitorFacts,
  channel: { enabled: boolean; isAttached: boolean },
): string | null {
  if (!channel.isAttached) return "is not attached to the monitor";
  if (!channel.enabled) return "is disabled";
  if (monitor.paused) return "gets no alerts while the monitor is paused";
  if (monitor.groupPaused) return "gets no alerts while the monitor's group is paused";
  if (monitor.muted) return "gets no alerts while the monitor is muted";
  if (monitor.groupMuted) return "gets no alerts while the monitor's group is muted";
  if (monitor.status === "maintenance") return "gets no alerts until the maintenance is over";
  if (monitor.flapping)
    return "was alerted that the monitor is flapping, and will be alerted again once it is stable";
  return null;
}

/** Progress of a message to several recipients. */
export type Progress = {
  /** Recipients that have it; null if the service does not report them. */
  reached: readonly string[] | null;
  /** Recipients that rejected it permanently. */
  refused: readonly string[];
};

/** An undelivered delivery in its channel's queue. Times are Unix milliseconds. */
export type Queued = {
  id: string;
  /** Attempts so far. A delivery with an attempt accepts no further alerts. */
  attempts: number;
  /** Attempts that were made when they were due. */
  scheduledAttempts: number;
  dueAt: number;
  /** End of the lease of a process that may be sending it. */
  leasedUntil: number | null;
  /** Null before the first attempt. */
  firstAttemptAt: number | null;
  lastAttemptAt: number | null;
  /** Start of failures that look permanent. */
  doubtfulSince: number | null;
  /** Progress, if it has several recipients. */
  progress: Progress | null;
  /** The case that it opens or closes; null for none. */
  caseKey: string | null;
  closesCase: boolean;
  /** Subjects of its alerts. */
  subjects: readonly string[];
};

/** A longer wait means that the clock was set back: the delivery is due. */
export const longestWaitMs = 2 * 3_600_000;
/** Minimum interval of early retries, which new alerts cause. */
const promptMs = 15_000;

/** Whether some recipients have it: the channel works, and the rest delays no other delivery. */
export function hasArrivedPartly({ progress }: Pick<Queued, "progress">): boolean {
  return progress !== null && progress.reached?.length !== 0;
}

/**
 * The next delivery of a channel, oldest first. Deliveries about one subject keep their order. While one
 * delivery fails, others can overtake it, in case it alone is the cause. While two fail, the channel is
 * down, and all others gather until it works. A new alert that waits for a failing delivery causes an
 * early retry of that one, so that news never waits 15 minutes.
 */
export function nextDelivery(queue: readonly Queued[], now: number): Queued | null {
  const failing = queue.filter((one) => one.attempts > 0 && !hasArrivedPartly(one));
  const candidates = failing.length > 1 ? failing : queue;
  const next = candidates.find((one) => isDue(one, now) && !isBlocked(one, queue));
  return (
    next ?? failing.find((one) => !isBlocked(one, queue) && isPrompted(one, queue, now)) ?? null
  );
}

/** Whether an earlier delivery has a subject in common. */
function isBlocked(one: Queued, queue: readonly Queued[]): boolean {
  return before(one, queue).some((earlier) => !hasArrivedPartly(earlier));
}

/**
 * Partly arrived deliveries that newer ones about the same subject replace. The remaining recipients get
 * the end with both alerts, or else the newer alert alone.
 */
export function overtakenBy(one: Queued, queue: readonly Queued[]): Queued[] {
  return before(one, queue).filter(hasArrivedPartly);
}

function before(one: Queued, queue: readonly Queued[]): Queued[] {
  const own = new Set(one.subjects);
  return queue
    .slice(0, queue.indexOf(one))
    .filter(({ subjects }) => subjects.some((subject) => own.has(subject)));
}

function isPrompted(one: Queued, queue: readonly Queued[], now: number): boolean {
  const { lastAttemptAt, leasedUntil } = one;
  if (lastAttemptAt === null || (leasedUntil !== null && leasedUntil > now)) return false;
  return (
    now - lastAttemptAt >= promptMs &&
    queue.some((other) => other.attempts === 0 && isDue(other, now) && other.dueAt > lastAttemptAt)
  );
}

/** Whether a delivery is due by its own time. */
export function isDue(
  { dueAt, leasedUntil }: Pick<Queued, "dueAt" | "leasedUntil">,
  now: number,
): boolean {
  const wait = Math.max(dueAt, leasedUntil ?? 0) - now;
  return wait <= 0 || wait > longestWaitMs;
}

const retrySeconds = [5, 15, 60, 300] as const;
const laterSeconds = 900;
const giveUpMs = 24 * 3_600_000;
/** A failure that looks permanent can be a proxy's temporary response: retries continue this long. */
const doubtMs = 3_600_000;
/** Attempts for channels that report no recipients. */
const blindAttempts = 3;
/** Longest Retry-After that we honor, in seconds. */
const maxPatienceSeconds = 3_600;

/** End of the wait that a receiver requested; null if it requested none. */
export function heldUntil(retryAfterSeconds: number | undefined, now: number): number | null {
  if (retryAfterSeconds === undefined || retryAfterSeconds <= 0) return null;
  return now + Math.min(retryAfterSeconds, maxPatienceSeconds) * 1000;
}

/**
 * Time of the next attempt: after 5 s, 15 s, 1 min, 5 min, then every 15 min, each ± 20 %, later if the
 * receiver requested it. Null after 24 hours, or after the limit of failures that look permanent; closing
 * and opening cases goes on for the whole time. Early attempts change nothing. `random` is in 0…1.
 */
export function nextAttemptAt(
  delivery: Queued,
  now: number,
  random: number,
  retryAfterSeconds?: number,
): number | null {
  const { attempts, scheduledAttempts, dueAt, firstAttemptAt, progress } = delivery;
  const doubtfulSince = delivery.caseKey === null ? delivery.doubtfulSince : null;
  if (progress?.reached === null && attempts + 1 >= blindAttempts) return null;
  const usual = retryDelayMs(scheduledAttempts, random);
  const scheduled = isEarly({ dueAt }, now) ? dueAt : now + usual;
  const next = Math.round(Math.max(scheduled, heldUntil(retryAfterSeconds, now) ?? 0));
  const end = Math.min(
    (firstAttemptAt ?? now) + giveUpMs,
    doubtfulSince === null ? Infinity : doubtfulSince + doubtMs,
  );
  return next > end ? null : next;
}

/** The wait after this number of attempts, ± 20 %. `random` is in 0…1. */
export const retryDelayMs = (attempts: number, random: number): number =>
  (retrySeconds[attempts] ?? laterSeconds) * (0.8 + 0.4 * random) * 1000;

/** Whether an attempt at `now` is before its due time. */
export function isEarly({ dueAt }: { dueAt: number }, now: number): boolean {
  return dueAt > now && dueAt - now <= longestWaitMs;
}
