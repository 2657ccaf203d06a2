/** Applies the alerting rules to events and timers of one organization, and fills its outbox. */
import { formatUtcMinute, formatTimestamp } from "../../core/time/clock.ts";
import { type EventEffects, type LoggedEvent } from "../../events/catalog.ts";
import type { AlertData } from "../alert.ts";
import type { DueDrill } from "../drills/store.ts";
import type { Outbox, Part } from "../sending/outbox.ts";
import {
  stepAfterChange,
  stepAfterFlapping,
  stepAfterMute,
  stepAfterReminder,
  findCertificateStep,
  isReminderDue,
  selectIncidentAudience,
  type IncidentStep,
  type NotifiedState,
  problemOf,
  selectChannelsForProblems,
  type Step,
  withholdMessages,
} from "./rules.ts";
import { isOfCertificate, canOpenCases } from "./cases.ts";
import {
  audienceOf,
  buildAlertedMonitor,
  type HeldOutage,
  listNotified,
  listOrdinaryChannels,
  memoryOf,
  reminderMsOf,
  type Snapshot,
  type SnapshotScope,
  type WatchedMonitor,
} from "./snapshot.ts";
import type { StoredStatus } from "../../core/statuses.ts";
import { isQuiet, type OpenRecord } from "../records/rules.ts";
import { addEntry, guardRecord, setDueAt } from "../records/store.ts";
import type { CauseMemory } from "./cause-memory.ts";
import { decideHold } from "./holding-rules.ts";
import { describeJoined, joinOutage, notifyOfJoined, recordJoined, stayJoined } from "./joining.ts";
import { describeCause, isJoinedDue } from "./joining-rules.ts";
import { applySourceReport, listSourceChannels } from "./sources.ts";
import { wakeHeldAlerts } from "../store.ts";
import {
  createAlert,
  endSnooze,
  findRecord,
  isHeldBack,
  openRecord,
  resolveRecord,
  startEscalation,
} from "./records.ts";

/**
 * Events that can cause an alert, close a case or announce a new channel. After a `reopening`
 * event, monitors with a problem can have new recipients, because they were attached to a channel
 * or unmuted.
 */
const alertingEvents = {
  "alert-channel.created": true,
  "alert-channel.restored": "reopening",
  "alert-channel.updated": "reopening",
  "alert.acknowledged": true,
  "alert.snoozed": true,
  "alert.unacknowledged": true,
  "appliance.recovered": true,
  "appliance.troubled": true,
  "channel.failed": true,
  "contact-method.updated": true,
  "contact-method.verified": true,
  "group.unmuted": "reopening",
  "group.updated": "reopening",
  "incident.deleted": true,
  "incident.opened": true,
  "incident.reopened": true,
  "incident.resolved": true,
  "incident.updated": true,
  "monitor.degraded": true,
  "monitor.deleted": true,
  "monitor.down": true,
  "monitor.maintenance": true,
  "monitor.pending": true,
  "monitor.up": true,
  "monitor.updated": true,
  "source-alert.acknowledged": true,
  "source-alert.changed": true,
  "source-alert.opened": true,
  "source-alert.resolved": true,
} as const satisfies EventEffects<true | "reopening">;

export type AlertingEvent = LoggedEvent<keyof typeof alertingEvents>;

export function concernsAlerting(event: LoggedEvent): event is AlertingEvent {
  return event.type in alertingEvents;
}

/** Whether the subject of this event is an alert. */
export const isAboutAlert = ({ type }: AlertingEvent) => type.startsWith("alert.");

/** Whether monitors with a problem are considered again after this event. */
export const canReopen = ({ type }: AlertingEvent) => alertingEvents[type] === "reopening";

/** A decision about a monitor that is due at a time, without an event. */
export type Timer = {
  kind: "memory" | "certificate" | "unrecorded" | "record" | "notification" | "drill" | "notice";
  organizationId: string;
  /** The subject of an alert, a policy or person to drill, or a schedule with notices; otherwise a monitor. */
  monitorId: string;
  /** The other monitor to whose alert this outage belongs; null or absent for none. */
  leaderId?: string | null;
  /** The alert whose timer is due; otherwise absent. */
  recordId?: string;
  /** The channel of a planned notification, and its step; otherwise absent. */
  channelId?: string;
  step?: number;
  /** The monthly drill that is due; otherwise absent. */
  drill?: DueDrill;
  /** Unix milliseconds. When the notice of a schedule was due; otherwise absent. */
  dueAt?: number;
};

