/** Pure rules of alerting: flapping, recipients, reminders, certificates, delivery order and retries. */
import { dayMs, hourMs } from "../../core/time/clock.ts";
import type { MessageKind } from "../channels/routing-schema.ts";
import type { AlertType } from "../schema.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** A monitor flaps after more state changes than this within `flapWindowMs`. */
const flapChanges = 10;
const flapWindowMs = 30 * 60_000;
/** A flapping monitor is stable again after this time without a state change. */
export const steadyMs = 10 * 60_000;
/** Days before a certificate's expiry at which channels are notified, once per step. */
export const certificateDays = [14, 7, 3, 1] as const;

/** Alerting state of a monitor between state changes. Times are Unix milliseconds. */
export type Memory = {
  /** Latest state changes, oldest first. */
  changes: readonly number[];
  flappingSince: number | null;
  remindAt: number | null;
};

export const emptyHistory: Memory = { changes: [], flappingSince: null, remindAt: null };

/** The last problem state that a channel was notified of, until the problem is over. */
export type NotifiedState = "down" | "degraded" | "flapping" | "open";
type Notified = ReadonlyMap<string, { state: NotifiedState }>;

export type MonitorFacts = {
  muted: boolean;
  groupMuted: boolean;
  paused: boolean;
  groupPaused: boolean;
  status: StoredStatus;
  isFlapping: boolean;
};

/** Recipients of a monitor's alerts: its enabled channels, unless the monitor or its group is muted. */
export type Audience = { muted: boolean; channels: readonly string[] };

export type Step = {
  memory: Memory;
  /** The alert and its channels; null for no alert. */
  alert: { type: AlertType; to: readonly string[] } | null;
  /** The state to record for these channels; null leaves it unchanged. */
  notifiedState: NotifiedState | null;
  /** Whether the problem is over for all channels, notified or not. */
  isOver: boolean;
};

const createSilentStep = (memory: Memory): Step => ({
  memory,
  alert: null,
  notifiedState: null,
  isOver: false,
});

/**
 * Returns the step after a monitor changed its state. After a pause or maintenance, only channels
 * that do not know the state are notified. A recovery is sent to channels that were notified of the
 * problem.
 */
export function stepAfterChange(
  before: Memory,
  notified: Notified,
  change: { from: StoredStatus; to: StoredStatus; at: number },
  audience: Audience,
  reminderMs: number | null,
): Step {
  const { from, to, at } = change;
  const remindAt = to === "down" && reminderMs !== null ? at + reminderMs : null;
  // A paused monitor can't flap. Its memory starts empty afterwards.
  if (to === "pending" || to === "maintenance") return createSilentStep(emptyHistory);
  const isContinuation = from === "pending" || from === "maintenance";
  const { changes: earlier, flappingSince } = isContinuation ? emptyHistory : before;
  const changes = [...earlier, ...(isContinuation ? [] : [at])]
    .filter((time) => Math.abs(at - time) <= flapWindowMs)
    .slice(-flapChanges - 1);
  const startsFlapping = flappingSince === null && changes.length > flapChanges;
  const memory: Memory = {
    changes,
    flappingSince: startsFlapping ? at : flappingSince,
    remindAt,
  };
  if (memory.flappingSince === null)
    return buildStateStep(memory, to, audience, notified, isContinuation);
  return startsFlapping
    ? buildAlertStep(memory, "monitor.flapping", audience.channels, "flapping", audience)
    : createSilentStep(memory);
}

/** Returns the step of a flapping monitor that was stable for `steadyMs`; null before that. */
export function stepAfterFlapping(
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
  if (status === "pending" || status === "maintenance") return createSilentStep(memory);
  return buildStateStep(memory, status, audience, notified, false);
}

/**
 * Returns the step of a monitor that is no longer muted: channels that don't know its problem are notified. A flapping
 * monitor is reported once it is stable.
 */
export function stepAfterMute(
  memory: Memory,
  notified: Notified,
  status: "degraded" | "down",
  audience: Audience,
): Step {
  return memory.flappingSince === null
    ? buildStateStep(memory, status, audience, notified, true)
    : createSilentStep(memory);
}

/**
 * Reports a state. A recovery is sent to channels that know the problem. After a pause, a problem
 * is sent only to channels that don't know it.
 */
function buildStateStep(
  memory: Memory,
  state: "up" | "degraded" | "down",
  audience: Audience,
  notified: Notified,
  isContinuation: boolean,
): Step {
  const { channels } = audience;
  if (state === "up") {
    const to = channels.filter((channel) => notified.has(channel));
    return { ...buildAlertStep(memory, "monitor.up", to, null, audience), isOver: true };
  }
  const unaware = channels.filter((channel) => notified.get(channel)?.state !== state);
  return buildAlertStep(
    memory,
    `monitor.${state}`,
    isContinuation ? unaware : channels,
    state,
    audience,
  );
}

function buildAlertStep(
  memory: Memory,
  type: AlertType,
  to: readonly string[],
  notifiedState: NotifiedState | null,
  { muted }: Audience,
): Step {
  if (muted || to.length === 0) return createSilentStep(memory);
  return { memory, alert: { type, to }, notifiedState, isOver: false };
}

/** Returns the step of a held alert: nothing is sent. */
export const withhold = ({ memory, isOver }: Step): Step => ({
  memory: { ...memory, remindAt: null },
  alert: null,
  notifiedState: null,
  isOver,
});

/** Returns the problem of a monitor in this state; null for none. */
export function problemOf({ flappingSince }: Memory, state: StoredStatus): AlertType | null {
  if (flappingSince !== null) return "monitor.flapping";
  return state === "down" || state === "degraded" ? `monitor.${state}` : null;
}

