import { newId } from "../core/ids.ts";
import {
  type EventTable,
  type EventType,
  type TypesWith,
  valueIn,
  type LoggedEvent,
} from "../events/catalogue.ts";
import type { Alert, AlertData } from "./alert.ts";
import type { Outbox } from "./outbox.ts";
import {
  afterChange,
  afterFlapping,
  afterReminder,
  type Audience,
  certificateStep,
  incidentAudience,
  type IncidentStep,
  channelsForOwnTrouble,
  type Memory,
  type Step,
} from "./rules.ts";
import { isOfCertificate, opensCases } from "./cases.ts";
import type { AlertType } from "./schema.ts";
import { alerted, emptyMemory, type WatchedMonitor, type Snapshot } from "./snapshot.ts";
import type { StoredStatus } from "../core/statuses.ts";

/** Whether an event may lead to an alert, closes a case, or says that from here on somebody listens. */
const alerting = {
  "alert-channel": { created: true, updated: true, deleted: false },
  "api-key": false,
  appliance: true,
  backup: false,
  channel: true,
  group: {
    created: false,
    updated: true,
    deleted: false,
    paused: false,
    resumed: false,
    muted: false,
    unmuted: true,
    reordered: false,
  },
  incident: true,
  invitation: false,
  maintenance: false,
  monitor: {
    created: false,
    updated: true,
    deleted: true,
    pending: true,
    up: true,
    degraded: true,
    down: true,
    maintenance: true,
    paused: false,
    resumed: false,
  },
  organization: false,
  person: false,
  settings: false,
  "status-page": false,
  subscriber: false,
} as const satisfies EventTable<boolean>;

type AlertingEvent = LoggedEvent<TypesWith<typeof alerting, true>>;

export function concernsAlerting(event: LoggedEvent): event is AlertingEvent {
  return valueIn(alerting, event.type) === true;
}

/** What may have monitors that are down told of again: they are no longer muted, or have another channel. */
const reopening: ReadonlySet<EventType> = new Set([
  "group.updated",
  "group.unmuted",
  "alert-channel.updated",
]);

/** Whether the event may concern any monitor of its subject, a group or a channel. */
export const mayReopen = ({ type }: LoggedEvent) => reopening.has(type);

/** Something to decide about a monitor without an event. */
export type Timer = { kind: "memory" | "certificate"; organizationId: string; monitorId: string };

/** Applies the rules to what happened, in the order of events; the outbox takes what follows. */
export function applyEvent(snapshot: Snapshot, out: Outbox, event: AlertingEvent, now: number) {
  if (snapshot.channels.size === 0) return;
  const { subjectId } = event;
  switch (event.type) {
    case "monitor.deleted":
      out.close(subjectId);
      return out.forget(subjectId);
    case "monitor.updated":
      monitorUpdated(snapshot, out, subjectId, now);
      return reopenAll(snapshot, out, event, now);
    case "group.updated":
    case "group.unmuted":
    case "alert-channel.updated":
      return reopenAll(snapshot, out, event, now);
    case "monitor.pending":
      return monitorChanged(snapshot, out, event, "pending", now);
    case "monitor.up":
      return monitorChanged(snapshot, out, event, "up", now);
    case "monitor.degraded":
      return monitorChanged(snapshot, out, event, "degraded", now);
    case "monitor.down":
      return monitorChanged(snapshot, out, event, "down", now);
    case "monitor.maintenance":
      return monitorChanged(snapshot, out, event, "maintenance", now);
    case "incident.opened":
      return incidentChanged(snapshot, out, event, "opened", now);
    case "incident.updated":
    case "incident.reopened":
      return incidentChanged(snapshot, out, event, "updated", now);
    case "incident.resolved":
      return incidentChanged(snapshot, out, event, "resolved", now);
    case "incident.deleted":
      return out.close(subjectId);
    case "channel.failed":
      return channelFailed(snapshot, out, event, now);
    case "appliance.troubled":
      return applianceTroubled(snapshot, out, event, now);
    case "alert-channel.created":
      return;
    default:
      event satisfies never;
  }
}

function monitorChanged(
  snapshot: Snapshot,
  out: Outbox,
  { subjectId, at, data }: LoggedEvent<`monitor.${StoredStatus}`>,
  to: StoredStatus,
  now: number,
) {
  const monitor = snapshot.monitors.get(subjectId);
  if (monitor === undefined) return;
  const { before: from, since, message, latencyMs } = data;
  const told = snapshot.told.get(subjectId) ?? new Map();
  const step = afterChange(
    memoryOf(snapshot, subjectId),
    told,
    { from, to, at: Date.parse(at) },
    audienceOf(snapshot, monitor),
    reminderMs(monitor),
  );
  const downSince = from === "down" ? since : toldDownSince(snapshot, subjectId);
  const ended = to !== "down" && downSince !== null;
  const length = ended && { downSeconds: secondsBetween(downSince, at) };
  follow(snapshot, out, monitor, step, now, at, { since: at, message, latencyMs, ...length });
}