/** A decision in progress: the facts, the collected deliveries, and the time. */
export type Decision = {
  snapshot: Snapshot;
  out: Outbox;
  now: number;
  /**
   * Unix milliseconds of the start, or of the end of the last standstill. Older results do not show
   * the current state.
   */
  runningSince?: number;
  /** Recently reported outages, by possible cause. */
  causes: CauseMemory;
};

/** Delay of a due reminder while the monitor's checks have no verdict. */
const unjudgedDelayMs = 60_000;
/**
 * Time after a start or a standstill in which a result is awaited, depending on the interval. Later the last state counts,
 * because the next result can follow a day later: a job that reports daily, or a daily check.
 */
const awaitedMs = { min: 300_000, max: 3_600_000 };

/** The subjects that a decision reads, and the number of rows that it can write. */
export type DecisionScope = Omit<SnapshotScope, "now"> & { rows: number; part: Part | null };

/** Applies the rules to an event and adds the deliveries to the outbox. */
export function applyEvent(decision: Decision, event: AlertingEvent) {
  const { out } = decision;
  const { subjectId } = event;
  switch (event.type) {
    case "monitor.deleted":
      decideHeldBehind(decision, subjectId);
      out.closeSubject(subjectId);
      for (const family of ["state", "certificate"] as const)
        resolveRecord(decision, subjectId, family, { because: "deleted", at: event.at });
      return out.forget(subjectId);
    case "monitor.updated":
      decideHeldBehind(decision, subjectId);
      applyMonitorUpdate(decision, subjectId);
      return reopenAll(decision, event);
    case "group.updated":
    case "group.unmuted":
    case "alert-channel.restored":
    case "alert-channel.updated":
      return reopenAll(decision, event);
    case "monitor.pending":
    case "monitor.up":
    case "monitor.degraded":
    case "monitor.down":
    case "monitor.maintenance":
      return applyMonitorChange(decision, event);
    case "incident.opened":
      return applyIncidentChange(decision, event, "opened");
    case "incident.updated":
    case "incident.reopened":
      return applyIncidentChange(decision, event, "updated");
    case "incident.resolved":
      return applyIncidentChange(decision, event, "resolved");
    case "incident.deleted":
      resolveRecord(decision, subjectId, "incident", { because: "deleted", at: event.at });
      return out.closeSubject(subjectId);
    case "channel.failed":
      return applyChannelFailure(decision, event);
    case "appliance.troubled":
      return applyProblemStart(decision, event);
    case "appliance.recovered":
      return applyProblemEnd(decision, event);
    case "alert.unacknowledged":
      startPostponed(decision, subjectId);
      return applyOwnership(decision, subjectId);
    case "alert.acknowledged":
    case "alert.snoozed":
      return applyOwnership(decision, subjectId);
    case "source-alert.opened":
    case "source-alert.changed":
    case "source-alert.acknowledged":
    case "source-alert.resolved":
      return applySourceReport(decision, event);
    case "alert-channel.created":
    case "contact-method.updated":
    case "contact-method.verified":
      return;
    default:
      event satisfies never;
  }
}

/** Synchronizes the cases of an alert with its acknowledgments and its snooze. */
function applyOwnership({ snapshot, out }: Decision, recordId: string) {
  const record = findById(snapshot, recordId);
  if (record !== undefined) out.syncCases(record);
}

/** Starts the escalation of an alert that was acknowledged or snoozed while it was held. */
function startPostponed(decision: Decision, recordId: string) {
  const { snapshot, now } = decision;
  const record = findById(snapshot, recordId);
  if (record === undefined || isHeldBack(snapshot, record)) return;
  if (record.type !== "monitor.degraded") startEscalation(decision, record, now);
}

