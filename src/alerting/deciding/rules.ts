import type { AlertType } from "../schema.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** More changes of state than this within `flapWindowMs` are flapping. */
const flapChanges = 10;
const flapWindowMs = 30 * 60_000;
/** A monitor that flapped is steady again once it has kept its state for so long. */
export const steadyMs = 10 * 60_000;
/** Days before a certificate's end at which its channels are told, once each. */
export const certificateDays = [14, 7, 3, 1] as const;

/** What is remembered of a monitor from one change to the next, in Unix milliseconds. */
export type Memory = {
  /** Its latest changes of state, oldest first. */
  changes: readonly number[];
  flappingSince: number | null;
  remindAt: number | null;
};

export const nothingYet: Memory = { changes: [], flappingSince: null, remindAt: null };

/** What a channel was told last of a problem that is not over for it. */
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

/** Who hears of a monitor: its enabled channels, unless it or its group is muted. */
export type Audience = { muted: boolean; channels: readonly string[] };

export type Step = {
  memory: Memory;
  /** What is told, and to which channels. */
  alert: { type: AlertType; to: readonly string[] } | null;
  /** What those channels believe from now on; null leaves that as it was. */
  believes: NotifiedState | null;
  /** Whether the problem is over for everybody, told or not. */
  isOver: boolean;
};

const silent = (memory: Memory): Step => ({ memory, alert: null, believes: null, isOver: false });

/**
 * What follows from a monitor's change of state. Leaving a pause or a maintenance only tells what a
 * channel does not know; a recovery is for those who were told of the problem.
 */
export function afterChange(
  before: Memory,
  told: Notified,
  change: { from: StoredStatus; to: StoredStatus; at: number },
  audience: Audience,
  reminderMs: number | null,
): Step {
  const { from, to, at } = change;
  const remindAt = to === "down" && reminderMs !== null ? at + reminderMs : null;
  // Paused or under maintenance it has no state that could flap; what comes after begins anew.
  if (to === "pending" || to === "maintenance") return silent(nothingYet);
  const isContinuation = from === "pending" || from === "maintenance";
  const { changes: earlier, flappingSince } = isContinuation ? nothingYet : before;
  const changes = [...earlier, ...(isContinuation ? [] : [at])]
    .filter((time) => Math.abs(at - time) <= flapWindowMs)
    .slice(-flapChanges - 1);
  const began = flappingSince === null && changes.length > flapChanges;
  const memory: Memory = {
    changes,
    flappingSince: began ? at : flappingSince,
    remindAt,
  };
  if (memory.flappingSince === null) return telling(memory, to, audience, told, isContinuation);
  return began
    ? tell(memory, "monitor.flapping", audience.channels, "flapping", audience)
    : silent(memory);
}

/** What a monitor that flapped is told of once it has been steady for `steadyMs`; null while it has not. */
export function afterFlapping(
  before: Memory,
  told: Notified,
  status: StoredStatus,
  audience: Audience,
  now: number,
): Step | null {
  const last = before.changes.at(-1);
  if (before.flappingSince === null || last === undefined) return null;
  if (now - last < steadyMs && now >= last) return null;
  const memory = { ...before, changes: [], flappingSince: null };
  if (status === "pending" || status === "maintenance") return silent(memory);
  return telling(memory, status, audience, told, false);
}

/** Tells a state: a problem to everybody, or to those who don't know of it; its end to those who do. */
function telling(
  memory: Memory,
  state: "up" | "degraded" | "down",
  audience: Audience,
  told: Notified,
  isContinuation: boolean,
): Step {
  const { channels } = audience;
  if (state === "up") {
    const to = channels.filter((channel) => told.has(channel));
    return { ...tell(memory, "monitor.up", to, null, audience), isOver: true };
  }
  const unaware = channels.filter((channel) => told.get(channel)?.state !== state);
  return tell(memory, `monitor.${state}`, isContinuation ? unaware : channels, state, audience);
}

function tell(
  memory: Memory,
  type: AlertType,
  to: readonly string[],
  believes: NotifiedState | null,
  { muted }: Audience,
): Step {
  if (muted || to.length === 0) return silent(memory);
  return { memory, alert: { type, to }, believes, isOver: false };
}

/** Whether a reminder is due. One farther ahead than the interval was set before the clock was set back. */
export function isReminderDue(
  { remindAt }: Memory,
  reminderMs: number | null,
  now: number,
): boolean {
  if (remindAt === null) return false;
  return remindAt <= now || (reminderMs !== null && remindAt > now + reminderMs);
}

/** A reminder that is due: of a monitor that is still down, to all its channels. */
export function afterReminder(
  before: Memory,
  status: StoredStatus,
  audience: Audience,
  reminderMs: number | null,
  now: number,
): Step {
  const isDown = status === "down" && reminderMs !== null;
  const memory = { ...before, remindAt: isDown ? now + reminderMs : null };
  if (!isDown || before.flappingSince !== null) return silent(memory);
  return tell(memory, "monitor.reminder", audience.channels, "down", audience);
}

/** When there is something to decide of a monitor without an event; null for never. */
export function dueAt({ changes, flappingSince, remindAt }: Memory): number | null {
  const last = changes.at(-1);
  const steadyAt = flappingSince === null || last === undefined ? null : last + steadyMs;
  if (remindAt === null || steadyAt === null) return remindAt ?? steadyAt;
  return Math.min(remindAt, steadyAt);
}

export type CertificateMemory = { expiresAt: string; days: number } | null;