function toldDownSince(snapshot: Snapshot, monitorId: string): string | null {
  const told = [...(snapshot.told.get(monitorId)?.values() ?? [])];
  return told.find(({ state }) => state === "down")?.since ?? null;
}

/** Carries out a step of the rules about a monitor. */
function follow(
  snapshot: Snapshot,
  out: Outbox,
  monitor: WatchedMonitor,
  { memory, alert, believes, isOver }: Step,
  now: number,
  at: string,
  about: Omit<AlertData["monitor.down"], "monitor">,
) {
  const { id } = monitor;
  if (alert !== null) {
    const data = {
      monitor: alerted(monitor),
      ...about,
      ...(alert.type === "monitor.flapping" && { changes: memory.changes.length }),
    };
    const told = out.tell(alertOf(alert.type, at, data, now), alert.to, isOver);
    if (believes !== null) out.believe(id, told, believes, about.since);
  }
  if (isOver) out.close(id);
  const { certificate, ...before } = snapshot.memories.get(id) ?? emptyMemory;
  if (!Bun.deepEquals(before, memory)) out.remember(id, { ...memory, certificate });
}

/** A reminder interval that was set, changed or removed during an outage. */
function monitorUpdated(snapshot: Snapshot, out: Outbox, monitorId: string, now: number) {
  const monitor = snapshot.monitors.get(monitorId);
  if (monitor?.status !== "down") return;
  const { certificate, ...memory } = snapshot.memories.get(monitorId) ?? emptyMemory;
  const interval = reminderMs(monitor);
  const soonest = interval === null ? null : now + interval;
  const remindAt = soonest === null ? null : Math.min(memory.remindAt ?? soonest, soonest);
  if (remindAt !== memory.remindAt) out.remember(monitorId, { ...memory, remindAt, certificate });
}

/** Whether a monitor is this, is in this group, or has this channel. */
function isOf({ id, groupId, channelIds }: WatchedMonitor, subjectId: string): boolean {
  return id === subjectId || groupId === subjectId || channelIds.includes(subjectId);
}

function reopenAll(snapshot: Snapshot, out: Outbox, event: LoggedEvent, now: number) {
  for (const monitor of snapshot.monitors.values())
    if (isOf(monitor, event.subjectId)) reopen(snapshot, out, monitor, event, now);
}

/** A case is open as long as its problem lasts: channels that open cases are told of one that they don't have. */
function reopen(
  snapshot: Snapshot,
  out: Outbox,
  monitor: WatchedMonitor,
  event: LoggedEvent,
  now: number,
) {
  const { id, status, since, lastMessage, latencyMs, paused, groupPaused } = monitor;
  if ((status !== "down" && status !== "degraded") || paused || groupPaused) return;
  // What came to be after this event is told by its own.
  if (since > event.at || memoryOf(snapshot, id).flappingSince !== null) return;
  const { muted, channels } = audienceOf(snapshot, monitor);
  const cases = (snapshot.cases.get(id) ?? []).filter(({ problem }) => !isOfCertificate(problem));
  const having = new Set(cases.map(({ channelId }) => channelId));
  const to = channels.filter(
    (channel) => opensCases(snapshot.channels.get(channel)?.type ?? "") && !having.has(channel),
  );
  if (muted || to.length === 0) return;
  if (out.isFull()) return out.stop();
  const data = { monitor: alerted(monitor), since, message: lastMessage ?? "", latencyMs };
  const told = out.tell(alertOf(`monitor.${status}`, event.at, data, now), to, false);
  out.believe(id, told, status, since);
}

/** Reminds of an outage, or tells what a monitor has come to that flapped. */
export function applyTimer(snapshot: Snapshot, out: Outbox, { monitorId }: Timer, now: number) {
  const monitor = snapshot.monitors.get(monitorId);
  if (monitor === undefined) return out.forget(monitorId);
  const { status, since, lastMessage, latencyMs, paused, groupPaused } = monitor;
  const state = paused || groupPaused ? "pending" : status;
  const audience = audienceOf(snapshot, monitor);
  const memory = memoryOf(snapshot, monitorId);
  const told = snapshot.told.get(monitorId) ?? new Map();
  const about = { since, message: lastMessage ?? "", latencyMs };
  const at = new Date(now).toISOString();
  const steady = afterFlapping(memory, told, state, audience, now);
  if (steady !== null) return follow(snapshot, out, monitor, steady, now, at, about);
  const isDue = memory.remindAt !== null && memory.remindAt <= now;
  if (!isDue) return;
  const step = afterReminder(memory, state, audience, reminderMs(monitor), now);
  const downSeconds = secondsBetween(since, at);
  follow(snapshot, out, monitor, step, now, at, { ...about, downSeconds });
}

