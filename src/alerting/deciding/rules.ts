/** Pure rules of alerting: flapping, recipients, reminders and certificates. */
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import type { MessageKind } from "../channels/routing-schema.ts";
import type { AlertType } from "../schema.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** A monitor flaps after more state changes than this within `flapWindowMs`. */
const flapChanges = 10;
const flapWindowMs = 30 * minuteMs;
/** A flapping monitor is stable again after this time without a state change. */
export const steadyStateMs = 10 * minuteMs;
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

/** Returns the step of a flapping monitor that was stable for `steadyStateMs`; null before that. */
export function stepAfterFlapping(
  before: Memory,
  notified: Notified,
  status: StoredStatus,
  audience: Audience,
  now: number,
): Step | null {
  const last = before.changes.at(-1);
  if (before.flappingSince === null || last === undefined) return null;
  if (now - last < steadyStateMs && now >= last) return null;
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
export const withholdMessages = ({ memory, isOver }: Step): Step => ({
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
  const steadyAt = flappingSince === null || last === undefined ? null : last + steadyStateMs;
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
