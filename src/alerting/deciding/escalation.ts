/** Carries out the steps of escalation policies until someone acknowledges an alert. */
import type { EscalationData } from "../alert.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { PolicyRecord } from "../policies/store.ts";
import { isQuiet, type OpenRecord } from "../records/rules.ts";
import { addEntry, guardRecord, planNotification, removeNotification } from "../records/store.ts";
import {
  applySnoozeEnd,
  createAlert,
  type Decision,
  recordNotifiedAgain,
  type Timer,
} from "./decide.ts";
import {
  computeStageTime,
  findStage,
  type Planned,
  planStep,
  type Stage,
} from "./escalation-rules.ts";
import { advance } from "./records.ts";
import { selectChannelsForProblems } from "./rules.ts";
import { listOrdinaryChannels } from "./snapshot.ts";

/** Applies the timer of an alert: the end of its snooze, or the next step of its policy. */
export function applyRecordTimer(decision: Decision, timer: Timer) {
  const { monitorId: subjectId, recordId } = timer;
  const record = decision.snapshot.records.get(subjectId)?.find(({ id }) => id === recordId);
  if (record === undefined) return;
  if (record.snoozedUntil !== null) applySnoozeEnd(decision, record);
  else escalate(decision, record);
}

/**
 * Runs the due step of an alert. A step that reaches nobody is followed by the next one at once.
 * After the last one, the default channels are notified. Edits of the policy apply from the next
 * step on.
 */
function escalate(decision: Decision, record: OpenRecord) {
  const { snapshot, out, now } = decision;
  if (isQuiet(record) || record.dueAt === null || record.dueAt > now) return;
  // Nothing is sent after an acknowledgment in the meantime.
  out.write(guardRecord(snapshot.organizationId, record));
  const policy = snapshot.policies.find(({ id }) => id === record.policyId);
  const stage = policy === undefined ? "end" : findStage(policy, record);
  if (policy === undefined || stage === "end") return finish(decision, record, policy);
  const step = policy.steps[stage.step];
  const { planned, texts } = planStep(step?.targets ?? [], record.priority, snapshot.escalation);
  const number = stage.step + 1;
  const data = { policy: policy.name, step: number, steps: policy.steps.length };
  notifyOfRecord(
    decision,
    record,
    planned.filter(({ delayMs }) => delayMs === 0).map(({ channelId }) => channelId),
    data,
  );
  if (out.rest() !== null) return;
  planLater(decision, record, planned, stage);
  addEscalation(decision, record, `Step ${number} of ${policy.steps.length}: ${texts.join(", ")}.`);
  const from = findStart(record.escalatedFrom ?? record.dueAt, record.dueAt, policy, stage);
  const next = findStage(policy, { step: number, round: stage.round });
  const nextAt = computeStageTime(policy, next, from);
  advance(decision, record, {
    ...positionOf(next, policy),
    dueAt: planned.length === 0 ? now : nextAt,
    escalatedFrom: from,
  });
}

/**
 * Returns the start from which the next steps count. If an acknowledgment or a snooze postponed this
 * step, the next ones keep their distance.
 */
function findStart(from: number, dueAt: number, policy: PolicyRecord, stage: Stage): number {
  return from + Math.max(0, dueAt - computeStageTime(policy, stage, from));
}

const positionOf = (stage: Stage, { steps, repeat }: PolicyRecord) =>
  stage === "end" ? { step: steps.length, round: repeat } : stage;

/** Notifies the default channels that nobody acknowledged. */
function finish(decision: Decision, record: OpenRecord, policy: PolicyRecord | undefined) {
  const { snapshot, out } = decision;
  const to = selectChannelsForProblems(listOrdinaryChannels(snapshot));
  notifyOfRecord(
    decision,
    record,
    to.map(({ id }) => id),
    { policy: policy?.name ?? null, step: null, steps: null },
  );
  if (out.rest() !== null) return;
  const names = to.map(({ name }) => name).join(", ");
  addEscalation(
    decision,
    record,
    `Nobody acknowledged. ${names === "" ? "There is no channel to notify" : `Notified: ${names}`}.`,
  );
  const { escalatedFrom, step, round } = record;
  advance(decision, record, { step, round, dueAt: null, escalatedFrom });
}

function planLater(
  { snapshot, out, now }: Decision,
  { id }: OpenRecord,
  planned: readonly Planned[],
  { step, round }: Exclude<Stage, "end">,
) {
  const { organizationId } = snapshot;
  for (const { channelId, personId, delayMs } of planned) {
    if (delayMs === 0) continue;
    const dueAt = now + delayMs;
    out.write(
      planNotification({ organizationId, recordId: id, channelId, personId, step, round, dueAt }),
    );
  }
}

/** Sends a planned notification that is due, unless someone takes care of the alert. */
export function sendPlanned(
  decision: Decision,
  { monitorId: subjectId, recordId, channelId, step = 0 }: Timer,
) {
  const { snapshot, out, now } = decision;
  const record = snapshot.records.get(subjectId)?.find(({ id }) => id === recordId);
  if (record === undefined || channelId === undefined) return;
  const channel = snapshot.escalation.channels.get(channelId);
  if (!isQuiet(record) && channel?.enabled === true) {
    out.write(guardRecord(snapshot.organizationId, record));
    const policy = snapshot.policies.find(({ id }) => id === record.policyId);
    const steps = policy?.steps.length ?? step + 1;
    const data = { policy: policy?.name ?? null, step: step + 1, steps };
    notifyOfRecord(decision, record, [channelId], data);
    if (out.rest() !== null) return;
  }
  out.write(removeNotification(snapshot.organizationId, { recordId: record.id, channelId, now }));
}

function notifyOfRecord(
  decision: Decision,
  record: OpenRecord,
  channelIds: readonly string[],
  escalation: EscalationData,
) {
  if (channelIds.length === 0) return;
  const { out, now } = decision;
  const data = { ...(JSON.parse(record.data ?? "{}") as object), escalation };
  const alert = createAlert(record.type, formatTimestamp(now), data, now);
  recordNotifiedAgain(decision, record, out.notify(alert, channelIds, false, record));
}

function addEscalation({ snapshot, out, now }: Decision, record: OpenRecord, message: string) {
  const at = formatTimestamp(now);
  out.write(addEntry(snapshot.organizationId, record.id, { at, type: "escalated", message }));
}