/** Tells of a certificate that ends soon, once for each step. */
export function alertOfCertificate(
  snapshot: Snapshot,
  out: Outbox,
  { monitorId }: Timer,
  now: number,
) {
  const monitor = snapshot.monitors.get(monitorId);
  const expiresAt = monitor?.certificateExpiresAt ?? null;
  if (monitor === undefined || expiresAt === null) return;
  const before = snapshot.memories.get(monitorId) ?? emptyMemory;
  const found = certificateStep(expiresAt, before.certificate, monitor.certificateExpiryDays, now);
  const { channels, muted } = audienceOf(snapshot, monitor);
  if (found === null || muted || channels.length === 0) return;
  const { step, daysLeft } = found;
  const message =
    daysLeft < 0
      ? "The certificate has expired."
      : `The certificate ends on ${expiresAt.slice(0, 10)}.`;
  const { since, latencyMs } = monitor;
  const data = { monitor: alerted(monitor), since, message, latencyMs, expiresAt, daysLeft };
  out.tell(
    alertOf("certificate.expiring", new Date(now).toISOString(), data, now),
    channels,
    false,
  );
  out.remember(monitorId, { ...before, certificate: { expiresAt, days: step } });
}

function incidentChanged(
  snapshot: Snapshot,
  out: Outbox,
  {
    subjectId,
    at,
    data,
  }: LoggedEvent<Exclude<`incident.${string}` & EventType, "incident.deleted">>,
  step: IncidentStep,
  now: number,
) {
  const found = snapshot.incidents.get(subjectId);
  const update = data.updateId === null ? undefined : found?.updates.get(data.updateId);
  // A correction of the title or severity posts nothing to the timeline.
  if (found === undefined || update === undefined) return;
  const monitor = found.monitorId === null ? undefined : snapshot.monitors.get(found.monitorId);
  const told = snapshot.told.get(subjectId) ?? new Map();
  const to = incidentAudience([...snapshot.channels.values()], step, told, {
    byMonitor: data.automatic === true,
    monitorMuted: monitor !== undefined && audienceOf(snapshot, monitor).muted,
    monitorChannels: monitor?.channelIds ?? [],
  });
  const { id, title, severity, monitorId } = found;
  if (to.length > 0) {
    const incident = { id, title, status: update.status, severity, monitorId };
    const alert = { incident, message: update.message };
    const isOver = step === "resolved";
    const told = out.tell(alertOf(`incident.${step}`, at, alert, now), to, isOver);
    if (!isOver) out.believe(id, told, "open", at);
  }
  if (step === "resolved") out.close(id);
}

function channelFailed(
  snapshot: Snapshot,
  out: Outbox,
  event: LoggedEvent<"channel.failed">,
  now: number,
) {
  const failed = snapshot.channels.get(event.subjectId);
  if (failed === undefined) return;
  const { id, name, type } = failed;
  const to = channelsForOwnTrouble([...snapshot.channels.values()], id).map(({ id }) => id);
  const { message } = event.data;
  if (to.length > 0)
    out.tell(
      alertOf("channel.failed", event.at, { channel: { id, name, type }, message }, now),
      to,
      false,
    );
}

function applianceTroubled(
  snapshot: Snapshot,
  out: Outbox,
  event: LoggedEvent<"appliance.troubled">,
  now: number,
) {
  const to = channelsForOwnTrouble([...snapshot.channels.values()]).map(({ id }) => id);
  const { message } = event.data;
  if (to.length > 0) out.tell(alertOf("appliance.troubled", event.at, { message }, now), to, false);
}

export function alertOf(type: AlertType, at: string, data: object, now: number): Alert {
  return { id: newId(now), type, at, data } as Alert;
}

function audienceOf(
  snapshot: Snapshot,
  { muted, groupMuted, channelIds }: WatchedMonitor,
): Audience {
  const channels = channelIds.filter((id) => snapshot.channels.get(id)?.enabled === true);
  return { muted: muted || groupMuted, channels };
}

function memoryOf(snapshot: Snapshot, monitorId: string): Memory {
  const { certificate: _, ...memory } = snapshot.memories.get(monitorId) ?? emptyMemory;
  return memory;
}

function reminderMs({ reminderSeconds }: WatchedMonitor): number | null {
  return reminderSeconds === null ? null : reminderSeconds * 1000;
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
}