/**
 * Whether a reminder is due. A reminder farther ahead than its interval was set before the clock
 * went back, so it is due too.
 */
export function isReminderDue(
  { remindAt }: Memory,
  reminderMs: number | null,
  now: number,
): boolean {
  if (remindAt === null) return false;
  return remindAt <= now || (reminderMs !== null && remindAt > now + reminderMs);
}

/** Returns the step of a due reminder. A monitor that is still down notifies all its channels. */
export function stepAfterReminder(
  before: Memory,
  status: StoredStatus,
  audience: Audience,
  reminderMs: number | null,
  now: number,
): Step {
  const isDown = status === "down" && reminderMs !== null;
  const memory = { ...before, remindAt: isDown ? now + reminderMs : null };
  if (!isDown || before.flappingSince !== null) return createSilentStep(memory);
  return buildAlertStep(memory, "monitor.reminder", audience.channels, "down", audience);
}

/** Returns the time of the monitor's next timer; null for none. */
export function findNextDue({ changes, flappingSince, remindAt }: Memory): number | null {
  const last = changes.at(-1);
  const steadyAt = flappingSince === null || last === undefined ? null : last + steadyMs;
  if (remindAt === null || steadyAt === null) return remindAt ?? steadyAt;
  return Math.min(remindAt, steadyAt);
}

export type CertificateMemory = { expiresAt: string; days: number } | null;

/**
 * Returns the lowest step (14, 7, 3 or 1 days) that a certificate has reached, and its remaining
 * whole days. Null if it was reported already, or none is reached. `withinDays` is the monitor's
 * own limit; null disables it.
 */
export function findCertificateStep(
  expiresAt: string,
  before: CertificateMemory,
  withinDays: number | null,
  now: number,
): { step: number; daysLeft: number } | null {
  if (withinDays === null) return null;
  const daysLeft = Math.floor((Date.parse(expiresAt) - now) / dayMs);
  const step = certificateDays.findLast((days) => daysLeft < days && days <= withinDays);
  if (step === undefined) return null;
  if (before?.expiresAt === expiresAt && before.days <= step && !isWeeksBack(daysLeft, before.days))
    return null;
  return { step, daysLeft };
}

/**
 * Whether a certificate has over a week more left than at its last alert, because the clock was
 * ahead then. Smaller corrections don't repeat the alert.
 */
const isWeeksBack = (daysLeft: number, daysBefore: number) => daysLeft > daysBefore + 7;

export type IncidentStep = "opened" | "updated" | "resolved";

/**
 * Returns the channels to notify of an incident: those with incidents enabled. For an automatic
 * incident, channels of its monitor are left out, because the outage alert reaches them. A
 * resolution is sent only to channels that were notified before.
 */
export function selectIncidentAudience(
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

/** Returns the channels to notify of problems of the appliance: the default channels, or all if there are none. */
export function selectChannelsForProblems<
  T extends { id: string; enabled: boolean; isDefault: boolean },
>(channels: readonly T[], except: string | null = null): T[] {
  const able = channels.filter(({ id, enabled }) => enabled && id !== except);
  const defaultChannels = able.filter(({ isDefault }) => isDefault);
  return defaultChannels.length > 0 ? defaultChannels : able;
}

const kindOfType: Record<AlertType, MessageKind | null> = {
  "monitor.down": "down",
  "monitor.up": "recovery",
  "monitor.degraded": "degraded",
  "monitor.reminder": "reminder",
  "monitor.flapping": "flapping",
  "certificate.expiring": "certificate",
  "incident.opened": "incident",
  "incident.updated": "incident",
  "incident.resolved": "incident",
  "channel.failed": "channel",
  "appliance.troubled": "appliance",
  "appliance.recovered": "appliance",
  "source.opened": "down",
  "source.changed": "down",
  "source.resolved": "recovery",
  drill: null,
  "shift.starting": null,
  test: null,
};

/** Whether a channel gets messages of this type. */
export function isWanted(notifyOn: readonly MessageKind[], type: AlertType): boolean {
  const kind = kindOfType[type];
  return kind === null || notifyOn.includes(kind);
}

type ChannelFacts = {
  enabled: boolean;
  isAttached: boolean;
  /** Whether its `notifyOn` includes outages. */
  isWanted: boolean;
  /** Text of the end of the quiet hours that would hold the message; null for none. */
  quietUntil: string | null;
};

/**
 * Returns why an outage of the monitor would not notify this channel now, as the end of a sentence.
 * Null if it would.
 */
export function explainSilence(monitor: MonitorFacts, channel: ChannelFacts): string | null {
  if (!channel.isAttached) return "is not attached to the monitor";
  if (!channel.enabled) return "is disabled";
  if (monitor.paused) return "gets no alerts while the monitor is paused";
  if (monitor.groupPaused) return "gets no alerts while the monitor's group is paused";
  if (monitor.muted) return "gets no alerts while the monitor is muted";
  if (monitor.groupMuted) return "gets no alerts while the monitor's group is muted";
  if (monitor.status === "maintenance") return "gets no alerts until the maintenance is over";
  if (monitor.isFlapping)
    return "was alerted that the monitor is flapping, and will be alerted again once it is stable";
  if (!channel.isWanted) return "is not notified of outages";
  if (channel.quietUntil !== null)
    return `has quiet hours until ${channel.quietUntil}, and is notified then unless the outage is over`;
  return null;
}

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
const promptMs = 15_000;

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
    now - lastAttemptAt >= promptMs &&
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
  const usual = computeRetryDelayMs(scheduledAttempts, random);
  const scheduled = isEarly({ dueAt }, now) ? dueAt : now + usual;
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