const findById = ({ records }: Snapshot, recordId: string) =>
  [...records.values()].flat().find(({ id }) => id === recordId);

function applyMonitorChange(
  decision: Decision,
  { type, subjectId, at, data }: LoggedEvent<`monitor.${StoredStatus}`>,
) {
  const { snapshot } = decision;
  const monitor = snapshot.monitors.get(subjectId);
  if (monitor === undefined) return;
  const to = type.slice("monitor.".length) as StoredStatus;
  const { before: from, since, message, latencyMs } = data;
  const notified = snapshot.notified.get(subjectId) ?? new Map();
  const step = stepAfterChange(
    memoryOf(snapshot, subjectId),
    notified,
    { from, to, at: Date.parse(at) },
    findAudience(to, snapshot, monitor),
    reminderMsOf(monitor),
  );
  const notifiedDown = [...notified.values()].find(({ state }) => state === "down");
  const downSince = from === "down" ? since : notifiedDown?.since;
  const ended = to !== "down" && downSince !== undefined;
  const length = ended && { downSeconds: countSeconds(downSince, at) };
  const about = { since: at, message, latencyMs, ...length };
  const { causes = [] } = data;
  const isFlapping = step.memory.flappingSince !== null;
  const hold =
    findHold(decision, monitor, to, at) ??
    joinOutage(decision, monitor, { at, causes, isFlapping });
  if (to !== "down") recordJoined(decision, subjectId, at);
  applyStep(decision, monitor, step, to, at, about, hold);
  decideHeldBehind(decision, subjectId);
  if (to === "maintenance")
    resolveRecord(decision, subjectId, "state", { because: "maintenance", at });
}

/** Returns how the alert of an outage is held, because monitors on which it depends are the cause; null if it is not. */
function findHold(
  { snapshot, now }: Decision,
  { id, lastCheckedAt, successes, patienceMs }: WatchedMonitor,
  state: StoredStatus,
  since: string,
): HeldOutage | null {
  const ancestors = snapshot.ancestors.get(id);
  if (ancestors === undefined || (state !== "down" && state !== "degraded")) return null;
  const checkedAt = lastCheckedAt === null ? 0 : Date.parse(lastCheckedAt);
  const behind = memoryOf(snapshot, id).held?.behind ?? null;
  const outage = {
    since: Date.parse(since),
    lastCheckedAt: checkedAt,
    successes,
    patienceMs,
    behind,
  };
  const hold = decideHold(outage, ancestors, now);
  return hold && { since: outage.since, ...hold, cause: null };
}

/** Decides at once about the alerts that are held behind a monitor whose state changed. */
function decideHeldBehind({ snapshot, out, now }: Decision, monitorId: string) {
  if (snapshot.holding.has(monitorId))
    out.write(wakeHeldAlerts(snapshot.organizationId, monitorId, now));
}

/** Decides again about an alert that is held. */
function applyHeldOutage(decision: Decision, monitor: WatchedMonitor, held: HeldOutage) {
  const { snapshot, now } = decision;
  const { id, status, lastMessage, latencyMs, paused, groupPaused } = monitor;
  const state = paused || groupPaused ? "pending" : status;
  const at = formatTimestamp(now);
  const step = stepAfterChange(
    memoryOf(snapshot, id),
    snapshot.notified.get(id) ?? new Map(),
    { from: "pending", to: state, at: now },
    findAudience(state, snapshot, monitor),
    reminderMsOf(monitor),
  );
  const about = { since: monitor.since, message: lastMessage ?? "", latencyMs };
  const isSnoozed = (findRecord(snapshot, id, "state")?.snoozedUntil ?? null) !== null;
  const hold =
    findHold(decision, monitor, state, formatTimestamp(held.since)) ??
    stayJoined(decision, monitor, state, held);
  // At the end of the snooze, it is sent.
  const isLeft = isSnoozed && (state === "down" || state === "degraded");
  const silentStep = { ...step, alert: null, notifiedState: null };
  applyStep(decision, monitor, isLeft ? silentStep : step, state, at, about, hold);
}

