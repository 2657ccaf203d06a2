/** Decides who is notified of the start, changes and end of alerts that other tools report. */
import type { LoggedEvent } from "../../events/catalog.ts";
import { dropHeldMessages } from "../records/held-messages.ts";
import type { OpenRecord } from "../records/rules.ts";
import {
  addEntry,
  changeOwnership,
  guardRecord,
  insertAcknowledgment,
  setPriority,
} from "../records/store.ts";
import { isWorse } from "../sources/rules.ts";
import type { AlertData } from "../alert.ts";
import {
  changeContent,
  createAlert,
  findRecord,
  openRecord,
  replaceRecord,
  resolveRecord,
  startEscalation,
} from "./records.ts";
import type { Outbox } from "../sending/outbox.ts";
import { listNotified, type Snapshot, type SourceAlertView } from "./snapshot.ts";

type DecidingContext = { snapshot: Snapshot; out: Outbox; now: number };

type SourceEvent =
  LoggedEvent<`source-alert.${"opened" | "changed" | "acknowledged" | "resolved"}`>;

/** Applies a report of a source, unless the source was deleted or disabled since. */
export function applySourceReport(decision: DecidingContext, event: SourceEvent) {
  const view = decision.snapshot.sourceAlerts.get(event.subjectId);
  if (view?.enabled !== true) return;
  if (event.type === "source-alert.opened") openSourceAlert(decision, event, view);
  else if (event.type === "source-alert.changed") changeSourceAlert(decision, event, view);
  else if (event.type === "source-alert.acknowledged")
    acknowledgeSourceAlert(decision, event, view);
  else resolveSourceAlert(decision, event, view);
}

const buildData = (
  { subjectId, data }: SourceEvent,
  { sourceId, sourceName, sourceType }: SourceAlertView,
): AlertData["source.opened"] => ({
  source: { id: sourceId, name: sourceName, type: sourceType },
  report: {
    id: subjectId,
    key: data.key,
    title: data.title,
    link: data.link,
    priority: data.priority,
  },
  since: data.since,
  message: data.text,
});

/** Returns the enabled channels of a source. */
export const listSourceChannels = (
  { snapshot }: Pick<DecidingContext, "snapshot">,
  subjectId: string,
): string[] =>
  (snapshot.sourceAlerts.get(subjectId)?.channelIds ?? []).filter(
    (id) => snapshot.channels.get(id)?.enabled === true,
  );

function openSourceAlert(decision: DecidingContext, event: SourceEvent, view: SourceAlertView) {
  const { out, now } = decision;
  const { subjectId, at } = event;
  const data = buildData(event, view);
  const alert = createAlert("source.opened", at, data, now);
  const record = openRecord(decision, { ...alert, subjectId, since: data.since });
  startEscalation(decision, record, Date.parse(at));
  const to = out.notify(alert, listSourceChannels(decision, subjectId), false, record);
  out.recordNotified(subjectId, to, "open", data.since);
}

/** Stores the newer content. Only a more urgent problem is news, because tools repeat problems with other values. */
function changeSourceAlert(decision: DecidingContext, event: SourceEvent, view: SourceAlertView) {
  const { snapshot, out, now } = decision;
  const { subjectId, at } = event;
  const before = findRecord(snapshot, subjectId, "source");
  if (before === null) return;
  const data = buildData(event, view);
  const { priority } = data.report;
  const record = changePriority(decision, before, priority);
  // Its channels already got this message, if the earlier part of a long write changed the priority.
  if (isWorse(readPriority(before), priority)) {
    const alert = createAlert("source.changed", at, data, now);
    const to = out.notify(alert, listSourceChannels(decision, subjectId), false, record);
    out.recordNotified(subjectId, to, "open", data.since);
    if (out.getRest() !== null) return;
    out.write(
      addEntry(snapshot.organizationId, record.id, {
        at,
        type: "changed",
        message: "source.changed",
      }),
    );
  }
  changeContent(decision, record, { type: record.type, at, data });
}

const readPriority = ({ data }: OpenRecord) =>
  (JSON.parse(data) as AlertData["source.opened"]).report.priority;

function changePriority(
  { snapshot, out }: DecidingContext,
  record: OpenRecord,
  priority: OpenRecord["priority"],
): OpenRecord {
  if (record.priority === priority) return record;
  out.write(setPriority(snapshot.organizationId, record.id, priority));
  const changed = { ...record, priority, version: record.version + 1 };
  replaceRecord(snapshot, changed);
  return changed;
}

/** Someone acknowledged the problem in the tool. Reminders and escalation stop, as after an acknowledgment here. */
function acknowledgeSourceAlert(
  decision: DecidingContext,
  { subjectId, at }: SourceEvent,
  { sourceId, sourceName }: SourceAlertView,
) {
  const { snapshot, out } = decision;
  const { organizationId } = snapshot;
  const record = findRecord(snapshot, subjectId, "source");
  if (record === null || record.acknowledgedAt !== null) return;
  const actor = { type: "system", id: sourceId, name: sourceName };
  const ownership = { acknowledgedAt: at, snoozedUntil: null, dueAt: null };
  out.write(guardRecord(organizationId, record));
  for (const statement of [
    ...changeOwnership(organizationId, record.id, ownership),
    insertAcknowledgment(organizationId, record.id, actor, at),
    addEntry(organizationId, record.id, { at, type: "acknowledged", actor }),
    ...dropHeldMessages(organizationId, [record.id], "acknowledged", at),
  ])
    out.write(statement);
  const acknowledged = {
    ...record,
    ...ownership,
    acknowledgedBy: [sourceName],
    version: record.version + 1,
  };
  replaceRecord(snapshot, acknowledged);
  out.syncCases(acknowledged);
}

/** Reports the end to the channels that know of the problem. */
function resolveSourceAlert(decision: DecidingContext, event: SourceEvent, view: SourceAlertView) {
  const { snapshot, out, now } = decision;
  const { subjectId, at } = event;
  const record = findRecord(snapshot, subjectId, "source");
  if (record === null) return;
  const data = buildData(event, view);
  const openSeconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(data.since)) / 1000));
  const alert = createAlert("source.resolved", at, { ...data, message: "", openSeconds }, now);
  const to = listNotified(snapshot, subjectId);
  if (to.length > 0) out.notify(alert, to, true, record);
  out.closeSubject(subjectId);
  resolveRecord(decision, subjectId, "source", { because: "recovered", at });
}