/**
 * The step of 14, 7, 3 or 1 days that a certificate has come to and that was not told yet, with the
 * whole days it has left; null for none. `withinDays` is the monitor's own bound; null is off.
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

/** Whether more than a week more is left than at the last alert, which a clock that was ahead caused. Smaller corrections repeat nothing. */
const isWeeksBack = (daysLeft: number, daysBefore: number) => daysLeft > daysBefore + 7;

export type IncidentStep = "opened" | "updated" | "resolved";

/** Which channels hear of an incident: those that want incidents and were not told of the same outage by its monitor. */
export function incidentAudience(
  channels: readonly { id: string; enabled: boolean; incidents: boolean }[],
  step: IncidentStep,
  told: Notified,
  about: { byMonitor: boolean; monitorMuted: boolean; monitorChannels: readonly string[] },
): string[] {
  const { byMonitor, monitorMuted, monitorChannels } = about;
  if (byMonitor && monitorMuted) return [];
  return channels
    .filter(({ enabled, incidents }) => enabled && incidents)
    .map(({ id }) => id)
    .filter((id) => !byMonitor || !monitorChannels.includes(id))
    .filter((id) => step !== "resolved" || told.has(id));
}

/** Which channels hear of the appliance's own trouble: the default ones, or all where none is. */
export function channelsForOwnTrouble<
  T extends { id: string; enabled: boolean; isDefault: boolean },
>(channels: readonly T[], except: string | null = null): T[] {
  const able = channels.filter(({ id, enabled }) => enabled && id !== except);
  const usual = able.filter(({ isDefault }) => isDefault);
  return usual.length > 0 ? usual : able;
}

/** Why an outage of the monitor would not be told to a channel now, as the end of a sentence; null when it would. */
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

/** How far one message got that goes to several receivers at once. */
export type Progress = {
  /** Who has it; null where the service does not say. */
  reached: readonly string[] | null;
  /** Who refused it for good. */
  refused: readonly string[];
};

/** A delivery that is not over, as its channel's queue sees it. Times are Unix milliseconds. */
export type Queued = {
  id: string;
  /** Attempts made so far; what has had one stays as it is. */
  attempts: number;
  /** Those of them that were made when they were due. */
  scheduledAttempts: number;
  dueAt: number;
  /** Until when somebody else may be making an attempt. */
  leasedUntil: number | null;
  /** Null before the first. */
  firstAttemptAt: number | null;
  lastAttemptAt: number | null;
  /** Since when it fails as if for good. */
  doubtfulSince: number | null;
  /** How far it got, where it goes to several at once. */
  progress: Progress | null;
  /** The case of its service that it opens or closes; null for none. */
  caseKey: string | null;
  closesCase: boolean;
  /** Monitors and incidents that it tells of. */
  subjects: readonly string[];
};

/** A wait longer than any that is ever set means that the clock was set back: what waits is due. */
export const longestWaitMs = 2 * 3_600_000;
/** New alerts have a failing delivery tried early, at most this often. */
const promptMs = 15_000;

/** Whether a part of its receivers has it: the channel works, and what is left holds nobody up. */
export function hasArrivedPartly({ progress }: Pick<Queued, "progress">): boolean {
  return progress !== null && progress.reached?.length !== 0;
}

/**
 * Which delivery of a channel goes next, oldest first. What tells of one subject keeps its order. While
 * one delivery fails another may pass, in case it alone is the trouble; while two do the channel is
 * down, and everything else gathers until it is back. What would go now but has to wait for a failing
 * one has that tried early: nobody waits 15 minutes for news because of old ones.
 */
export function nextDelivery(queue: readonly Queued[], now: number): Queued | null {
  const failing = queue.filter((one) => one.attempts > 0 && !hasArrivedPartly(one));
  const candidates = failing.length > 1 ? failing : queue;
  const next = candidates.find((one) => isDue(one, now) && !isBlocked(one, queue));
  return (
    next ?? failing.find((one) => !isBlocked(one, queue) && isPrompted(one, queue, now)) ?? null
  );
}

/** Whether something earlier tells of one of the same subjects. */
function isBlocked(one: Queued, queue: readonly Queued[]): boolean {
  return before(one, queue).some((earlier) => !hasArrivedPartly(earlier));
}

/** What has arrived partly and is now overtaken by news of the same: who is left hears of both with the end, else of the news alone. */
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

/** Whether a delivery may be tried by its own time. */
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
/** What fails as if for good may be a proxy's passing answer: so long it is tried all the same. */
const doubtMs = 3_600_000;
/** So often something is tried of which nobody can tell whom it has reached. */
const blindAttempts = 3;
/** More patience than this no receiver is given, in seconds. */
const maxPatienceSeconds = 3_600;

/** Until when nothing goes to a receiver that asked for patience; null where it did not. */
export function heldUntil(retryAfterSeconds: number | undefined, now: number): number | null {
  if (retryAfterSeconds === undefined || retryAfterSeconds <= 0) return null;
  return now + Math.min(retryAfterSeconds, maxPatienceSeconds) * 1000;
}

/**
 * When a failed delivery is tried again: after 5 s, 15 s, 1 min, 5 min, then every 15 min, each ± 20 %,
 * later where the receiver asked for patience; null once 24 hours have passed, or one of failing as if
 * for good: a case that was never opened or closed would stay so, however well its service is again.
 * An attempt that came early changes nothing about that. `random` is in 0…1.
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

/** The usual wait after so many attempts, ± 20 %. `random` is in 0…1. */
export const retryDelayMs = (attempts: number, random: number): number =>
  (retrySeconds[attempts] ?? laterSeconds) * (0.8 + 0.4 * random) * 1000;

/** Whether an attempt at `now` comes before its time. */
export function isEarly({ dueAt }: { dueAt: number }, now: number): boolean {
  return dueAt > now && dueAt - now <= longestWaitMs;
}