/** Carries out a step of the rules for a monitor: sends its alert, unless it is held, and stores the new memory. */
function applyStep(
  decision: Decision,
  monitor: WatchedMonitor,
  whole: Step,
  state: StoredStatus,
  at: string,
  about: Omit<AlertData["monitor.down"], "monitor">,
  held: HeldOutage | null = null,
) {
  const { snapshot, out, now } = decision;
  const { id } = monitor;
  const { memory, alert, notifiedState, isOver } = held === null ? whole : withholdMessages(whole);
  const behind = state === "down" ? snapshot.dependents.get(id) : undefined;
  const joined = state === "down" ? describeJoined(snapshot, id) : undefined;
  const data = {
    monitor: buildAlertedMonitor(monitor),
    ...about,
    ...(behind !== undefined && { behind }),
    ...(joined !== undefined && { joined }),
    ...(memory.flappingSince !== null && { changes: memory.changes.length }),
  };
  const { channels, muted } = audienceOf(snapshot, monitor);
  const problem = muted ? null : problemOf(memory, state);
  const isOpen = findRecord(snapshot, id, "state") !== null;
  const type = alert?.type ?? problem;
  const message = type && createAlert(type, at, data, now);
  const escalates = held === null && problem !== null && problem !== "monitor.degraded";
  const record =
    problem === null || message === null
      ? findRecord(snapshot, id, "state")
      : openRecord(decision, {
          ...message,
          type: problem,
          subjectId: id,
          since: about.since,
          ...(escalates && { escalatesFrom: Date.parse(at) }),
        });
  if (record !== null && escalates) startEscalation(decision, record, Date.parse(at));
  if (alert !== null && message !== null) {
    const to = out.notify(message, alert.to, isOver, record);
    if (notifiedState !== null) out.recordNotified(id, to, notifiedState, about.since);
  }
  if (record !== null && !isOpen && alert === null && held === null && channels.length > 0)
    recordKnown(decision, record, at);
  if (isOver) {
    out.closeSubject(id);
    resolveRecord(decision, id, "state", { because: "recovered", at });
  }
  const before = memoryOf(snapshot, id);
  const after = { ...before, ...memory, held };
  if (record !== null && held !== null && held.behind !== (before.held?.behind ?? null))
    recordHold(decision, record, held, at);
  if (!Bun.deepEquals(before, after)) out.remember(id, after);
}

/** Adds to the timeline of an alert why it notifies no channel: each was notified before a pause or maintenance. */
function recordKnown({ snapshot, out }: Decision, record: OpenRecord, at: string) {
  const message = "Its channels were notified of this outage before, and of no recovery.";
  out.write(addEntry(snapshot.organizationId, record.id, { at, type: "held", message }));
}

/** Adds to the timeline of an alert why it is held. */
function recordHold({ snapshot, out }: Decision, record: OpenRecord, held: HeldOutage, at: string) {
  const { behind, cause } = held;
  const known: Pick<WatchedMonitor, "id" | "name">[] =
    cause === null
      ? [...(snapshot.ancestors.get(record.subjectId) ?? [])]
      : [...snapshot.monitors.values()];
  const name = known.find(({ id }) => id === behind)?.name;
  if (name === undefined) return;
  const message =
    cause === null
      ? `${name} is down, on which it depends.`
      : `${name} is down, too, ${describeCause(cause)}: its alert covers both.`;
  out.write(addEntry(snapshot.organizationId, record.id, { at, type: "held", message }));
}

/** Applies a changed reminder interval during an outage. A pending reminder is never delayed. */
function applyMonitorUpdate({ snapshot, out, now }: Decision, monitorId: string) {
  const monitor = snapshot.monitors.get(monitorId);
  if (monitor?.status !== "down") return;
  const memory = memoryOf(snapshot, monitorId);
  const interval = reminderMsOf(monitor);
  const soonest = interval === null ? null : now + interval;
  const remindAt = soonest === null ? null : Math.min(memory.remindAt ?? soonest, soonest);
  if (remindAt !== memory.remindAt) out.remember(monitorId, { ...memory, remindAt });
}

/**
 * Reopens the problems of the monitors to which the event refers: directly, through their group, or
 * through a channel.
 */
