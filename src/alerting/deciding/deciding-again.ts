/** Decides again about open alerts after an edit: which held messages are sent or dropped, and which channels are notified. */
import { formatTimestamp } from "../../core/time/clock.ts";
import { addEntry, guardRecord, setPriority } from "../records/store.ts";
import type { OpenRecord } from "../records/rules.ts";
import { wakeNotices } from "../schedules/store.ts";
import { wakeDigests } from "../store.ts";
import { canOpenCases } from "./cases.ts";
import {
  type AlertingEvent,
  type Decision,
  notifiedStateOf,
  recordNotifiedAgain,
} from "./decide.ts";
import { listSourceChannels } from "./sources.ts";
import {
  changeIncidentPolicy,
  createAlert,
  dropHeld,
  isHeldBack,
  priorityOf,
  replaceRecord,
} from "./records.ts";
import { isWanted, selectChannelsForProblems } from "./rules.ts";
import { type HeldMessage, isEscalation, listOrdinaryChannels } from "./snapshot.ts";

/** Whether channels can be notified again after this event of alerts that they don't know of. */
export const canNotifyAgain = ({ type }: AlertingEvent): boolean =>
  type === "alert-channel.restored" || type === "alert.unacknowledged";

/** Decides again after an event that can change who is notified of open alerts, and when. */
export function decideAgain(decision: Decision, { type, subjectId }: AlertingEvent) {
  const { snapshot, out, now } = decision;
  if (type === "monitor.updated" || type === "incident.updated" || type === "source-alert.changed")
    reviewSubject(decision, subjectId);
  else if (type === "alert-channel.updated") reviewChannel(decision, subjectId);
  else if (type === "contact-method.updated" || type === "contact-method.verified") {
    reviewChannel(decision, subjectId);
    out.write(wakeNotices(snapshot.organizationId, now));
  } else if (type === "alert-channel.restored") notifyRestored(decision, subjectId);
  else if (type === "alert.unacknowledged") notifyOfReturn(decision, subjectId);
}

/** Decides again about the policy and the held messages of an edited monitor or incident. */
function reviewSubject(decision: Decision, subjectId: string) {
  const { snapshot } = decision;
  for (const record of snapshot.records.get(subjectId) ?? [])
    changeIncidentPolicy(decision, record);
  for (const record of snapshot.records.get(subjectId) ?? []) updatePriority(decision, record);
}

/** Decides again about the messages that quiet hours of an edited channel hold, and when they end. */
function reviewChannel(decision: Decision, channelId: string) {
  const { snapshot, out, now } = decision;
  for (const record of [...snapshot.records.values()].flat())
    if (snapshot.held.get(record.id)?.some((one) => one.channelId === channelId))
      updatePriority(decision, record);
  if (snapshot.quiet.has(channelId))
    out.write(wakeDigests(snapshot.organizationId, channelId, now));
}

/**
 * Updates the priority of an alert. Held messages are sent at once if it has become critical, and dropped if their channel
 * is no longer notified.
 */
function updatePriority(decision: Decision, before: OpenRecord) {
  const { snapshot, out, now } = decision;
  const record = changePriority(decision, before);
  const heldMessages = snapshot.held.get(record.id) ?? [];
  const unwanted = heldMessages.filter((one) => !isStillWanted(decision, record, one));
  const released =
    record.priority === "critical" ? heldMessages.filter((one) => !unwanted.includes(one)) : [];
  if (unwanted.length + released.length === 0) return;
  if (out.isFull()) return out.deferRest();
  // Nothing is sent after an acknowledgment in the meantime.
  out.write(guardRecord(snapshot.organizationId, record));
  for (const channelId of new Set(unwanted.map((one) => one.channelId))) {
    const messageIds = unwanted
      .filter((one) => one.channelId === channelId)
      .map(({ alert }) => alert.id);
    dropHeld(decision, record, "unwanted", formatTimestamp(now), { messageIds, channelId });
  }
  for (const one of released) out.release(one);
  const channelIds = [...new Set(released.map(({ channelId }) => channelId))];
  recordNotifiedAgain(decision, record, channelIds);
  for (const channelId of channelIds) explainRelease(decision, record, channelId);
  snapshot.held.set(
    record.id,
    heldMessages.filter((one) => !unwanted.includes(one) && !released.includes(one)),
  );
}

function changePriority({ snapshot, out }: Decision, record: OpenRecord): OpenRecord {
  const priority = priorityOf(snapshot, record) ?? record.priority;
  if (priority === record.priority) return record;
  out.write(setPriority(snapshot.organizationId, record.id, priority));
  const changed = { ...record, priority, version: record.version + 1 };
  replaceRecord(snapshot, changed);
  return changed;
}