function reopenAll(decision: Decision, event: LoggedEvent) {
  const { subjectId } = event;
  for (const monitor of decision.snapshot.monitors.values()) {
    const { id, groupId, channelIds } = monitor;
    if (id !== subjectId && groupId !== subjectId && !channelIds.includes(subjectId)) continue;
    decideHeldSoon(decision, id);
    reopenMonitor(decision, monitor, event);
  }
}

/** Decides in the next round about an alert that is held: its monitor may no longer depend on the one that is down. */
function decideHeldSoon({ snapshot, out, now }: Decision, monitorId: string) {
  const memory = memoryOf(snapshot, monitorId);
  const { held } = memory;
  if (held !== null && held.until > now)
    out.remember(monitorId, { ...memory, held: { ...held, until: now } });
}

/**
 * Opens the alert of a lasting problem again after a mute, and cases at attached channels that have no case for
 * it yet.
 */
function reopenMonitor(decision: Decision, monitor: WatchedMonitor, event: LoggedEvent) {
  const { snapshot, out } = decision;
  // A later event reports this state itself.
  if (monitor.since > event.at || !hasLastingProblem(decision, monitor)) return;
  const record = findRecord(snapshot, monitor.id, "state");
  if (record === null || out.isResuming(record.id)) {
    if (out.isFull()) return out.deferRest();
    return reportAfterMute(decision, monitor, event.at);
  }
  const cases = (snapshot.cases.get(monitor.id) ?? []).filter(
    ({ problem }) => !isOfCertificate(problem),
  );
  const having = new Set(cases.map(({ channelId }) => channelId));
  const to = audienceOf(snapshot, monitor).channels.filter(
    (channel) => canOpenCases(snapshot.channels.get(channel)?.type ?? "") && !having.has(channel),
  );
  if (to.length === 0) return;
  if (out.isFull()) return out.deferRest();
  reportState(decision, monitor, event.at, to);
}

/** Opens the alert of a monitor that is no longer muted, and escalates it. */
function reportAfterMute(decision: Decision, monitor: WatchedMonitor, at: string) {
  const { snapshot } = decision;
  const { id, since, lastMessage, latencyMs } = monitor;
  const status = monitor.status as "down" | "degraded";
  const notified = snapshot.notified.get(id) ?? new Map();
  const step = stepAfterMute(
    memoryOf(snapshot, id),
    notified,
    status,
    audienceOf(snapshot, monitor),
  );
  const about = { since, message: lastMessage ?? "", latencyMs };
  applyStep(decision, monitor, step, status, at, about, findHold(decision, monitor, status, since));
}

/** Opens the alert of a monitor whose problem is older than its records. */
export function recordState(decision: Decision, { monitorId }: Timer) {
  const { snapshot, now } = decision;
  const monitor = snapshot.monitors.get(monitorId);
  if (monitor === undefined || !hasLastingProblem(decision, monitor)) return;
  if (findRecord(snapshot, monitorId, "state") === null)
    reportState(decision, monitor, formatTimestamp(now), []);
}

/** Whether a monitor is down or degraded, and neither muted, paused nor flapping. */
function hasLastingProblem({ snapshot }: Decision, monitor: WatchedMonitor): boolean {
  const { status, paused, groupPaused } = monitor;
  return (
    (status === "down" || status === "degraded") &&
    !(paused || groupPaused || audienceOf(snapshot, monitor).muted) &&
    memoryOf(snapshot, monitor.id).flappingSince === null &&
    memoryOf(snapshot, monitor.id).held === null
  );
}

/** Opens the alert of a monitor's current state, and notifies these channels. */
function reportState(
  decision: Decision,
  monitor: WatchedMonitor,
  at: string,
  to: readonly string[],
) {
  const { out, now } = decision;
  const { id, since, lastMessage, latencyMs } = monitor;
  const status = monitor.status as "down" | "degraded";
  const data = {
    monitor: buildAlertedMonitor(monitor),
    since,
    message: lastMessage ?? "",
    latencyMs,
  };
  const alert = createAlert(`monitor.${status}`, at, data, now);
  const record = openRecord(decision, { ...alert, subjectId: id, since });
  if (to.length === 0) return;
  out.recordNotified(id, out.notify(alert, to, false, record), status, since);
}

/** Sends a due reminder, or the state of a monitor that stopped flapping. */
export function applyTimer(decision: Decision, { monitorId }: Timer) {
  const { snapshot, out, now } = decision;
  const monitor = snapshot.monitors.get(monitorId);
  if (monitor === undefined) return out.forget(monitorId);
  const { status, since, lastMessage, latencyMs, paused, groupPaused } = monitor;
  const state = paused || groupPaused ? "pending" : status;
  const audience = findAudience(state, snapshot, monitor);
  const memory = memoryOf(snapshot, monitorId);
  const notified = snapshot.notified.get(monitorId) ?? new Map();
  const about = { since, message: lastMessage ?? "", latencyMs };
  const at = formatTimestamp(now);
  if (memory.held !== null) return applyHeldOutage(decision, monitor, memory.held);
  if (memory.joinedDueAt !== null && isJoinedDue(memory.joinedDueAt, now))
    return notifyOfJoined(decision, monitor);
  const steady = stepAfterFlapping(memory, notified, state, audience, now);
  if (steady !== null) return applyStep(decision, monitor, steady, state, at, about);
  if (!isReminderDue(memory, reminderMsOf(monitor), now)) return;
  if (!isJudged(monitor, decision))
    return out.remember(monitorId, { ...memory, remindAt: now + unjudgedDelayMs });
  const record = findRecord(snapshot, monitorId, "state");
  const isHeld = record !== null && isQuiet(record);
  // Nothing is sent after an acknowledgment in the meantime.
  if (record !== null && !isHeld) out.write(guardRecord(snapshot.organizationId, record));
  const recipients = isHeld ? { ...audience, channels: [] } : audience;
  const step = stepAfterReminder(memory, state, recipients, reminderMsOf(monitor), now);
  applyStep(decision, monitor, step, state, at, {
    ...about,
    downSeconds: countSeconds(since, at),
  });
}

/** Whether a monitor has a result since the start or the last standstill of this appliance, or was given time for one. */
function isJudged(
  { notJudgedSince, lastCheckedAt, intervalSeconds, patienceMs }: WatchedMonitor,
  { now, runningSince = -Infinity }: Decision,
): boolean {
  const checkedAt = lastCheckedAt === null ? Infinity : Date.parse(lastCheckedAt);
  const resultMs = Math.max(intervalSeconds * 1000 + patienceMs, awaitedMs.min);
  const isAwaited =
    checkedAt < runningSince && now - runningSince < Math.min(resultMs, awaitedMs.max);
  return notJudgedSince === null && !isAwaited;
}

/** Sends an alert again whose snooze is over. */
export function applySnoozeEnd(decision: Decision, record: OpenRecord) {
  const { snapshot, out, now } = decision;
  if (record.snoozedUntil === null || record.snoozedUntil > now) return;
  if (isUncertain(decision, record))
    return out.write(setDueAt(snapshot.organizationId, record.id, now + unjudgedDelayMs));
  out.write(guardRecord(snapshot.organizationId, record));
  const data = JSON.parse(record.data) as object;
  const at = formatTimestamp(now);
  const { type, since } = record;
  const alert =
    type === "monitor.down"
      ? createAlert("monitor.reminder", at, { ...data, downSeconds: countSeconds(since, at) }, now)
      : createAlert(type === "incident.opened" ? "incident.updated" : type, at, data, now);
  const returned = {
    ...record,
    acknowledgedAt: null,
    acknowledgedBy: [],
    snoozedUntil: null,
    returned: type,
  };
  const to = recipientsOf(decision, record);
  const notified = to.length === 0 ? [] : out.notify(alert, to, false, returned);
  recordNotifiedAgain(decision, record, notified);
  endSnooze(decision, record);
}

/** Records that these channels got another message about an alert, so that they get its end, too. */
export function recordNotifiedAgain(
  { out }: Decision,
  record: OpenRecord,
  channelIds: readonly string[],
) {
  const state = notifiedStateOf(record);
  if (state !== null) out.recordNotified(record.subjectId, channelIds, state, record.since);
}