function explainRelease({ snapshot, out, now }: Decision, { id }: OpenRecord, channelId: string) {
  const at = formatTimestamp(now);
  const name = snapshot.channels.get(channelId)?.name ?? "";
  const message = `The alert has become critical, so the message that the quiet hours of ${name} held is sent.`;
  out.write(addEntry(snapshot.organizationId, id, { at, type: "held", message }));
}

/** Whether a held message would still be sent. Policies name their channels; their edits apply from the next step on. */
function isStillWanted(decision: Decision, record: OpenRecord, { channelId, alert }: HeldMessage) {
  const channel = decision.snapshot.channels.get(channelId);
  if (channel === undefined || channel.personId !== null || isEscalation(alert)) return true;
  // The channel can be enabled again before its quiet hours end.
  if (!channel.enabled) return true;
  const isKind = isWanted(channel.notifyOn, alert.type) || isWanted(channel.notifyOn, record.type);
  const isRecipient =
    record.family === "incident"
      ? channel.incidents
      : listRecipients(decision, record).includes(channelId);
  return isKind && isRecipient;
}

/**
 * Returns the channels that an alert that starts now would notify, without its policy. The channels of an incident's
 * monitor are left out, because its alert reaches them.
 */
function listRecipients({ snapshot }: Decision, { family, subjectId }: OpenRecord): string[] {
  const ordinary = listOrdinaryChannels(snapshot);
  if (family === "source") return listSourceChannels({ snapshot }, subjectId);
  if (family === "incident") {
    const monitorId = snapshot.incidents.get(subjectId)?.monitorId ?? "";
    const notifiedByMonitor =
      snapshot.monitors.get(monitorId)?.channelIds ??
      snapshot.incidents.get(subjectId)?.sourceChannelIds ??
      [];
    return ordinary
      .filter(({ incidents, enabled }) => incidents && enabled)
      .map(({ id }) => id)
      .filter((id) => !notifiedByMonitor.includes(id));
  }
  if (family === "channel" || family === "problem")
    return selectChannelsForProblems(ordinary, family === "channel" ? subjectId : null).map(
      ({ id }) => id,
    );
  return snapshot.monitors.get(subjectId)?.channelIds ?? [];
}

/**
 * Notifies a restored channel of open alerts that it has no message about, for example because quiet hours held them
 * when the channel was deleted. Records the other alerts as known, so that the channel is notified of their end.
 */
function notifyRestored(decision: Decision, channelId: string) {
  const { snapshot, out } = decision;
  for (const record of [...snapshot.records.values()].flat()) {
    const deliveryId = snapshot.lastDeliveryIds.get(record.id)?.get(channelId);
    const state = notifiedStateOf(record);
    if (deliveryId === undefined) notifyChannelOfOpenAlert(decision, record, channelId);
    else if (state !== null && !snapshot.notified.get(record.subjectId)?.has(channelId))
      out.recordEarlier(record, channelId, [deliveryId, state]);
    if (out.getRest() !== null) return;
  }
}

/**
 * Notifies the channels of an alert that is open again, and that no message to them reported: a snooze that was ended early
 * dropped their held messages.
 */
function notifyOfReturn(decision: Decision, recordId: string) {
  const { snapshot } = decision;
  const record = [...snapshot.records.values()].flat().find(({ id }) => id === recordId);
  if (record === undefined) return;
  for (const channelId of listRecipients(decision, record))
    if (snapshot.lastDeliveryIds.get(recordId)?.has(channelId) !== true)
      notifyChannelOfOpenAlert(decision, record, channelId);
}

/** Whether a message about an open alert can be sent to an ordinary channel now. */
function canNotify(decision: Decision, record: OpenRecord, channelId: string): boolean {
  const { snapshot } = decision;
  const { family, subjectId, snoozedUntil } = record;
  const channel = snapshot.channels.get(channelId);
  if (family === "drill" || snoozedUntil !== null || channel?.enabled !== true) return false;
  // `reopenMonitor` opens cases for states.
  if (channel.personId !== null || (family === "state" && canOpenCases(channel.type))) return false;
  const { muted, groupMuted } = snapshot.monitors.get(subjectId) ?? {};
  if (isHeldBack(snapshot, record) || muted === true || groupMuted === true) return false;
  return listRecipients(decision, record).includes(channelId);
}

/** Notifies a channel of an open alert, if that is possible now. */
function notifyChannelOfOpenAlert(decision: Decision, record: OpenRecord, channelId: string) {
  const { snapshot, out, now } = decision;
  if (!canNotify(decision, record, channelId)) return;
  if (out.isFull()) return out.deferRest();
  out.write(guardRecord(snapshot.organizationId, record));
  const data = JSON.parse(record.data) as object;
  const alert = createAlert(record.type, formatTimestamp(now), data, now);
  recordNotifiedAgain(decision, record, out.notify(alert, [channelId], false, record));
}