/** Whether the current state of a monitor is unknown, so that its alert can't return yet. */
function isUncertain(decision: Decision, { family, subjectId }: OpenRecord) {
  if (family !== "state") return false;
  const monitor = decision.snapshot.monitors.get(subjectId);
  if (monitor === undefined) return true;
  const isKnown = ["up", "degraded", "down"].includes(monitor.status);
  return !isKnown || monitor.paused || monitor.groupPaused || !isJudged(monitor, decision);
}

/** Returns the channels that are notified again of an alert. */
function recipientsOf({ snapshot }: Decision, record: OpenRecord): string[] {
  const { family, subjectId } = record;
  if (family === "source") {
    const known = listNotified(snapshot, subjectId);
    return [...new Set([...listSourceChannels({ snapshot }, subjectId), ...known])];
  }
  if (family === "incident" || family === "problem") return listNotified(snapshot, subjectId);
  if (family === "channel")
    return selectChannelsForProblems(listOrdinaryChannels(snapshot), subjectId).map(({ id }) => id);
  const monitor = snapshot.monitors.get(subjectId);
  if (monitor === undefined) return [];
  const { muted, channels } = audienceOf(snapshot, monitor);
  return muted || isHeldBack(snapshot, record) ? [] : channels;
}

/** Returns the state that channels know after another message about an alert; null if none is stored. */
export function notifiedStateOf({ family, type }: OpenRecord): NotifiedState | null {
  if (family === "incident" || family === "problem" || family === "source") return "open";
  if (family !== "state") return null;
  if (type === "monitor.flapping") return "flapping";
  return type === "monitor.degraded" ? "degraded" : "down";
}

/** Records that a certificate expires soon, and notifies its channels once per step. */
export function notifyOfCertificate(decision: Decision, { monitorId }: Timer) {
  const { snapshot, out, now } = decision;
  const monitor = snapshot.monitors.get(monitorId);
  const expiresAt = monitor?.certificateExpiresAt ?? null;
  if (monitor === undefined || expiresAt === null) return;
  const before = memoryOf(snapshot, monitorId);
  const { certificateExpiryDays } = monitor;
  const reached = findCertificateStep(expiresAt, null, certificateExpiryDays, now);
  const { channels, muted } = audienceOf(snapshot, monitor);
  if (reached === null || muted) return;
  const { step, daysLeft } = reached;
  const message =
    daysLeft < 0
      ? "The certificate has expired."
      : `The certificate expires on ${formatUtcMinute(expiresAt)}.`;
  const { since, latencyMs } = monitor;
  const data = {
    monitor: buildAlertedMonitor(monitor),
    since,
    message,
    latencyMs,
    expiresAt,
    daysLeft,
  };
  const alert = createAlert("certificate.expiring", formatTimestamp(now), data, now);
  const record = openRecord(decision, { ...alert, subjectId: monitorId, since: alert.at });
  const isNews =
    findCertificateStep(expiresAt, before.certificate, certificateExpiryDays, now) !== null;
  // A channel that is attached later is notified of the same step.
  if (!isNews || channels.length === 0) return;
  out.notify(alert, channels, false, record);
  out.remember(monitorId, { ...before, certificate: { expiresAt, days: step } });
}

function applyIncidentChange(
  decision: Decision,
  event: LoggedEvent<`incident.${"opened" | "updated" | "resolved" | "reopened"}`>,
  step: IncidentStep,
) {
  const { snapshot, out, now } = decision;
  const { subjectId, at, data } = event;
  const found = snapshot.incidents.get(subjectId);
  const update = data.updateId === null ? undefined : found?.updates.get(data.updateId);
  // A correction of the title or severity adds no timeline entry, and causes no alert.
  if (found === undefined || update === undefined) return;
  const monitor = found.monitorId === null ? undefined : snapshot.monitors.get(found.monitorId);
  const notified = snapshot.notified.get(subjectId) ?? new Map();
  const byMonitor = data.automatic === true;
  const monitorMuted = monitor !== undefined && audienceOf(snapshot, monitor).muted;
  const to = selectIncidentAudience(listOrdinaryChannels(snapshot), step, notified, {
    byMonitor,
    monitorMuted,
    monitorChannels: monitor?.channelIds ?? found.sourceChannelIds,
  });
  const { id, title, severity, monitorId, monitorIds } = found;
  const isOver = step === "resolved";
  const incident = { id, title, status: update.status, severity, monitorId, monitorIds };
  const { reason } = data;
  const message = reason === undefined ? update.message : `${update.message} ${reason}`;
  const content = { incident, message, isMarkdown: !byMonitor };
  const alert = createAlert(`incident.${step}`, at, content, now);
  const record =
    isOver || update.status === "resolved" || (byMonitor && monitorMuted)
      ? findRecord(snapshot, id, "incident")
      : openRecord(decision, { ...alert, subjectId: id, since: at, isAutomatic: byMonitor });
  if (record !== null && !isOver) startEscalation(decision, record, Date.parse(at));
  const hasPolicy = isOver && record !== null && record.policyId !== null;
  const recipients = hasPolicy ? addNotified(snapshot, id, to) : to;
  if (recipients.length > 0) {
    const channelIds = out.notify(alert, recipients, isOver, record);
    if (!isOver) out.recordNotified(id, channelIds, "open", at);
  }
  if (!isOver) return;
  out.closeSubject(id);
  resolveRecord(decision, id, "incident", { because: "recovered", at });
}

/** Notifies the other channels that a channel fails. */
function applyChannelFailure(
  decision: Decision,
  { type, subjectId, at, data }: LoggedEvent<"channel.failed">,
) {
  const { snapshot, out, now } = decision;
  const failed = snapshot.channels.get(subjectId);
  if (failed === undefined) return;
  const { id, name, personId } = failed;
  const to = selectChannelsForProblems(listOrdinaryChannels(snapshot), id).map(({ id }) => id);
  const contact = personId !== null && { contactMethod: true };
  const about = { channel: { id, name, type: failed.type, ...contact }, ...data };
  const alert = createAlert(type, at, about, now);
  const record = openRecord(decision, { ...alert, subjectId, since: at });
  if (to.length > 0) out.notify(alert, to, false, record);
}

function applyProblemStart(
  decision: Decision,
  { type, subjectId, at, data }: LoggedEvent<"appliance.troubled">,
) {
  const { snapshot, out, now } = decision;
  const to = selectChannelsForProblems(listOrdinaryChannels(snapshot)).map(({ id }) => id);
  const alert = createAlert(type, at, data, now);
  const record = openRecord(decision, { ...alert, subjectId, since: at });
  if (to.length > 0)
    out.recordNotified(subjectId, out.notify(alert, to, false, record), "open", at);
}

/** Reports the end of a problem to the channels that were notified of it. */
function applyProblemEnd(
  decision: Decision,
  { type, subjectId, at, data }: LoggedEvent<"appliance.recovered">,
) {
  const { snapshot, out, now } = decision;
  const to = listNotified(snapshot, subjectId);
  const record = findRecord(snapshot, subjectId, "problem");
  if (to.length > 0) out.notify(createAlert(type, at, data, now), to, true, record);
  out.closeSubject(subjectId);
  resolveRecord(decision, subjectId, "problem", { because: "recovered", at });
}

/** Recipients of a state. The end of a problem is also sent to the people whom a policy notified. */
function findAudience(state: StoredStatus, snapshot: Snapshot, monitor: WatchedMonitor) {
  const audience = audienceOf(snapshot, monitor);
  const { id } = monitor;
  if (state !== "up" || (findRecord(snapshot, id, "state")?.policyId ?? null) === null)
    return audience;
  return { ...audience, channels: addNotified(snapshot, id, audience.channels) };
}

/** Adds the enabled channels that were notified of a subject. */
const addNotified = (snapshot: Snapshot, subjectId: string, channelIds: readonly string[]) => [
  ...new Set([...channelIds, ...listNotified(snapshot, subjectId)]),
];

function countSeconds(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
}
